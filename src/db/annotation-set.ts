// Annotation sets: a draft is published once. Triggers maintain the statistics (migration 0014). Called by
// src/api/routes and by the functions of annotations.
import { sql } from "slonik";
import { z } from "zod";
import {
  annotationSetCopying,
  annotationSetNotFound,
  annotationSetPublished,
  datasetNotFound,
  tooManyAnnotationSets,
} from "../errors.ts";
import { annotationSet, type listAnnotationSetsQuery } from "../schemas/annotation-set.ts";
import type { SetPlace } from "./annotation.ts";
import { copying, rowsPerRequest, startCopy } from "./annotation-copy.ts";
import { requireDataset } from "./dataset.ts";
import { beginDeletion, seeDeleted } from "./deletion.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { newId } from "./driver/id.ts";
import { type Db, fits, type ListRequest, type Page, selectPage } from "./driver/page.ts";
import {
  type AnnotationQuota,
  annotationsOf,
  requireAnnotations,
  requireBelowQuota,
  unlimitedAnnotations,
} from "./quota.ts";

const row = rowOf(annotationSet, {
  /** Increases with every change of the set, its annotations and its reviewed files. */
  revision: z.number(),
  /** What is left of the copy that fills the draft; null when it is complete. */
  copying: copying.nullable(),
});
export type AnnotationSetRow = z.infer<typeof row>;

const columns = columnsOf(row);

/** Returns one page of a dataset's sets, newest first. */
export async function listAnnotationSets(
  db: Db,
  tenantId: string,
  datasetId: string,
  query: ListRequest<typeof listAnnotationSetsQuery>,
): Promise<Page<AnnotationSetRow>> {
  const filter = { tenant_id: tenantId, dataset_id: datasetId, status: query.status };
  const from = sql.fragment`annotation_sets where ${fits(filter)}`;
  return await selectPage(db, row, { columns, from }, query);
}

/** A condition for one set. */
const thisSet = ({ tenantId, datasetId, setId }: SetPlace) =>
  sql.fragment`tenant_id = ${tenantId} and dataset_id = ${datasetId} and id = ${setId}`;

/** Returns the set; rejects with annotationSetNotFound. */
export async function oneAnnotationSet(db: Db, place: SetPlace): Promise<AnnotationSetRow> {
  return await db.expecting(annotationSetNotFound).one(sql.type(row)`
    select ${columns} from annotation_sets where ${thisSet(place)}`);
}

const lockedDraft = z.object({ revision: z.number(), annotation_count: z.number(), of_tenant: z.number() });

interface DraftChange {
  readonly adding?: number;
  readonly quota?: AnnotationQuota;
  readonly check?: () => Promise<unknown>;
}

/**
 * Locks a draft against changes, publication and deletion by others until the transaction ends, increments its revision
 * and returns it. Every write of annotations or reviewed files calls this first and takes its other locks afterwards.
 * Rejects with annotationSetPublished, with annotationSetCopying while a copy reads or fills the draft, or with
 * quotaExceeded when `adding` annotations would exceed the quota. `check` rejects unless the write is valid and
 * what it changes exists; that comes before the state of the set. For a draft, the caller calls it under the lock.
 */
export async function lockDraft(
  db: Db,
  place: SetPlace,
  { adding = 0, quota = unlimitedAnnotations, check }: DraftChange = {},
): Promise<number> {
  const locked = await db.maybeOne(sql.type(lockedDraft)`
    update annotation_sets set revision = revision + 1
    where ${thisSet(place)} and status = 'draft' and copying is null and copies_from = 0
    returning revision, annotation_count, (${annotationsOf(place.tenantId)}) as of_tenant`);
  if (locked !== null) {
    requireAnnotations(locked.annotation_count + adding, locked.of_tenant + adding, quota);
    return locked.revision;
  }
  const { status, copying } = await oneAnnotationSet(db, place);
  // A part of a draft that is being filled may come yet. The transaction takes no lock of the set after this.
  if (copying === null) await check?.();
  throw status === "published" ? annotationSetPublished() : annotationSetCopying();
}

/** Locks a draft or published set as lockDraft does, without incrementing its revision. Returns the revision. */
export async function lockAnnotationSet(db: Db, place: SetPlace): Promise<number> {
  return await db.expecting(annotationSetNotFound).oneFirst(sql.type(z.object({ revision: z.number() }))`
    select revision from annotation_sets where ${thisSet(place)} for no key update`);
}

