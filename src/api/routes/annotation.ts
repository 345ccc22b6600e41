// /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations (interface specification 4.7).
// Annotations of drafts and published sets can be read; only those of drafts can be changed.
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import {
  type AnnotationRow,
  countAnnotations,
  deleteAnnotations,
  insertAnnotations,
  manyAnnotations,
  oneAnnotation,
  pageOfAnnotations,
  updateAnnotations,
} from "../../db/annotation.ts";
import { lockDraft, oneAnnotationSet } from "../../db/annotation-set.ts";
import { eachAnnotationText } from "../../db/annotation-text.ts";
import type { Db } from "../../db/driver/page.ts";
import { annotationNotFound } from "../../errors.ts";
import {
  type AnnotationChange,
  annotation,
  bulkAnnotations,
  createAnnotationBody,
  deleteAnnotationsBody,
  deletedAnnotations,
  listAnnotationsQuery,
  type NewAnnotation,
  updateAnnotationBody,
} from "../../schemas/annotation.ts";
import { id } from "../../schemas/rest.ts";
import { requireValidAnnotations } from "../annotation-rules.ts";
import { documents, maxDocumentBytes } from "../body/documents.ts";
import { etagOf, etagOfSet, isUnchanged } from "../conditional.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "../route.ts";
import { viewOf } from "../view.ts";
import { guardSet, type InSet, inSet, jsonArray } from "./annotation-set.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations";
const params = inSet.extend({ annotation_id: id("Id of the annotation") });

/** Header of responses to writes: the new ETag of the set, so that an editor does not have to read the set again. */
export const setEtagHeader = "X-Annotation-Set-ETag";

export const viewAnnotation = viewOf(annotation);

export const create = defineRoute({
  method: "POST",
  path: base,
  operationId: "createAnnotation",
  summary: "Add an annotation to a draft",
  params: inSet,
  body: createAnnotationBody,
  answer: { status: 201, description: "The annotation", schema: annotation },
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardSet,
  handler: async ({ params, body, tenantId, deps }) => {
    const { rows, revision } = await insert(deps, tenantId, params, [body], () => ["body"]);
    return replyOne(params, rows, revision);
  },
  idempotent: async ({ params, tenantId, deps }, ids) => {
    const { rows, revision } = await readCreated(deps.db, tenantId, params, ids);
    return replyOne(params, rows, revision);
  },
});

export const createBulk = defineRoute({
  method: "POST",
  path: `${base}/bulk`,
  operationId: "createAnnotations",
  summary: "Add up to 1000 annotations to a draft, all or none",
  params: inSet,
  body: documents.annotations,
  maxBodyBytes: maxDocumentBytes,
  answer: {
    status: 201,
    description: "The annotations, in the order of the request",
    schema: bulkAnnotations,
  },
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardSet,
  handler: async ({ params, body, tenantId, deps }) => {
    const place = (i: number) => ["body", "annotations", i];
    const { rows, revision } = await insert(deps, tenantId, params, body.annotations, place);
    return { created: rows.map((row) => row.id), ...(await replyMany(params, rows, revision)) };
  },
  idempotent: async ({ params, tenantId, deps }, ids) => {
    const { rows, revision } = await readCreated(deps.db, tenantId, params, ids);
    return { created: ids, ...(await replyMany(params, rows, revision)) };
  },
});

/**
 * The ETag belongs to the resource in Location: the annotation here, the list of the set's annotations in replyMany.
 */
function replyOne(place: InSet, rows: readonly AnnotationRow[], revision: number): Reply {
  const body = viewAnnotation(rows[0]!);
  return {
    created: [body.id],
    etag: etagOf(body),
    headers: { [setEtagHeader]: etagOfSet(revision) },
    location: `${locationOf(place)}/${body.id}`,
    body,
  };
}

async function replyMany(place: InSet, rows: readonly AnnotationRow[], revision: number): Promise<Reply> {
  return {
    etag: etagOfSet(revision),
    headers: { [setEtagHeader]: etagOfSet(revision) },
    location: locationOf(place),
    body: await textOf(rows),
  };
}

