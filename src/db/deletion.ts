// Deletes what belongs to deleted rows in pieces: a set may have a million labels, a dataset 100,000 files, a webhook the
// deliveries of seven days, an inference job millions of detections. A deleted row is hidden by its row-level security policy
// until it is gone (migrations 0022, 0037).
// Called inside a transaction that has locked the row, by the nouns and by background-work.ts.
import { sql } from "slonik";
import { z } from "zod";
import { rowsPerPiece, rowsPerRequest } from "./annotation-copy.ts";
import { type Db, useIndexes } from "./driver/page.ts";

interface Part {
  readonly table: string;
  readonly parent: string;
  readonly rows: number;
}

const part = (table: string, parent: string, rows = rowsPerPiece): Part => ({ table, parent, rows });

/** In the order of their deletion: that of a file would cascade to any number of detections. */
const deletable = {
  annotation_set: {
    table: "annotation_sets",
    parts: [part("annotations", "annotation_set_id"), part("reviewed_files", "annotation_set_id")],
  },
  // Fewer rows: each file leaves several entries in the purge queue.
  dataset: { table: "datasets", parts: [part("audio_files", "dataset_id", 1_000)] },
  inference_job: {
    table: "inference_jobs",
    parts: [part("detections", "inference_job_id"), part("inference_files", "inference_job_id", 1_000)],
  },
  webhook: { table: "webhooks", parts: [part("webhook_deliveries", "webhook_id")] },
};
export type Deletable = keyof typeof deletable;

/** Makes deleted rows visible until the transaction ends. */
export async function seeDeleted(tx: Db): Promise<void> {
  await tx.query(sql.fragment`select set_config('app.sees_deleted', 'on', true)`);
}

/** Locks a deleted row. Returns false when another process has it, or it is gone. */
export async function lockDeleted(tx: Db, kind: Deletable, tenantId: string, id: string): Promise<boolean> {
  const table = sql.identifier([deletable[kind].table]);
  const locked = await tx.query(sql.fragment`
    select from ${table} where tenant_id = ${tenantId} and id = ${id} and deleted_at is not null
    for update skip locked`);
  return locked.rowCount === 1;
}

/**
 * Until the transaction ends, plans find rows by their places where they are given. The policy adds a condition that an index fits.
 * In a table that was analyzed while it had pages and no rows, that index would seem to be cheaper, and Postgres would compare all rows
 * of the tenant with all places.
 */
async function findByPlace(tx: Db): Promise<void> {
  await useIndexes(tx);
  await tx.query(sql.fragment`select set_config('cpu_index_tuple_cost', '1000', true)`);
}

/** Deletes the next rows that belong to a deleted row, and the row itself when none is left. Returns whether it is gone. */
export async function deletePiece(tx: Db, kind: Deletable, tenantId: string, id: string): Promise<boolean> {
  const { table, parts } = deletable[kind];
  const of = (part: Part) => sql.fragment`from ${sql.identifier([part.table])}
    where tenant_id = ${tenantId} and ${sql.identifier([part.parent])} = ${id}`;
  // An array of places alone, instead of a join or further conditions, with which the plan would depend on statistics: those
  // of a table that grows are old. A row that another transaction updates at this moment moves; the next piece finds it.
  await findByPlace(tx);
  for (const part of parts) {
    const deleted = await tx.query(sql.fragment`
      delete from ${sql.identifier([part.table])}
      where ctid = any(array(select ctid ${of(part)} limit ${part.rows}))`);
    if (deleted.rowCount === part.rows) return false;
  }
  const isEmpty = sql.join(
    parts.map((part) => sql.fragment`not exists (select ${of(part)})`),
    sql.fragment` and `,
  );
  const gone = await tx.query(sql.fragment`
    delete from ${sql.identifier([table])} where tenant_id = ${tenantId} and id = ${id} and ${isEmpty}`);
  return gone.rowCount === 1;
}

/** Deletes of a deleted row what a request deletes itself; the rest is deleted in the background. */
export async function beginDeletion(tx: Db, kind: Deletable, tenantId: string, id: string): Promise<void> {
  for (let rows = 0; rows < rowsPerRequest; rows += rowsPerPiece)
    if (await deletePiece(tx, kind, tenantId, id)) return;
}

/** Deletes at most `limit` rows of a table that are older than `age`, an interval of SQL, and meet `also`; returns how many. */
export async function deleteOld(
  db: Db,
  table: string,
  age: string,
  limit: number,
  also = sql.fragment`true`,
): Promise<number> {
  const name = sql.identifier([table]);
  // The second condition keeps a row that another transaction renews at this moment: older minor versions of Postgres do not
  // compare its place again. No index fits this condition, because with one each batch could read all old rows.
  const deleted = await db.query(sql.fragment`
    delete from ${name}
    where ctid = any(array(
        select ctid from ${name} where created_at < now() - ${age}::interval and ${also} order by created_at limit ${limit}))
      and now() - created_at > ${age}::interval`);
  return deleted.rowCount;
}

/** Labels that one request deletes with their audio file: a second. */
export const mostLabelsOfAudio = 100_000;

/** Whether all sets together have more than mostLabelsOfAudio annotations of an audio file. */
export const hasManyLabels = (tx: Db, tenantId: string, datasetId: string, audioFileId: string) =>
  tx.oneFirst(sql.type(z.object({ many: z.boolean() }))`
    select count(*) > ${mostLabelsOfAudio} as many from (
      select from annotations
      where tenant_id = ${tenantId} and dataset_id = ${datasetId} and audio_file_id = ${audioFileId}
      limit ${mostLabelsOfAudio + 1}) labels`);

/**
 * Deletes the annotations of an audio file, in all drafts. The caller excludes published sets and more than mostLabelsOfAudio.
 */
export async function deleteAnnotationsOfAudio(
  tx: Db,
  tenantId: string,
  datasetId: string,
  audioFileId: string,
): Promise<void> {
  await findByPlace(tx);
  // In several statements, because the time limit holds for each.
  for (let deleted = rowsPerPiece; deleted === rowsPerPiece; )
    deleted = (
      await tx.query(sql.fragment`
        delete from annotations where ctid = any(array(
          select ctid from annotations
          where tenant_id = ${tenantId} and dataset_id = ${datasetId} and audio_file_id = ${audioFileId}
          limit ${rowsPerPiece}))`)
    ).rowCount;
}
