// Annotations: labels of audio files in a set. Every writer holds the lock of the draft (lockDraft in
// annotation-set.ts). Called by src/api/routes and src/api/exchange.
import { setImmediate } from "node:timers/promises";
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { annotationNotFound } from "../errors.ts";
import { type AnnotationFilter, annotation, type NewAnnotation } from "../schemas/annotation.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { newId } from "./driver/id.ts";
import { countRows, type Db, fits, inBatches, inOrder, withId } from "./driver/page.ts";
import { type AnnotationQuota, annotationsOf, requireAnnotations } from "./quota.ts";

const row = rowOf(annotation);
export type AnnotationRow = z.infer<typeof row>;

export const annotationColumns = columnsOf(row, {
  updated_at: sql.fragment`coalesce(updated_at, created_at)`,
});

/** An annotation set of a dataset. */
export interface SetPlace {
  readonly tenantId: string;
  readonly datasetId: string;
  readonly setId: string;
}

/** A constant, because a schema compiles itself when it is first used: once, not once per request. */
const made = z.object({ created_at: z.number() });

/** Characters of extra data in one statement: its parameters are serialized without a pause for other requests. */
const extraDataPerStatement = 96 * 1024;

/**
 * Adds annotations and returns them in the given order. `db` is a transaction whose caller holds the set's lock and has
 * checked files and types. The statement returns only `created_at`: returning the rows would cost as much as the
 * checks. Postgres reads array parameters in half the time of JSON.
 */
export async function insertAnnotations(
  db: Db,
  place: SetPlace,
  annotations: readonly NewAnnotation[],
): Promise<readonly AnnotationRow[]> {
  const annotation_set_id = place.setId.toLowerCase();
  const rows = annotations.map((annotation) => ({
    id: newId(),
    annotation_set_id,
    audio_file_id: annotation.audio_file_id.toLowerCase(),
    artifact_type: annotation.artifact_type,
    start_ms: annotation.start_ms,
    end_ms: annotation.end_ms,
    confidence: annotation.confidence,
    extra_data: annotation.extra_data,
    annotator: annotation.annotator,
    created_at: 0,
    updated_at: 0,
  }));
  for (const { part, lines } of inStatements(rows)) {
    const created_at = await db.oneFirst(sql.type(made)`
      with added as (
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms, confidence, extra_data, annotator)
        select id, ${place.tenantId}, ${place.datasetId}, ${place.setId}, audio_file_id, artifact_type, start_ms,
          end_ms, confidence, extra_data, annotator
        from ${lines}
      )
      select now() as created_at`);
    for (const row of part) row.created_at = row.updated_at = created_at;
  }
  return rows;
}

/** An annotation without its extra data, which may be large, or with new extra data. */
type ChangedAnnotation = Omit<AnnotationRow, "extra_data"> & Partial<Pick<AnnotationRow, "extra_data">>;

/** Splits rows into statements by their extra data, with the rows of each as a table. */
function* inStatements<R extends ChangedAnnotation>(
  rows: readonly R[],
): Generator<{ part: readonly R[]; lines: FragmentSqlToken }> {
  for (let next = 0; next < rows.length; ) {
    const extraData: (string | null)[] = [];
    const first = next;
    for (let length = 0; next < rows.length && length < extraDataPerStatement; next++) {
      const { extra_data } = rows[next]!;
      const text = extra_data === undefined ? null : JSON.stringify(extra_data);
      extraData.push(text);
      length += text?.length ?? 0;
    }
    const part = rows.slice(first, next);
    yield { part, lines: tableOf(part, extraData) };
  }
}

function tableOf(rows: readonly ChangedAnnotation[], extraData: (string | null)[]): FragmentSqlToken {
  const column = (type: string, of: (row: ChangedAnnotation) => string | number | null) =>
    sql.array(rows.map(of), type);
  return sql.fragment`unnest(
      ${column("uuid", (row) => row.id)}, ${column("uuid", (row) => row.audio_file_id)},
      ${column("text", (row) => row.artifact_type)}, ${column("int8", (row) => row.start_ms)},
      ${column("int8", (row) => row.end_ms)}, ${column("float8", (row) => row.confidence)},
      ${sql.array(extraData, "jsonb")}, ${column("text", (row) => row.annotator)}
    ) as line (id, audio_file_id, artifact_type, start_ms, end_ms, confidence, extra_data, annotator)`;
}