/** Annotations that are serialized at once: a millisecond at most. */
const annotationsPerPiece = 50;

/** Returns the list as JSON. Between two pieces the event loop serves other requests. */
async function textOf(rows: readonly AnnotationRow[]): Promise<string> {
  const pieces: string[] = [];
  for (let i = 0; i < rows.length; i += annotationsPerPiece) {
    if (i > 0) await setImmediate();
    pieces.push(JSON.stringify(rows.slice(i, i + annotationsPerPiece).map(viewAnnotation)).slice(1, -1));
  }
  return `{"items":[${pieces.join(",")}],"total":${rows.length}}`;
}

async function readCreated(db: Db, tenantId: string, place: InSet, ids: readonly string[]) {
  const set = await oneAnnotationSet(db, tenantId, place.dataset_id, place.annotation_set_id);
  return { rows: await manyAnnotations(db, tenantId, set.id, ids), revision: set.revision };
}

async function insert(
  deps: HandlerDeps,
  tenantId: string,
  place: InSet,
  annotations: readonly NewAnnotation[],
  locOf: (index: number) => (string | number)[],
): Promise<{ rows: readonly AnnotationRow[]; revision: number }> {
  const { dataset_id: datasetId, annotation_set_id: setId } = place;
  const room = { adding: annotations.length, max: deps.config.PLOSIVE_QUOTA_ANNOTATIONS };
  return await deps.db.transaction(async (tx) => {
    const revision = await lockDraft(tx, tenantId, datasetId, setId, room);
    await requireValidAnnotations(tx, tenantId, datasetId, annotations, locOf);
    return { rows: await insertAnnotations(tx, { tenantId, datasetId, setId }, annotations), revision };
  });
}

export const list = defineRoute({
  method: "GET",
  path: base,
  operationId: "listAnnotations",
  summary: "List annotations by audio file, start and id",
  description:
    "Returns a bare array. The header X-Total-Count has the number of matching annotations. Without page and page_size, the response has all of them.",
  params: inSet,
  query: listAnnotationsQuery,
  conditional: true,
  answer: { status: 200, description: "The annotations", schema: z.array(annotation) },
  handler: async ({ params, query, tenantId, request, deps }) => {
    const set = await oneAnnotationSet(deps.db, tenantId, params.dataset_id, params.annotation_set_id);
    const etag = etagOfSet(set.revision);
    if (isUnchanged(request.headers["if-none-match"], etag)) return { etag };
    const { page, page_size, ...filter } = query;
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    const total = isFiltered
      ? await countAnnotations(deps.db, tenantId, set.id, filter)
      : set.total_annotations;
    const headers = { "X-Total-Count": String(total) };
    if (page === undefined && page_size === undefined)
      return { headers, etag, stream: jsonArray(eachAnnotationText(deps.db, tenantId, set.id, filter)) };
    const wanted = { page: page ?? 1, page_size: page_size ?? 20 };
    const rows = await pageOfAnnotations(deps.db, tenantId, set.id, filter, wanted);
    return { headers, etag, body: rows.map(viewAnnotation) };
  },
});

export const read = defineRoute({
  method: "GET",
  path: `${base}/{annotation_id}`,
  operationId: "getAnnotation",
  summary: "Read an annotation",
  params,
  conditional: true,
  answer: { status: 200, description: "The annotation", schema: annotation },
  handler: async ({ params, tenantId, deps }) => {
    const set = await oneAnnotationSet(deps.db, tenantId, params.dataset_id, params.annotation_set_id);
    return { body: viewAnnotation(await oneAnnotation(deps.db, tenantId, set.id, params.annotation_id)) };
  },
});

export const update = defineRoute({
  method: "PATCH",
  path: `${base}/{annotation_id}`,
  operationId: "updateAnnotation",
  summary: "Change an annotation of a draft",
  params,
  body: updateAnnotationBody,
  answer: { status: 200, description: "The annotation", schema: annotation },
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardOne,
  handler: async ({ params, body, tenantId, deps }) => {
    const change = new Map([[params.annotation_id, body]]);
    const { rows, revision } = await changeAnnotations(deps, tenantId, params, change, () => ["body"]);
    return { headers: { [setEtagHeader]: etagOfSet(revision) }, body: viewAnnotation(rows[0]!) };
  },
});