/**
 * Adds a draft: empty, or a copy of the annotations and reviewed files of `fromId`, another set of the dataset. Rejects with
 * annotationSetCopying if that one is itself being filled, or with quotaExceeded.
 */
export async function insertAnnotationSet(
  db: Db,
  tenantId: string,
  datasetId: string,
  fromId: string | null,
  quota: AnnotationQuota,
): Promise<AnnotationSetRow> {
  return await db.transaction(async (tx) => {
    const source = fromId === null ? null : await lockSource(tx, { tenantId, datasetId, setId: fromId });
    // The lock of the dataset's row serializes version numbers. The number of a deleted draft is not reused.
    const version = await tx
      .expecting(datasetNotFound)
      .oneFirst(sql.type(z.object({ last_annotation_set_version: z.number() }))`
      update datasets set last_annotation_set_version = last_annotation_set_version + 1
      where tenant_id = ${tenantId} and id = ${datasetId} returning last_annotation_set_version`);
    const place = { tenantId, datasetId, setId: newId() };
    const exceeded = () => tooManyAnnotationSets(quota.sets);
    await requireBelowQuota(tx, "annotation_sets", tenantId, quota.sets, exceeded);
    await tx.query(sql.fragment`
      insert into annotation_sets (id, tenant_id, dataset_id, version)
      values (${place.setId}, ${tenantId}, ${datasetId}, ${version})`);
    if (source !== null) {
      const work = { annotation_set_id: source.id, total: source.total_annotations, after: null };
      await startCopy(tx, place, work, quota);
    }
    return await oneAnnotationSet(tx, place);
  });
}

/** Locks the source, so that it does not change while it is copied. Lock order: the set before the dataset. */
async function lockSource(tx: Db, place: SetPlace): Promise<AnnotationSetRow> {
  await requireDataset(tx, place.tenantId, place.datasetId);
  await lockAnnotationSet(tx, place);
  const source = await oneAnnotationSet(tx, place);
  if (source.copying !== null) throw annotationSetCopying();
  return source;
}

/** Publishes a draft; the set and its statistics never change again. Rejects with annotationSetPublished. */
export async function publishAnnotationSet(db: Db, place: SetPlace): Promise<AnnotationSetRow> {
  return await db.transaction(async (tx) => {
    // Waits for all writers that hold the lock of lockDraft; later writers find the set published.
    await lockForUpdate(tx, place);
    const now = await oneAnnotationSet(tx, place);
    if (now.status === "published") throw annotationSetPublished();
    if (now.copying !== null) throw annotationSetCopying();
    await tx.query(sql.fragment`
      update annotation_sets set status = 'published', published_at = now(), revision = revision + 1
      where ${thisSet(place)} and status = 'draft'`);
    return await oneAnnotationSet(tx, place);
  });
}

/**
 * Deletes a draft and its annotations; a large one disappears at once and is deleted in the background. Ends a copy into the
 * draft. Rejects with annotationSetPublished, because models refer to published sets, or with annotationSetCopying
 * while another set is being filled from this one.
 */
export async function deleteAnnotationSet(db: Db, place: SetPlace): Promise<void> {
  await db.transaction(async (tx) => {
    const copiesFrom = await lockForUpdate(tx, place);
    const set = await oneAnnotationSet(tx, place);
    if (set.status === "published") throw annotationSetPublished();
    if (copiesFrom > 0) throw annotationSetCopying();
    await seeDeleted(tx);
    await tx.query(sql.fragment`
      update annotation_sets set deleted_at = now(), copying = null where ${thisSet(place)}`);
    if (set.total_annotations <= rowsPerRequest)
      await beginDeletion(tx, "annotation_set", place.tenantId, place.setId);
  });
}

const lockedSet = z.object({ id: z.string(), copies_from: z.number() });

/**
 * Locks the set, and the source of a copy into it, because the end of the copy changes the source too. Returns how many
 * copies read the set.
 */
async function lockForUpdate(db: Db, place: SetPlace): Promise<number> {
  const { tenantId, datasetId, setId } = place;
  const locked = await db.any(sql.type(lockedSet)`
    select id, copies_from from annotation_sets
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and (id = ${setId} or id = (
      select (copying ->> 'annotation_set_id')::uuid from annotation_sets where ${thisSet(place)}))
    order by id for update`);
  return locked.find((set) => set.id === setId.toLowerCase())?.copies_from ?? 0;
}