/** Rejects with quotaExceeded when `count` more annotations exceed the quota. The caller holds the set's lock. */
export async function requireRoom(
  db: Db,
  place: SetPlace,
  count: number,
  quota: AnnotationQuota,
): Promise<void> {
  const present = await db.one(sql.type(z.object({ annotation_count: z.number(), of_tenant: z.number() }))`
    select annotation_count, (${annotationsOf(place.tenantId)}) as of_tenant
    from annotation_sets where tenant_id = ${place.tenantId} and id = ${place.setId}`);
  requireAnnotations(present.annotation_count + count, present.of_tenant + count, quota);
}

/**
 * Returns for each annotation how many equal ones the set has: with the same file, type and times. Reads the labels of each file and
 * start once, so the caller passes all annotations of a file and start together. These may be 50,000, so the statement has them as
 * text, because arrays are escaped value by value, and the event loop serves other requests after each column.
 */
export async function countEqualAnnotations(
  db: Db,
  place: SetPlace,
  annotations: readonly Pick<NewAnnotation, "audio_file_id" | "artifact_type" | "start_ms" | "end_ms">[],
): Promise<readonly number[]> {
  const files = numbered(annotations.map((annotation) => annotation.audio_file_id));
  await setImmediate();
  const types = numbered(annotations.map((annotation) => annotation.artifact_type));
  await setImmediate();
  const starts = list(annotations.map((annotation) => annotation.start_ms));
  const ends = list(annotations.map((annotation) => annotation.end_ms));
  await setImmediate();
  const counts = await db.oneFirst(sql.type(z.object({ counts: z.string() }))`
    with lines as (
      select (${sql.array(files.texts, "uuid")})[file] as audio_file_id, (${sql.array(types.texts, "text")})[type] as artifact_type,
        start_ms, end_ms, n
      from unnest(${list(files.numbers)}::int[], ${list(types.numbers)}::int[],
          ${starts}::int8[], ${ends}::int8[])
        with ordinality as line (file, type, start_ms, end_ms, n)
    )
    select coalesce(string_agg(present::text, ',' order by n), '') as counts from (
      select n, count(*) filter (where n is null)
          over (partition by audio_file_id, start_ms, end_ms, artifact_type) as present
      from (
        select * from lines
        union all
        select audio_file_id, artifact_type, start_ms, end_ms, null
        from (select distinct audio_file_id, start_ms from lines) places
        -- While a set is being filled its statistics are too poor for good plans: offset keeps this a look-up for each place, and
        -- the comparison of triples fits the order of lists alone, not the index of all labels of a file.
        cross join lateral (
          select artifact_type, end_ms from annotations
          where tenant_id = ${place.tenantId} and (annotation_set_id, audio_file_id, start_ms) between
            (${place.setId}::uuid, places.audio_file_id, places.start_ms) and
            (${place.setId}::uuid, places.audio_file_id, places.start_ms)
          offset 0
        ) labels
      ) both_sides
    ) counted
    where n is not null`);
  return counts.split(",").map(Number);
}

const list = (numbers: readonly number[]) => `{${numbers.join()}}`;

/** Returns the different texts, and for each text the number of its place among them, from 1 as in Postgres. */
function numbered(all: readonly string[]) {
  const places = new Map<string, number>();
  for (const text of all) if (!places.has(text)) places.set(text, places.size + 1);
  return { texts: [...places.keys()], numbers: all.map((text) => places.get(text)!) };
}

export const setOf = ({ tenantId, setId }: SetPlace) => ({ tenant_id: tenantId, annotation_set_id: setId });

/** Returns the annotation; rejects with annotationNotFound. */
export async function oneAnnotation(db: Db, place: SetPlace, id: string): Promise<AnnotationRow> {
  return await db.expecting(annotationNotFound).one(sql.type(row)`
    select ${annotationColumns} from annotations where ${withId(id, setOf(place))}`);
}

/** Returns the annotations in the order of `ids`; rejects with annotationNotFound when one is missing. */
export async function manyAnnotations(db: Db, place: SetPlace, ids: readonly string[]) {
  const rows = await db.any(sql.type(row)`
    select ${annotationColumns} from annotations where ${withId(ids, setOf(place))}`);
  return inOrder(rows, ids, annotationNotFound);
}