export const updateBulk = defineRoute({
  method: "PATCH",
  path: `${base}/bulk`,
  operationId: "updateAnnotations",
  summary: "Change up to 1000 annotations of a draft, all or none",
  params: inSet,
  body: documents.annotationChanges,
  maxBodyBytes: maxDocumentBytes,
  answer: {
    status: 200,
    description: "The annotations, in the order of the request",
    schema: bulkAnnotations,
  },
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardSet,
  handler: async ({ params, body, tenantId, deps }) => {
    const changes = new Map(body.annotations.map(({ id, ...change }) => [id, change]));
    const place = (i: number) => ["body", "annotations", i];
    const { rows, revision } = await changeAnnotations(deps, tenantId, params, changes, place);
    return await replyMany(params, rows, revision);
  },
});

async function changeAnnotations(
  deps: HandlerDeps,
  tenantId: string,
  { dataset_id: datasetId, annotation_set_id: setId }: InSet,
  changes: ReadonlyMap<string, AnnotationChange>,
  locOf: (index: number) => (string | number)[],
): Promise<{ rows: readonly AnnotationRow[]; revision: number }> {
  return await deps.db.transaction(async (tx) => {
    const revision = await lockDraft(tx, tenantId, datasetId, setId);
    const present = await manyAnnotations(tx, tenantId, setId, [...changes.keys()]);
    const given = [...changes.values()];
    const changed = present.map((row, i) => ({ ...row, ...withoutAbsent(given[i]!) }));
    await requireValidAnnotations(tx, tenantId, datasetId, changed, locOf);
    return { rows: await updateAnnotations(tx, tenantId, setId, changed), revision };
  });
}

export const remove = defineRoute({
  method: "DELETE",
  path: `${base}/{annotation_id}`,
  operationId: "deleteAnnotation",
  summary: "Delete an annotation of a draft",
  params,
  answer: { status: 204, description: "The annotation is deleted" },
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardOne,
  handler: async ({ params, tenantId, deps }) => {
    const { revision } = await deleteFrom(deps, tenantId, params, [params.annotation_id], 1);
    return { headers: { [setEtagHeader]: etagOfSet(revision) } };
  },
});

export const removeBulk = defineRoute({
  method: "POST",
  path: `${base}/bulk/delete`,
  operationId: "deleteAnnotations",
  summary: "Delete up to 1000 annotations of a draft",
  params: inSet,
  body: deleteAnnotationsBody,
  answer: { status: 200, description: "How many were deleted", schema: deletedAnnotations },
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardSet,
  handler: async ({ params, body, tenantId, deps }) => {
    const { deleted, revision } = await deleteFrom(deps, tenantId, params, body.ids);
    return { headers: { [setEtagHeader]: etagOfSet(revision) }, body: { deleted } };
  },
});

async function deleteFrom(
  deps: HandlerDeps,
  tenantId: string,
  { dataset_id: datasetId, annotation_set_id: setId }: InSet,
  ids: readonly string[],
  atLeast = 0,
) {
  return await deps.db.transaction(async (tx) => {
    const revision = await lockDraft(tx, tenantId, datasetId, setId);
    const deleted = await deleteAnnotations(tx, tenantId, setId, ids);
    if (deleted < atLeast) throw annotationNotFound();
    return { revision, deleted };
  });
}

/**
 * Current ETags for If-Match of a change: the ETag of the set, or only that of the annotation, for clients that allow
 * others to change the rest of the set.
 */
async function guardOne(call: Call<z.infer<typeof params>>): Promise<string[]> {
  const { params, tenantId, deps } = call;
  const set = await guardSet(call);
  const row = await oneAnnotation(deps.db, tenantId, params.annotation_set_id, params.annotation_id);
  return [...set, etagOf(viewAnnotation(row))];
}

const locationOf = (place: InSet) =>
  `/api/v1/datasets/${place.dataset_id}/annotation-sets/${place.annotation_set_id}/annotations`;

function withoutAbsent<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;
}
