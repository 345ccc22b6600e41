// Reads annotations as JSON text that Postgres builds, for responses of any length: it takes a tenth of the time that
// parsing and serializing 10,000 rows takes, and extra data of many small objects takes no more memory than its text. Called by the routes of annotations and annotation sets.
import { sql } from "slonik";
import { z } from "zod";
import { annotationNotFound } from "../errors.ts";
import { type AnnotationFilter, annotation } from "../schemas/annotation.ts";
import { annotationColumns, matchingAnnotations, type SetPlace, setOf } from "./annotation.ts";
import { jsonTextOf } from "./driver/fields.ts";
import { type Db, inOrder, withId } from "./driver/page.ts";

const item = jsonTextOf(annotation);
const itemWithId = z.object({ id: z.string(), item: z.string() });

/** Returns the JSON objects of the annotations in the order of `ids`; rejects with annotationNotFound when one is missing. */
export async function manyAnnotationTexts(
  db: Db,
  place: SetPlace,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await db.any(sql.type(itemWithId)`
    select id, ${item} as item
    from (select ${annotationColumns} from annotations where ${withId(ids, setOf(place))}) lines`);
  return inOrder(rows, ids, annotationNotFound).map((row) => row.item);
}

/** Returns one page as comma-separated JSON objects, by audio file, start and id. */
export async function pageOfAnnotations(
  db: Db,
  place: SetPlace,
  filter: AnnotationFilter,
  request: { page: number; page_size: number },
): Promise<string> {
  return await db.oneFirst(sql.type(z.object({ items: z.string() }))`
    select coalesce(string_agg(${item}, ','), '') as items
    from (
      select ${annotationColumns} from annotations where ${matchingAnnotations(place, filter)}
      order by audio_file_id, start_ms, id
      limit ${request.page_size} offset ${(request.page - 1) * request.page_size}
    ) lines`);
}

const last = z.object({ audio_file_id: z.string(), start_ms: z.number(), id: z.string() });
/** `last`: the last row of a full batch. */
const batchRow = z.object({ items: z.string().nullable(), last: last.nullable() });

/**
 * Yields annotations as comma-separated JSON objects, by audio file, start and id. Each batch is one short statement
 * and begins after the last row of the previous one: memory use is constant, and a slow reader holds no connection or
 * transaction.
 */
export async function* eachAnnotationText(
  db: Db,
  place: SetPlace,
  filter: AnnotationFilter = {},
  batchSize = 250,
): AsyncGenerator<string> {
  for (let after: z.infer<typeof last> | undefined; ; ) {
    const batch = await db.one(sql.type(batchRow)`
      select string_agg(${item}, ',') as items,
        case when count(*) = ${batchSize} then json_build_object('audio_file_id', (array_agg(audio_file_id))[count(*)],
          'start_ms', (array_agg(start_ms))[count(*)], 'id', (array_agg(id))[count(*)]) end as last
      from (
        select ${annotationColumns} from annotations where ${matchingAnnotations(place, filter, after)}
        order by audio_file_id, start_ms, id limit ${batchSize}
      ) lines`);
    if (batch.items !== null) yield batch.items;
    if (batch.last === null) return;
    after = batch.last;
  }
}
