// All annotations of a set as JSON text, for answers of any length: 10,000 annotations cost the API a tenth of what it
// takes to read and write them row by row. Called by the routes of annotations and annotation sets.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type { AnnotationFilter } from "../schemas/annotation.ts";
import { behindAnnotation, matchingAnnotations } from "./annotation.ts";
import { bare, jsonObject, text, time, word } from "./json-text.ts";
import type { Db } from "./page.ts";

/** As viewAnnotation of src/api/routes/annotation.ts. */
const item = jsonObject({
  id: word(sql.fragment`id`),
  annotation_set_id: word(sql.fragment`annotation_set_id`),
  audio_file_id: word(sql.fragment`audio_file_id`),
  artifact_type: text(sql.fragment`artifact_type`),
  start_ms: bare(sql.fragment`start_ms`),
  end_ms: bare(sql.fragment`end_ms`),
  confidence: bare(sql.fragment`confidence`),
  extra_data: bare(sql.fragment`extra_data`),
  created_at: time(sql.fragment`created_at`),
});

const batchRow = z.object({
  count: z.number(),
  items: z.string().nullable(),
  last_audio_file_id: z.string().nullable(),
  last_start_ms: z.number().nullable(),
  last_id: z.string().nullable(),
});

/**
 * By audio file, start and id, separated by commas, in batches that each begin behind the last row of the one before:
 * memory stays flat, a slow reader holds no connection and no transaction, and each batch is one short statement.
 */
export async function* eachAnnotationText(
  db: Db,
  tenantId: string,
  setId: string,
  filter: AnnotationFilter = {},
  batchSize = 250,
): AsyncGenerator<string> {
  let after: FragmentSqlToken = sql.fragment`true`;
  for (;;) {
    const batch = await db.one(sql.type(batchRow)`
      select count(*) as count, string_agg(${item}, ',') as items,
        (array_agg(audio_file_id))[count(*)] as last_audio_file_id,
        (array_agg(start_ms))[count(*)] as last_start_ms, (array_agg(id))[count(*)] as last_id
      from (
        select id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms, confidence, extra_data, created_at
        from annotations where ${matchingAnnotations(tenantId, setId, filter)} and ${after}
        order by audio_file_id, start_ms, id limit ${batchSize}
      ) lines`);
    if (batch.items !== null) yield batch.items;
    if (batch.count < batchSize) return;
    const { last_audio_file_id, last_start_ms, last_id } = batch;
    if (last_audio_file_id === null || last_start_ms === null || last_id === null) return;
    const last = { audio_file_id: last_audio_file_id, start_ms: last_start_ms, id: last_id };
    after = behindAnnotation(filter, last);
  }
}
