// Reads the state of rows, so that controllers/drift.ts can compare it with the custom resources.
import { sql } from "slonik";
import { z } from "zod";
import { type JobKind, jobKindNames } from "../../schemas/job-kind.ts";
import type { Db } from "../driver/page.ts";
import { isOpen, tableOf } from "../job.ts";
import type { SubmittedJob } from "./outbox.ts";

/** Returns the installation's open jobs that were submitted more than a minute ago: each should have a custom resource. */
export async function manyOpenSubmitted(db: Db, installation: string): Promise<SubmittedJob[]> {
  const found: SubmittedJob[] = [];
  for (const kind of jobKindNames) {
    const rows = await db.any(sql.type(z.object({ id: z.string(), resource: z.string().nullable() }))`
      select id, resource_name as resource from ${tableOf(kind)}
      where ${isOpen} and installation = ${installation} and submitted_at < now() - interval '1 minute'`);
    found.push(...rows.map((row) => ({ kind, ...row })));
  }
  return found;
}

/** Returns which of these jobs have a row, and whether the job is open. */
export async function manyStates(
  db: Db,
  kind: JobKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, "open" | "ended">> {
  if (ids.length === 0) return new Map();
  const rows = await db.any(sql.type(z.object({ id: z.string(), open: z.boolean() }))`
    select id, ${isOpen} as open from ${tableOf(kind)} where id = any(${sql.array([...ids], "uuid")})`);
  return new Map(rows.map(({ id, open }) => [id, open ? "open" : "ended"]));
}

/** Returns the models that the installation has trained, and whether each is archived. */
export async function manyModelStates(db: Db, installation: string): Promise<ReadonlyMap<string, boolean>> {
  const rows = await db.any(sql.type(z.object({ id: z.string(), archived: z.boolean() }))`
    select id, archived_at is not null as archived from models where installation = ${installation}`);
  return new Map(rows.map(({ id, archived }) => [id, archived]));
}
