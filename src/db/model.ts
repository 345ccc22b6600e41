// Models as REST clients see them. The operator adds their rows when a training job completes (ingest.ts). Called by
// src/api/routes/model.ts.
import { sql } from "slonik";
import { z } from "zod";
import { modelArchived, modelInUse, modelNotArchived, modelNotFound } from "../errors.ts";
import { type listModelsQuery, model, type updateModelBody } from "../schemas/model.ts";
import { anyObject, columnsOf, rowOf } from "./driver/fields.ts";
import { countRows, type Db, fits, type ListRequest, type Page, selectPage } from "./driver/page.ts";
import { isOpen } from "./job.ts";

const row = rowOf(model, { architecture: anyObject, eval_metrics: anyObject });
export type ModelRow = z.infer<typeof row>;

const columns = columnsOf(row);

/** Returns one page of the tenant's models, newest first. */
export async function listModels(
  db: Db,
  tenantId: string,
  query: ListRequest<typeof listModelsQuery>,
): Promise<Page<ModelRow>> {
  const { is_active, training_job_id, archived } = query;
  const state = {
    all: undefined,
    true: sql.fragment`archived_at is not null`,
    false: sql.fragment`archived_at is null`,
  }[archived];
  const from = sql.fragment`models where ${fits({ tenant_id: tenantId, is_active, training_job_id }, state)}`;
  return await selectPage(db, row, { columns, from }, query);
}

/** Returns the model; rejects with modelNotFound. `lock`: a locking clause. */
export const oneModel = (db: Db, tenantId: string, id: string, lock = sql.fragment``) =>
  db.expecting(modelNotFound).one(sql.type(row)`
    select ${columns} from models where tenant_id = ${tenantId} and id = ${id} ${lock}`);

/** Returns the name of the model, or null if it has been deleted. */
export const maybeOneModelName = (db: Db, tenantId: string, id: string) =>
  db.maybeOneFirst(sql.type(z.object({ name: z.string() }))`
    select name from models where tenant_id = ${tenantId} and id = ${id}`);

/** Returns the model, locked against changes by others until the transaction ends. */
export const lockModel = (tx: Db, tenantId: string, id: string) =>
  oneModel(tx, tenantId, id, sql.fragment`for no key update`);

/**
 * Changes the given members. Rejects with modelNotFound, or with modelArchived when it would activate an archived
 * model.
 */
export async function updateModel(
  db: Db,
  tenantId: string,
  id: string,
  change: z.infer<typeof updateModelBody>,
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

/**
 * Archives a model: lists omit it and new inference jobs refuse it; its detections stay. Rejects with modelNotFound.
 */
export async function archiveModel(db: Db, tenantId: string, id: string): Promise<ModelRow> {
  return await db.expecting(modelNotFound).one(sql.type(row)`
    update models set archived_at = coalesce(archived_at, now()), is_active = false
    where tenant_id = ${tenantId} and id = ${id} returning ${columns}`);
}

/** Unarchives a model; it stays inactive until a client activates it. Rejects with modelNotFound. */
export async function unarchiveModel(db: Db, tenantId: string, id: string): Promise<ModelRow> {
  return await db.expecting(modelNotFound).one(sql.type(row)`
    update models set archived_at = null where tenant_id = ${tenantId} and id = ${id} returning ${columns}`);
}

/**
 * Deletes an archived model. Its detections stay; the purge queue deletes its objects later. Rejects with
 * modelNotArchived, or with modelInUse while an inference job of the model has not ended (or not been started).
 */
export async function deleteModel(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    // New inference jobs take a share lock of this row.
    const archived = await tx.expecting(modelNotFound).oneFirst(sql.type(z.object({ archived: z.boolean() }))`
      select archived_at is not null as archived from models where tenant_id = ${tenantId} and id = ${id} for update`);
    if (!archived) throw modelNotArchived();
    const jobs = await countRows(
      tx,
      sql.fragment`inference_jobs
      where tenant_id = ${tenantId} and model_id = ${id} and ${isOpen}`,
    );
    if (jobs > 0)
      throw modelInUse(`${jobs} unfinished inference jobs use the model; cancel them or wait for them`);
    await tx.query(sql.fragment`delete from models where tenant_id = ${tenantId} and id = ${id}`);
  });
}
