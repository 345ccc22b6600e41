// Models as REST clients see them. Their rows are made by the operator when a training job completes (ingest.ts).
import { sql } from "slonik";
import { z } from "zod";
import { modelArchived, modelInUse, modelNotArchived, modelNotFound } from "../errors.ts";
import { type Db, type Page, type PageRequest, selectPage } from "./page.ts";

const row = z.object({
  id: z.string(),
  tenant_id: z.string(),
  training_job_id: z.string(),
  name: z.string(),
  description: z.string(),
  artifact_types: z.array(z.string()),
  object_store_key: z.string(),
  model_size_bytes: z.number(),
  checksum_sha256: z.string(),
  architecture: z.record(z.string(), z.unknown()),
  eval_metrics: z.record(z.string(), z.unknown()),
  is_active: z.boolean(),
  created_at: z.number(),
  archived_at: z.number().nullable(),
});
export type ModelRow = z.infer<typeof row>;

const columns = sql.fragment`id, tenant_id, training_job_id, name, description, artifact_types, object_store_key,
  model_size_bytes, checksum_sha256, architecture, eval_metrics, is_active, created_at, archived_at`;

/** One page of the tenant's models, newest first. */
export async function listModels(
  db: Db,
  tenantId: string,
  query: PageRequest & { is_active?: boolean; archived: "false" | "true" | "all"; training_job_id?: string },
): Promise<Page<ModelRow>> {
  const conditions = [sql.fragment`tenant_id = ${tenantId}`];
  if (query.is_active !== undefined) conditions.push(sql.fragment`is_active = ${query.is_active}`);
  if (query.archived === "false") conditions.push(sql.fragment`archived_at is null`);
  if (query.archived === "true") conditions.push(sql.fragment`archived_at is not null`);
  if (query.training_job_id !== undefined)
    conditions.push(sql.fragment`training_job_id = ${query.training_job_id}`);
  const from = sql.fragment`models where ${sql.join(conditions, sql.fragment` and `)}`;
  return await selectPage(db, row, { columns, from }, query);
}

/** The model, or modelNotFound. */
export async function oneModel(db: Db, tenantId: string, id: string): Promise<ModelRow> {
  const found = await db.maybeOne(sql.type(row)`
    select ${columns} from models where tenant_id = ${tenantId} and id = ${id}`);
  if (found === null) throw modelNotFound();
  return found;
}

/** Keeps the model from being changed by anyone else until the transaction ends; modelNotFound. */
export async function lockModel(db: Db, tenantId: string, id: string): Promise<void> {
  const locked = await db.maybeOne(sql.type(z.object({ id: z.string() }))`
    select id from models where tenant_id = ${tenantId} and id = ${id} for no key update`);
  if (locked === null) throw modelNotFound();
}

/** Changes what is given. modelArchived when an archived model would become active. */
export async function updateModel(
  db: Db,
  tenantId: string,
  id: string,
  change: { name?: string; description?: string; is_active?: boolean },
): Promise<ModelRow> {
  const changed = await db.maybeOne(sql.type(row)`
    update models set name = coalesce(${change.name ?? null}, name),
      description = coalesce(${change.description ?? null}, description),
      is_active = coalesce(${change.is_active ?? null}, is_active)
    where tenant_id = ${tenantId} and id = ${id}
      and (archived_at is null or ${change.is_active !== true})
    returning ${columns}`);
  if (changed !== null) return changed;
  await oneModel(db, tenantId, id);
  throw modelArchived("An archived model cannot be active; unarchive it first");
}

/** Archived models are left out of lists and of new inference jobs; what they found stays. */
export async function archiveModel(db: Db, tenantId: string, id: string): Promise<ModelRow> {
  const changed = await db.maybeOne(sql.type(row)`
    update models set archived_at = coalesce(archived_at, now()), is_active = false
    where tenant_id = ${tenantId} and id = ${id} returning ${columns}`);
  if (changed === null) throw modelNotFound();
  return changed;
}

/** Takes a model out of the archive; it stays inactive until it is made active. */
export async function unarchiveModel(db: Db, tenantId: string, id: string): Promise<ModelRow> {
  const changed = await db.maybeOne(sql.type(row)`
    update models set archived_at = null where tenant_id = ${tenantId} and id = ${id} returning ${columns}`);
  if (changed === null) throw modelNotFound();
  return changed;
}

/**
 * Deletes an archived model; what it found stays, and its files go by and by. modelNotArchived, and modelInUse while an
 * inference job that works with it, or waits for its start, has not ended.
 */
export async function deleteModel(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    // New jobs take a share of this lock.
    const archived = await tx.maybeOneFirst(sql.type(z.object({ archived: z.boolean() }))`
      select archived_at is not null as archived from models where tenant_id = ${tenantId} and id = ${id} for update`);
    if (archived === null) throw modelNotFound();
    if (!archived) throw modelNotArchived();
    const jobs = await tx.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from inference_jobs
      where tenant_id = ${tenantId} and model_id = ${id} and status not in ('completed', 'failed', 'cancelled')`);
    if (jobs > 0)
      throw modelInUse(`${jobs} unfinished inference jobs use the model; cancel them or wait for them`);
    await tx.query(sql.type(z.object({}))`delete from models where tenant_id = ${tenantId} and id = ${id}`);
  });
}
