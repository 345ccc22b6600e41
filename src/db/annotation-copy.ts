// Many annotations, copied and deleted in parts: a set may have a million, and no statement may take long. Called by
// annotation-set.ts and audio-file.ts inside a transaction that has locked the sets.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";

const copiedAtOnce = 10_000;
const deletedAtOnce = 100_000;

const cursor = z.object({ audio_file_id: z.string(), start_ms: z.number(), id: z.string() });

/** A new draft takes the annotations of the set that it is made from. */
export async function copyAnnotations(tx: Db, tenantId: string, fromId: string, toId: string): Promise<void> {
  let after = sql.fragment`true`;
  for (;;) {
    // The last row of the part, unless it is the last part.
    const last = await tx.maybeOne(sql.type(cursor)`
      with part as materialized (
        select * from annotations where tenant_id = ${tenantId} and annotation_set_id = ${fromId} and ${after}
        order by audio_file_id, start_ms, id limit ${copiedAtOnce}
      ), copied as (
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms, confidence, extra_data)
        select gen_random_uuid(), tenant_id, dataset_id, ${toId}, audio_file_id, artifact_type, start_ms, end_ms,
          confidence, extra_data
        from part
      )
      select audio_file_id, start_ms, id from part order by audio_file_id, start_ms, id offset ${copiedAtOnce - 1}`);
    if (last === null) return;
    after = sql.fragment`(audio_file_id, start_ms, id) > (${last.audio_file_id}, ${last.start_ms}, ${last.id})`;
  }
}

/** All annotations of a draft. */
export async function deleteAnnotations(tx: Db, tenantId: string, setId: string): Promise<void> {
  await deleteInParts(tx, tenantId, sql.fragment`annotation_set_id = ${setId}`);
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
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
    const done = await tx.query(sql.type(z.object({}))`
      delete from annotations where tenant_id = ${tenantId} and id in (
        select id from annotations where tenant_id = ${tenantId} and ${which} limit ${deletedAtOnce})`);
    deleted = done.rowCount;
  }
}
