// Work that is too large for a request: filling a draft, deleting a set or a dataset. The rows themselves are the queue
// (annotation_sets.copying and deleted_at, datasets.deleted_at). Each piece is one short transaction, so a crash between
// two pieces loses nothing. Every API process calls it; replicas skip what another one has locked.
import { sql } from "slonik";
import { z } from "zod";
import { type Copying, copying, copyPiece, countCopy } from "./annotation-copy.ts";
import { deleteDatasetPiece, deleteSetPiece, seeDeleted } from "./deletion.ts";
import type { Db } from "./page.ts";

const nothing = z.object({});
const next = z.object({ kind: z.enum(["annotation_set", "dataset"]), tenant_id: z.string(), id: z.string() });
const lockedSet = z.object({ dataset_id: z.string(), deleted: z.boolean(), copying: copying.nullable() });

/** Does one piece of the work of some tenant. Returns false when there is none, or another process is doing it. */
export async function doBackgroundWork(db: Db): Promise<boolean> {
  const found = await db.maybeOne(sql.type(next)`select kind, tenant_id, id from next_background_work()`);
  if (found === null) return false;
  const { kind, tenant_id: tenantId, id } = found;
  return await db.asTenant(tenantId).transaction(async (tx) => {
    await seeDeleted(tx);
    return kind === "dataset" ? await workOnDataset(tx, tenantId, id) : await workOnSet(tx, tenantId, id);
  });
}

async function workOnDataset(tx: Db, tenantId: string, id: string): Promise<boolean> {
  const locked = await tx.query(sql.type(nothing)`
    select from datasets where tenant_id = ${tenantId} and id = ${id} and deleted_at is not null
    for update skip locked`);
  if (locked.rowCount === 0) return false;
  await deleteDatasetPiece(tx, tenantId, id);
  return true;
}

async function workOnSet(tx: Db, tenantId: string, id: string): Promise<boolean> {
  const set = await tx.maybeOne(sql.type(lockedSet)`
    select dataset_id, deleted_at is not null as deleted, copying from annotation_sets
    where tenant_id = ${tenantId} and id = ${id} and (deleted_at is not null or copying is not null)
    for update skip locked`);
  if (set === null) return false;
  if (set.deleted) await deleteSetPiece(tx, tenantId, id);
  else if (set.copying !== null)
    await continueCopy(tx, { tenantId, datasetId: set.dataset_id, setId: id }, set.copying);
  return true;
}

async function continueCopy(
  tx: Db,
  to: { tenantId: string; datasetId: string; setId: string },
  work: Copying,
): Promise<void> {
  const left = await copyPiece(tx, to, work);
  await tx.query(sql.type(nothing)`
    update annotation_sets set revision = revision + 1, copying = ${left === null ? null : sql.jsonb(left)}
    where tenant_id = ${to.tenantId} and id = ${to.setId}`);
  if (left === null) await countCopy(tx, to.tenantId, work, -1);
}
