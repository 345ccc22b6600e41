// Guarded status changes of the rows of all three job kinds. A status only moves forward: pending, queued, running,
// cancelling, then a terminal one. Replayed and reordered changes are therefore harmless. Called by src/submit.ts and
// controllers.
import { sql } from "slonik";
import { z } from "zod";
import { jobStatuses } from "../schemas/job.ts";
import type { JobKind } from "../schemas/job-kind.ts";
import { usage as inRest } from "../schemas/usage.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import type { Db } from "./driver/page.ts";
import { storable } from "./driver/storable.ts";

export type TerminalStatus = "completed" | "failed" | "cancelled";
export type OpenStatus = "pending" | "queued" | "running" | "cancelling";

/** Resources that the ended pods of a job or tenant used, and the audio that was processed, all in seconds. */
export const usage = rowOf(inRest.shape.compute);
export const usageColumns = columnsOf(usage);
export type Usage = z.infer<typeof usage>;

export const jobRow = z.object({
  id: z.string(),
  tenant_id: z.string(),
  /** The installation that runs the job. */
  installation: z.string(),
  status: z.enum(jobStatuses),
  status_message: z.string().nullable(),
  error_message: z.string().nullable(),
  progress_percent: z.int(),
  platform_job_name: z.string().nullable(),
  submitted: z.boolean(),
  /** Name of the custom resource of an adopted job; null otherwise. */
  resource_name: z.string().nullable(),
  ...usage.shape,
});
export type JobRow = z.infer<typeof jobRow>;

const tenantRow = z.object({ tenant_id: z.string() });

/** Returns the name of a kind's table as an SQL identifier. */
export const tableOf = (kind: JobKind) => sql.identifier([`${kind}_jobs`]);
/** An SQL expression for the position of a status in the forward order of statuses. */
const rankOf = (status: ReturnType<typeof sql.fragment>) =>
  sql.fragment`array_position(${sql.array(jobStatuses, "text")}, ${status})`;
export const isOpen = sql.fragment`status in ('pending', 'queued', 'running', 'cancelling')`;

/** The columns of a jobRow. */
export const jobColumns = sql.fragment`
  id, tenant_id, installation, status, status_message, error_message, progress_percent, platform_job_name,
  submitted_at is not null as submitted, resource_name, ${usageColumns}`;

/** Returns the job's row, or null. */
export function maybeOneJob(db: Db, kind: JobKind, id: string): Promise<JobRow | null> {
  return db.maybeOne(sql.type(jobRow)`select ${jobColumns} from ${tableOf(kind)} where id = ${id}`);
}

export type JobChange = {
  status: OpenStatus;
  statusMessage: string | null;
  progressPercent: number;
  platformJobName: string | null;
};

/**
 * Updates an open job and returns whether anything changed. No effect on a terminal row. Status and percent never
 * decrease; only finishJob sets 100 percent. The run never becomes an earlier one, except with `mayGoBack`.
 */
export async function advanceJob(
  db: Db,
  kind: JobKind,
  id: string,
  change: JobChange,
  { mayGoBack = false } = {},
): Promise<boolean> {
  const { status, progressPercent, platformJobName } = change;
  const statusMessage = storable(change.statusMessage);
  const attemptIn = (run: ReturnType<typeof sql.fragment>) =>
    sql.fragment`coalesce(substring(${run} from '[0-9]+$')::bigint, 0)`;
  const isEarlierRun = mayGoBack
    ? sql.fragment`false`
    : sql.fragment`${attemptIn(sql.fragment`${platformJobName}::text`)} < ${attemptIn(sql.fragment`old.platform_job_name`)}`;
  const run = sql.fragment`case when ${isEarlierRun} then old.platform_job_name
    else coalesce(${platformJobName}::text, old.platform_job_name) end`;
  const later = sql.fragment`${rankOf(sql.fragment`${status}::text`)} > ${rankOf(sql.fragment`old.status`)}`;
  // The operator has not seen a new cancellation yet, or the cluster denies it: then the row has the reason.
  const message = sql.fragment`case when old.status = 'cancelling' and ${status}::text <> 'cancelling'
    then old.status_message else ${statusMessage}::text end`;
  const percent = Math.min(99, progressPercent);
  const changed = await db.query(sql.fragment`
    with old as (
      select id, status, status_message, progress_percent, platform_job_name
      from ${tableOf(kind)} where id = ${id} and ${isOpen} for update
    ), changed as (
      update ${tableOf(kind)} as job set
        status = case when ${later} then ${status} else old.status end,
        status_message = ${message},
        progress_percent = greatest(old.progress_percent, ${percent}),
        platform_job_name = ${run},
        submitted_at = coalesce(job.submitted_at, now()),
        queued_at = coalesce(job.queued_at, case when ${status} <> 'pending' then now() end),
        started_at = coalesce(job.started_at, case when ${status} = 'running' then now() end)
      from old
      where job.id = old.id and (
        ${later}
        or old.status_message is distinct from ${message}
        or old.progress_percent < ${percent}
        or old.platform_job_name is distinct from ${run})
      returning job.id, job.tenant_id, job.status, old.status as old_status, job.status_message
    ), logged as (
      insert into job_events (tenant_id, job_kind, job_id, level, type, message, data)
      select tenant_id, ${kind}::text, id, 'info', 'status',
             coalesce(status_message, 'The job is ' || status),
             jsonb_build_object('status', status, 'run', ${platformJobName}::text)
      from changed where status <> old_status
    )
    select from changed`);
  return changed.rowCount > 0;
}

export type JobEnd = { status: TerminalStatus; statusMessage: string | null; errorMessage: string | null };

/** Ends an open job; returns false when it had already ended. */
export async function finishJob(db: Db, kind: JobKind, id: string, end: JobEnd): Promise<boolean> {
  const [statusMessage, errorMessage] = [storable(end.statusMessage), storable(end.errorMessage)];
  const done = await db.query(sql.fragment`
    with changed as (
      update ${tableOf(kind)} set
        status = ${end.status},
        status_message = ${statusMessage}::text,
        error_message = ${errorMessage}::text,
        progress_percent = case when ${end.status} = 'completed' then 100 else progress_percent end,
        submitted_at = coalesce(submitted_at, now()),
        completed_at = now()
      where id = ${id} and ${isOpen}
      returning id, tenant_id, status, platform_job_name
    ), logged as (
      insert into job_events (tenant_id, job_kind, job_id, level, type, message, data)
      select tenant_id, ${kind}::text, id, case when status = 'failed' then 'error' else 'info' end, 'status',
             coalesce(${errorMessage}::text, ${statusMessage}::text, 'The job is ' || status),
             jsonb_build_object('status', status, 'run', platform_job_name)
      from changed
    )
    select from changed`);
  return done.rowCount > 0;
}

/**
 * Locks the job's row and returns its tenant if the job is open and `run` is its current run; otherwise returns null:
 * results of an older run or of an ended job must not be ingested. Every ingesting transaction calls this first.
 */
export const lockRun = (tx: Db, kind: JobKind, id: string, run: string) =>
  tx.maybeOneFirst(sql.type(tenantRow)`
    select tenant_id from ${tableOf(kind)}
    where id = ${id} and platform_job_name = ${run} and ${isOpen} for update`);
