// Deletes the rows of deleted sets and datasets in pieces: a set may have a million labels, a dataset 100,000 files. Called
// inside a transaction that has locked the set or dataset, by annotation-set.ts, dataset.ts and background-work.ts.
import { sql } from "slonik";
import { z } from "zod";
import { rowsPerPiece } from "./annotation-copy.ts";
import type { Db } from "./page.ts";

/** Fewer than labels, because each file takes its objects' entries in the purge queue along. */
const filesPerPiece = 1_000;

const nothing = z.object({});

/** Makes deleted sets and datasets visible until the transaction ends (migration 0022). */
export async function seeDeleted(tx: Db): Promise<void> {
  await tx.query(sql.type(nothing)`select set_config('app.sees_deleted', 'on', true)`);
}

/** Deletes the next labels or marks of a set that is not published, then the set. Returns whether it is gone. */
export async function deleteSetPiece(tx: Db, tenantId: string, id: string): Promise<boolean> {
  for (const [table, key] of [
    ["annotations", "id"],
    ["reviewed_files", "audio_file_id"],
  ] as const) {
    const [rows, row] = [sql.identifier([table]), sql.identifier([key])];
    const deleted = await tx.query(sql.type(nothing)`
      delete from ${rows} where tenant_id = ${tenantId} and annotation_set_id = ${id} and ${row} in (
        select ${row} from ${rows} where tenant_id = ${tenantId} and annotation_set_id = ${id} limit ${rowsPerPiece})`);
    if (deleted.rowCount === rowsPerPiece) return false;
  }
  await tx.query(sql.type(nothing)`delete from annotation_sets where tenant_id = ${tenantId} and id = ${id}`);
  return true;
}

/** Deletes the next files of a dataset that has no sets left, then the dataset. Returns whether it is gone. */
export async function deleteDatasetPiece(tx: Db, tenantId: string, id: string): Promise<boolean> {
  const deleted = await tx.query(sql.type(nothing)`
    delete from audio_files where tenant_id = ${tenantId} and id in (
      select id from audio_files where tenant_id = ${tenantId} and dataset_id = ${id} limit ${filesPerPiece})`);
  if (deleted.rowCount === filesPerPiece) return false;
  await tx.query(sql.type(nothing)`delete from datasets where tenant_id = ${tenantId} and id = ${id}`);
  return true;
}

const audioBatch = 100_000;

/** Deletes all annotations of an audio file, up to a million in each draft. The caller excludes published sets. */
export async function deleteAnnotationsOfAudio(
  tx: Db,
  tenantId: string,
  datasetId: string,
  audioFileId: string,
): Promise<void> {
  for (let deleted = audioBatch; deleted === audioBatch; ) {
    const done = await tx.query(sql.type(nothing)`
      delete from annotations where tenant_id = ${tenantId} and id in (
        select id from annotations
        where tenant_id = ${tenantId} and dataset_id = ${datasetId} and audio_file_id = ${audioFileId}
        limit ${audioBatch})`);
    deleted = done.rowCount;
  }
}
