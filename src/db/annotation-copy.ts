// Copies and deletes annotations in batches: a set may have a million, and one statement would exceed the statement
// timeout. Called by annotation-set.ts, audio-file.ts and dataset.ts inside a transaction that has locked the sets.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";

const batchOfSet = 10_000;
const batchOfAudio = 100_000;

const cursor = z.object({ audio_file_id: z.string(), start_ms: z.number(), id: z.string() });

/** Copies all annotations of one set into a new draft. */
export async function copyAnnotations(tx: Db, tenantId: string, fromId: string, toId: string): Promise<void> {
  let after = sql.fragment`true`;
  for (;;) {
    // The last row of a full batch; null when this was the last batch.
    const last = await tx.maybeOne(sql.type(cursor)`
      with batch as materialized (
        select * from annotations where tenant_id = ${tenantId} and annotation_set_id = ${fromId} and ${after}
        order by audio_file_id, start_ms, id limit ${batchOfSet}
      ), copied as (
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms, confidence, extra_data)
        select gen_random_uuid(), tenant_id, dataset_id, ${toId}, audio_file_id, artifact_type, start_ms, end_ms,
          confidence, extra_data
        from batch
      )
      select audio_file_id, start_ms, id from batch order by audio_file_id, start_ms, id offset ${batchOfSet - 1}`);
    if (last === null) return;
    after = sql.fragment`(audio_file_id, start_ms, id) > (${last.audio_file_id}, ${last.start_ms}, ${last.id})`;
  }
}

/**
 * Deletes all annotations of a draft. Each batch begins after the last row of the previous one: rows that this
 * transaction deleted are still in the index, and skipping them again for each batch takes longer than the deletion.
 */
export async function deleteAnnotations(tx: Db, tenantId: string, setId: string): Promise<void> {
  let after = sql.fragment`true`;
  for (;;) {
    // The last row of a full batch; null when this was the last batch.
    const last = await tx.maybeOne(sql.type(cursor)`
      with batch as materialized (
        select id, audio_file_id, start_ms from annotations
        where tenant_id = ${tenantId} and annotation_set_id = ${setId} and ${after}
        order by audio_file_id, start_ms, id limit ${batchOfSet}
      ), deleted as (
        delete from annotations where tenant_id = ${tenantId} and id in (select id from batch)
      )
      select audio_file_id, start_ms, id from batch order by audio_file_id, start_ms, id offset ${batchOfSet - 1}`);
    if (last === null) return;
    after = sql.fragment`(audio_file_id, start_ms, id) > (${last.audio_file_id}, ${last.start_ms}, ${last.id})`;
  }
}

/** Deletes all annotations of an audio file, up to a million in each draft. The caller excludes published sets. */
export async function deleteAnnotationsOfAudio(
  tx: Db,
  tenantId: string,
  datasetId: string,
  audioFileId: string,
): Promise<void> {
  await deleteInBatches(
    tx,
    tenantId,
    sql.fragment`dataset_id = ${datasetId} and audio_file_id = ${audioFileId}`,
  );
}

async function deleteInBatches(tx: Db, tenantId: string, which: FragmentSqlToken): Promise<void> {
  for (let deleted = batchOfAudio; deleted === batchOfAudio; ) {
    const done = await tx.query(sql.type(z.object({}))`
      delete from annotations where tenant_id = ${tenantId} and id in (
        select id from annotations where tenant_id = ${tenantId} and ${which} limit ${batchOfAudio})`);
    deleted = done.rowCount;
  }
}
