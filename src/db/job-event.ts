// The log of a job, as sentences for people. This file adds entries for REST actions; job.ts adds those of the
// operator.
import { sql } from "slonik";
import { jobEvent } from "../schemas/job.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { type Db, type PageRequest, selectPage } from "./driver/page.ts";

const row = rowOf(jobEvent);

/** Adds an event of type `status` or, with level `warning`, of type `message`. */
export async function insertJobEvent(
  db: Db,
  tenantId: string,
  event: {
    kind: "training" | "inference";
    id: string;
    message: string;
    level?: "warning";
    data?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const type = event.level === undefined ? "status" : "message";
  await db.query(sql.fragment`
    insert into job_events (tenant_id, job_kind, job_id, level, type, message, data)
    values (${tenantId}, ${event.kind}, ${event.id}, ${event.level ?? "info"}, ${type}, ${event.message},
      ${sql.jsonb({ ...event.data })})`);
}

/** Returns one page of a job's events, newest first. */
export async function listJobEvents(db: Db, tenantId: string, jobId: string, request: PageRequest) {
  const from = sql.fragment`job_events where tenant_id = ${tenantId} and job_id = ${jobId}`;
  return await selectPage(db, row, { columns: columnsOf(row), from, order: sql.fragment`id desc` }, request);
}
