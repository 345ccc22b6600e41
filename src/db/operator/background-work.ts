// Work that is too large for a request: filling a draft, and deleting what belongs to deleted rows. The rows themselves are
// the queue (docs/adr/0018-background-work-in-rows.md). Each piece is one short transaction, so a crash between two
// pieces loses nothing. Called by controllers/background.ts as the operator, which sees the rows of all tenants; replicas skip what
// another one has locked.
import { sql } from "slonik";
import { z } from "zod";
import { copying, copyPiece } from "../annotation-copy.ts";
import { deletePiece, lockDeleted, seeDeleted } from "../deletion.ts";
import { type Db, useIndexes } from "../driver/page.ts";

/** A copy, or the deletion of one of these. */
export const backgroundWorkKinds = ["copy", "annotation_set", "dataset", "inference_job", "webhook"] as const;

const next = z.object({ kind: z.enum(backgroundWorkKinds), tenant_id: z.string(), id: z.string() });

/** Does one piece of the work of some tenant. Returns its kind; null when there is none, or another process is doing it. */
export async function doBackgroundWork(db: Db): Promise<(typeof backgroundWorkKinds)[number] | null> {
  const found = await db.maybeOne(sql.type(next)`select kind, tenant_id, id from next_background_work()`);
  if (found === null) return null;
  const { kind, tenant_id: tenantId, id } = found;
  return await db.transaction(async (tx) => {
    await seeDeleted(tx);
    // Otherwise a piece of a set that is a large part of its table reads the table, past the dead rows of all earlier pieces.
    await useIndexes(tx);
    if (kind !== "copy" && (await lockDeleted(tx, kind, tenantId, id))) {
      await deletePiece(tx, kind, tenantId, id);
      return kind;
    }
    // An annotation set that is not deleted is one that is being filled.
    return (await continueCopy(tx, tenantId, id)) ? "copy" : null;
  });
}

/** Returns the seconds since the oldest unfinished work was requested; 0 when there is none. */
export async function oldestBackgroundWork(db: Db): Promise<number> {
  return await db.transaction(async (tx) => {
    await seeDeleted(tx);
    return await tx.oneFirst(sql.type(z.object({ age: z.number() }))`
      select coalesce(extract(epoch from clock_timestamp() - least(
        (select min(coalesce(deleted_at, created_at)) from annotation_sets
          where deleted_at is not null or copying is not null),
        (select min(deleted_at) from datasets where deleted_at is not null),
        (select min(deleted_at) from inference_jobs where deleted_at is not null),
        (select min(deleted_at) from webhooks where deleted_at is not null))), 0)::double precision as age`);
  });
}

const draft = z.object({ id: z.string(), dataset_id: z.string(), copying: copying.nullable() });

/** Copies a piece into a draft. Returns false when the copy is complete, or another process has the draft or its source. */
async function continueCopy(tx: Db, tenantId: string, id: string): Promise<boolean> {
  const wanted = await tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    select s.id from annotation_sets d
    join annotation_sets s on s.id = d.id or s.id = (d.copying ->> 'annotation_set_id')::uuid
    where d.tenant_id = ${tenantId} and d.id = ${id} and s.tenant_id = ${tenantId}`);
  // In the order in which all lock sets.
  const locked = await tx.any(sql.type(draft)`
    select id, dataset_id, copying from annotation_sets
    where tenant_id = ${tenantId} and id = any(${sql.array([...wanted], "uuid")})
    order by id for no key update skip locked`);
  const set = locked.find((one) => one.id === id);
  if (locked.length < wanted.length || set === undefined || set.copying === null) return false;
  const left = await copyPiece(tx, { tenantId, datasetId: set.dataset_id, setId: id }, set.copying);
  await tx.query(sql.fragment`
    update annotation_sets set revision = revision + 1, copying = ${left === null ? null : sql.jsonb(left)}
    where tenant_id = ${tenantId} and id = ${id}`);
  return true;
}