const toChange = row.omit({ extra_data: true });
const columnsToChange = columnsOf(toChange, { updated_at: sql.fragment`coalesce(updated_at, created_at)` });

/** As manyAnnotations, without the extra data: a change of other members does not need it in memory. */
export async function manyAnnotationsToChange(
  db: Db,
  place: SetPlace,
  ids: readonly string[],
): Promise<readonly ChangedAnnotation[]> {
  const rows = await db.any(sql.type(toChange)`
    select ${columnsToChange} from annotations where ${withId(ids, setOf(place))}`);
  return inOrder(rows, ids, annotationNotFound);
}

/** Overwrites all members that clients may change; extra data only where it is given. */
export async function updateAnnotations(
  db: Db,
  place: SetPlace,
  annotations: readonly ChangedAnnotation[],
): Promise<void> {
  for (const { lines } of inStatements(annotations))
    await db.query(sql.fragment`
      update annotations a set artifact_type = line.artifact_type, start_ms = line.start_ms, end_ms = line.end_ms,
        confidence = line.confidence, extra_data = coalesce(line.extra_data, a.extra_data), annotator = line.annotator,
        updated_at = now()
      from ${lines}
      where a.id = line.id and (${fits(setOf(place))}) is true`);
}

/** Deletes those of the annotations that the set has, and returns how many. */
export async function deleteAnnotations(db: Db, place: SetPlace, ids: readonly string[]): Promise<number> {
  const { rowCount } = await db.query(sql.fragment`
    delete from annotations where ${withId(ids, setOf(place))}`);
  return rowCount;
}

/** Returns how many annotations of the set match the filter. */
export async function countAnnotations(db: Db, place: SetPlace, filter: AnnotationFilter): Promise<number> {
  return await countRows(db, sql.fragment`annotations where ${matchingAnnotations(place, filter)}`);
}

/** Yields all matching annotations by audio file, start and id. */
export function eachAnnotation(db: Db, place: SetPlace, filter: AnnotationFilter, batchSize = 250) {
  return inBatches<AnnotationRow>(batchSize, (last) =>
    db.any(sql.type(row)`
      select ${annotationColumns} from annotations where ${matchingAnnotations(place, filter, last)}
      order by audio_file_id, start_ms, id limit ${batchSize}`),
  );
}

type Position = Pick<AnnotationRow, "audio_file_id" | "start_ms" | "id">;

/**
 * A condition for the annotations after `last` in list order. If the filter names the file, the condition must not
 * compare it again: Postgres would read the index from the file's first row for each batch (64 s instead of 10 s for
 * a million annotations of one file).
 */
function afterAnnotation(filter: AnnotationFilter, last: Position): FragmentSqlToken {
  return filter.audio_file_id === undefined
    ? sql.fragment`(audio_file_id, start_ms, id) >
        (${last.audio_file_id}::uuid, ${last.start_ms}::bigint, ${last.id}::uuid)`
    : sql.fragment`(start_ms, id) > (${last.start_ms}::bigint, ${last.id}::uuid)`;
}

/**
 * A condition for the filter and the position `last`. The time window is half-open; a point label is inside when
 * start <= point < end.
 */
export function matchingAnnotations(
  { tenantId, setId }: SetPlace,
  filter: AnnotationFilter,
  last?: Position,
): FragmentSqlToken {
  const { audio_file_id, artifact_type, annotator, min_confidence, max_confidence, start_ms, end_ms } =
    filter;
  const given = <T>(value: T | undefined, condition: (value: T) => FragmentSqlToken) =>
    value === undefined ? undefined : condition(value);
  return fits(
    { tenant_id: tenantId, annotation_set_id: setId, audio_file_id, artifact_type, annotator },
    given(min_confidence, (least) => sql.fragment`confidence >= ${least}`),
    given(max_confidence, (most) => sql.fragment`confidence <= ${most}`),
    given(end_ms, (end) => sql.fragment`start_ms < ${end}`),
    given(
      start_ms,
      (start) => sql.fragment`(end_ms > ${start} or (end_ms = start_ms and start_ms = ${start}))`,
    ),
    given(last, (position) => afterAnnotation(filter, position)),
  );
}
