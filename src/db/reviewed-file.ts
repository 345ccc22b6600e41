// Reviewed files of an annotation set: files that somebody listened to from start to end. Writers hold the draft's lock
// (lockDraft in annotation-set.ts); they never change after the set is published.
import { sql } from "slonik";
import { z } from "zod";
import type { SetPlace } from "./annotation.ts";
import { type Db, type PageRequest, selectPage } from "./driver/page.ts";

const row = z.object({ audio_file_id: z.string(), created_at: z.number() });

/** Returns one page of a set's reviewed files, newest first. */
export async function listReviewed(db: Db, { tenantId, setId }: SetPlace, request: PageRequest) {
  const columns = sql.fragment`audio_file_id as id, audio_file_id, created_at`;
  const from = sql.fragment`reviewed_files where tenant_id = ${tenantId} and annotation_set_id = ${setId}`;
  return await selectPage(db, row, { columns, from }, request);
}

/** Whether the file is marked as reviewed. */
export const isReviewed = (db: Db, { tenantId, setId }: SetPlace, audioFileId: string) =>
  db.exists(sql.fragment`
    select from reviewed_files
    where tenant_id = ${tenantId} and annotation_set_id = ${setId} and audio_file_id = ${audioFileId}`);

/** Marks a file as reviewed. Idempotent. */
export async function insertReviewed(db: Db, place: SetPlace, audioFileId: string): Promise<void> {
  await db.query(sql.fragment`
    insert into reviewed_files (tenant_id, dataset_id, annotation_set_id, audio_file_id)
    values (${place.tenantId}, ${place.datasetId}, ${place.setId}, ${audioFileId}) on conflict do nothing`);
}

/** Removes the mark from a file; returns false when the file was not marked. */
export async function deleteReviewed(db: Db, place: SetPlace, audioFileId: string): Promise<boolean> {
  const deleted = await db.query(sql.fragment`
    delete from reviewed_files
    where tenant_id = ${place.tenantId} and annotation_set_id = ${place.setId} and audio_file_id = ${audioFileId}`);
  return deleted.rowCount > 0;
}
