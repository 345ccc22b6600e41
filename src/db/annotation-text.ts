// Reads all annotations of a set as JSON text that Postgres builds, for responses of any length: it takes a tenth of
// the time that parsing and serializing 10,000 rows takes. Called by the routes of annotations and annotation sets.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { type AnnotationFilter, annotation } from "../schemas/annotation.ts";
import { afterAnnotation, annotationColumns, matchingAnnotations } from "./annotation.ts";
import { jsonTextOf } from "./driver/fields.ts";
import type { Db } from "./driver/page.ts";

const item = jsonTextOf(annotation);

const batchRow = z.object({
  count: z.number(),
  items: z.string().nullable(),
  last_audio_file_id: z.string().nullable(),
  last_start_ms: z.number().nullable(),
  last_id: z.string().nullable(),
});

/**
 * Yields annotations as comma-separated JSON objects, by audio file, start and id. Each batch is one short statement
 * and begins after the last row of the previous one: memory use is constant, and a slow reader holds no connection or
 * transaction.
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
        select ${annotationColumns}
        from annotations where ${matchingAnnotations(tenantId, setId, filter)} and ${after}
        order by audio_file_id, start_ms, id limit ${batchSize}
      ) lines`);
    if (batch.items !== null) yield batch.items;
    if (batch.count < batchSize) return;
    const { last_audio_file_id, last_start_ms, last_id } = batch;
    if (last_audio_file_id === null || last_start_ms === null || last_id === null) return;
    const last = { audio_file_id: last_audio_file_id, start_ms: last_start_ms, id: last_id };
    after = afterAnnotation(filter, last);
  }
}
