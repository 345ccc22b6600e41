// Work that is too large for a request: filling a draft, and deleting what belongs to deleted rows. The rows themselves are
// the queue (docs/adr/0018-background-work-in-rows.md). Each piece is one short transaction, so a crash between two
// pieces loses nothing. Every API process calls it; replicas skip what another one has locked.
import { sql } from "slonik";
import { z } from "zod";
import { type Copying, copying, copyPiece } from "./annotation-copy.ts";
import { deletePiece, lockDeleted, seeDeleted } from "./deletion.ts";
import type { Db } from "./driver/page.ts";

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
  return await db.transaction(async (tx) => {
    // Not out of the tenant's share of connections: its requests would delay the work of all tenants.
    await tx.query(sql.type(z.object({}))`select set_config('app.tenant_id', ${tenantId}, true)`);
    await seeDeleted(tx);
    if (await lockDeleted(tx, kind, tenantId, id)) {
      await deletePiece(tx, kind, tenantId, id);
      return true;
    }
    return kind === "annotation_set" && (await continueCopy(tx, tenantId, id));
  });
}

async function continueCopy(tx: Db, tenantId: string, id: string): Promise<boolean> {
  const set = await lockCopy(tx, tenantId, id);
  if (set === null) return false;
  const left = await copyPiece(tx, { tenantId, datasetId: set.dataset_id, setId: id }, set.copying);
  await tx.query(sql.type(z.object({}))`
    update annotation_sets set revision = revision + 1, copying = ${left === null ? null : sql.jsonb(left)}
    where tenant_id = ${tenantId} and id = ${id}`);
  return true;
}

const draft = z.object({ id: z.string(), dataset_id: z.string(), copying: copying.nullable() });

/** Locks a draft that is being filled and its source, in the order of all who lock sets. Null: another process has one. */
async function lockCopy(
  tx: Db,
  tenantId: string,
  id: string,
): Promise<{ dataset_id: string; copying: Copying } | null> {
  const wanted = await tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    select s.id from annotation_sets d
    join annotation_sets s on s.id = d.id or s.id = (d.copying ->> 'annotation_set_id')::uuid
    where d.tenant_id = ${tenantId} and d.id = ${id} and s.tenant_id = ${tenantId}`);
  const locked = await tx.any(sql.type(draft)`
    select id, dataset_id, copying from annotation_sets
    where tenant_id = ${tenantId} and id = any(${sql.array([...wanted], "uuid")})
    order by id for no key update skip locked`);
  const set = locked.find((one) => one.id === id);
  if (locked.length < wanted.length || set === undefined || set.copying === null) return null;
  return { dataset_id: set.dataset_id, copying: set.copying };
}
