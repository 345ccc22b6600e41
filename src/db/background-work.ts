// Work that is too large for a request: filling a draft, and deleting what belongs to deleted rows. The rows themselves are
// the queue (docs/adr/0018-background-work-in-rows.md). Each piece is one short transaction, so a crash between two
// pieces loses nothing. Every API process calls it; replicas skip what another one has locked.
import { sql } from "slonik";
import { z } from "zod";
import { copying, copyPiece, countCopy } from "./annotation-copy.ts";
import { deletePiece, lockDeleted, seeDeleted } from "./deletion.ts";
import type { Db } from "./page.ts";

const next = z.object({
  kind: z.enum(["annotation_set", "dataset", "webhook"]),
  tenant_id: z.string(),
  id: z.string(),
});

/** Does one piece of the work of some tenant. Returns false when there is none, or another process is doing it. */
export async function doBackgroundWork(db: Db): Promise<boolean> {
  const found = await db.maybeOne(sql.type(next)`select kind, tenant_id, id from next_background_work()`);
  if (found === null) return false;
  const { kind, tenant_id: tenantId, id } = found;
  return await db.asTenant(tenantId).transaction(async (tx) => {
    await seeDeleted(tx);
    if (await lockDeleted(tx, kind, tenantId, id)) {
      await deletePiece(tx, kind, tenantId, id);
      return true;
    }
    return kind === "annotation_set" && (await continueCopy(tx, tenantId, id));
  });
}

const draft = z.object({ dataset_id: z.string(), copying });

async function continueCopy(tx: Db, tenantId: string, id: string): Promise<boolean> {
  const set = await tx.maybeOne(sql.type(draft)`
    select dataset_id, copying from annotation_sets
    where tenant_id = ${tenantId} and id = ${id} and deleted_at is null and copying is not null
    for no key update skip locked`);
  if (set === null) return false;
  const left = await copyPiece(tx, { tenantId, datasetId: set.dataset_id, setId: id }, set.copying);
  await tx.query(sql.type(z.object({}))`
    update annotation_sets set revision = revision + 1, copying = ${left === null ? null : sql.jsonb(left)}
    where tenant_id = ${tenantId} and id = ${id}`);
  if (left === null) await countCopy(tx, tenantId, set.copying, -1);
  return true;
}
