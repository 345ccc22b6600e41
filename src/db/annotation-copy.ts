// Many annotations, copied and deleted in parts: a set may have a million, and no statement may take long. Called by
// annotation-set.ts and audio-file.ts inside a transaction that has locked the sets.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";

const atOnce = 10_000;
const ofAudioAtOnce = 100_000;

const cursor = z.object({ audio_file_id: z.string(), start_ms: z.number(), id: z.string() });

/** A new draft takes the annotations of the set that it is made from. */
export async function copyAnnotations(tx: Db, tenantId: string, fromId: string, toId: string): Promise<void> {
  let after = sql.fragment`true`;
  for (;;) {
    // The last row of the part, unless it is the last part.
    const last = await tx.maybeOne(sql.type(cursor)`
      with part as materialized (
        select * from annotations where tenant_id = ${tenantId} and annotation_set_id = ${fromId} and ${after}
        order by audio_file_id, start_ms, id limit ${atOnce}
      ), copied as (
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms, confidence, extra_data)
        select gen_random_uuid(), tenant_id, dataset_id, ${toId}, audio_file_id, artifact_type, start_ms, end_ms,
          confidence, extra_data
        from part
      )
      select audio_file_id, start_ms, id from part order by audio_file_id, start_ms, id offset ${atOnce - 1}`);
    if (last === null) return;
    after = sql.fragment`(audio_file_id, start_ms, id) > (${last.audio_file_id}, ${last.start_ms}, ${last.id})`;
  }
}

/**
 * All annotations of a draft. Each part begins behind the last row of the one before: what this transaction has deleted
 * is still in the index, and to pass over all of it again for each part takes longer than the deleting.
 */
export async function deleteAnnotations(tx: Db, tenantId: string, setId: string): Promise<void> {
  let after = sql.fragment`true`;
  for (;;) {
    // The last row of the part, unless it is the last part.
    const last = await tx.maybeOne(sql.type(cursor)`
      with part as materialized (
        select id, audio_file_id, start_ms from annotations
        where tenant_id = ${tenantId} and annotation_set_id = ${setId} and ${after}
        order by audio_file_id, start_ms, id limit ${atOnce}
      ), deleted as (
        delete from annotations where tenant_id = ${tenantId} and id in (select id from part)
      )
      select audio_file_id, start_ms, id from part order by audio_file_id, start_ms, id offset ${atOnce - 1}`);
    if (last === null) return;
    after = sql.fragment`(audio_file_id, start_ms, id) > (${last.audio_file_id}, ${last.start_ms}, ${last.id})`;
  }
}

/** All annotations of an audio file, which are in drafts only: a file may have as many in each of them. */
export async function deleteAnnotationsOfAudio(
  tx: Db,
  tenantId: string,
  datasetId: string,
  audioFileId: string,
): Promise<void> {
  await deleteInParts(
    tx,
    tenantId,
    sql.fragment`dataset_id = ${datasetId} and audio_file_id = ${audioFileId}`,
  );
}

async function deleteInParts(tx: Db, tenantId: string, which: FragmentSqlToken): Promise<void> {
  for (let deleted = ofAudioAtOnce; deleted === ofAudioAtOnce; ) {
    const done = await tx.query(sql.type(z.object({}))`
      delete from annotations where tenant_id = ${tenantId} and id in (
        select id from annotations where tenant_id = ${tenantId} and ${which} limit ${ofAudioAtOnce})`);
    deleted = done.rowCount;
  }
}
