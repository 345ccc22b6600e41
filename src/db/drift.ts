// What the rows say, for comparing it with the custom resources. Called by controllers/drift.ts.
import { sql } from "slonik";
import { z } from "zod";
import { type JobKind, jobKindNames } from "../schemas/job-kind.ts";
import { isOpen, type Queries, tableOf } from "./job.ts";
import type { SubmittedJob } from "./outbox.ts";

/** Open jobs that should have a custom resource, submitted more than a minute ago. */
export async function manyOpenSubmitted(db: Queries): Promise<SubmittedJob[]> {
  const found: SubmittedJob[] = [];
  for (const kind of jobKindNames) {
    const rows = await db.any(sql.type(z.object({ id: z.string(), resource: z.string().nullable() }))`
      select id, resource_name as resource from ${tableOf(kind)}
      where ${isOpen} and submitted_at < now() - interval '1 minute'`);
    found.push(...rows.map((row) => ({ kind, ...row })));
  }
  return found;
}

/** Of these jobs those that have a row, and whether it is open. */
export async function manyStates(
  db: Queries,
  kind: JobKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, "open" | "ended">> {
  if (ids.length === 0) return new Map();
  const rows = await db.any(sql.type(z.object({ id: z.string(), open: z.boolean() }))`
    select id, ${isOpen} as open from ${tableOf(kind)} where id = any(${sql.array([...ids], "uuid")})`);
  return new Map(rows.map(({ id, open }) => [id, open ? "open" : "ended"]));
}

/** All models, and whether they are archived. */
export async function manyModelStates(db: Queries): Promise<ReadonlyMap<string, boolean>> {
  const rows = await db.any(sql.type(z.object({ id: z.string(), archived: z.boolean() }))`
    select id, archived_at is not null as archived from models`);
  return new Map(rows.map(({ id, archived }) => [id, archived]));
}
