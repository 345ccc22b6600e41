// /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations.
// Annotations of drafts and published sets can be read; only those of drafts can be changed.
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import {
  type AnnotationRow,
  countAnnotations,
  deleteAnnotations,
  insertAnnotations,
  manyAnnotations,
  manyAnnotationsToChange,
  oneAnnotation,
  type SetPlace,
  updateAnnotations,
} from "../../db/annotation.ts";
import { lockDraft, oneAnnotationSet } from "../../db/annotation-set.ts";
import { eachAnnotationText, manyAnnotationTexts, pageOfAnnotations } from "../../db/annotation-text.ts";
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
import { itemsOf } from "../body/batches.ts";
import { documents, maxDocumentBytes } from "../body/documents.ts";
import { etagOf, etagOfSet, isUnchanged } from "../conditional.ts";
import { type Call, defineRoute, type Reply } from "../route.ts";
import { jsonArray, viewOf } from "../view.ts";
import { annotationQuotaOf, changesDraft, guardSet, type InSet, inSet, placeOf } from "./annotation-set.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations";
const params = inSet.extend({ annotation_id: id("Id of the annotation") });

/** Header of responses to writes: the new ETag of the set, so that an editor does not have to read the set again. */
export const setEtagHeader = "X-Annotation-Set-ETag";

export const viewAnnotation = viewOf(annotation);

const create = defineRoute("POST", base, {
  operationId: "createAnnotation",
  summary: "Add an annotation to a draft",
  params: inSet,
  body: createAnnotationBody,
  answer: { status: 201, description: "The annotation", schema: annotation },
  ...changesDraft,
  // As the database returns it, which orders the members of extra data: its ETag is that of later responses.
  handler: async (call) => replyOne(call, await insert(call, [call.body], () => ["body"], manyAnnotations)),
  idempotent: async (call, ids) => replyOne(call, await readCreated(call, ids)),
});

const createBulk = defineRoute("POST", `${base}/bulk`, {
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
  ...changesDraft,
  handler: async (call) => {
    const { rows, revision } = await insert(call, await itemsOf(call.body), locInBulk);
    return { created: rows.map((row) => row.id), ...replyMany(call, revision, rows, jsonOf) };
  },
  idempotent: async (call, ids) => {
    const place = placeOf(call);
    const { revision } = await oneAnnotationSet(call.deps.db, place);
    const texts = await manyAnnotationTexts(call.deps.db, place, ids);
    return { created: ids, ...replyMany(call, revision, texts, (text) => text) };
  },
});

/** Annotations that were written, and the revision of their set after that. */
interface Written {
  readonly rows: readonly AnnotationRow[];
  readonly revision: number;
}

const locInBulk = (i: number) => ["body", "annotations", i];

/**
 * The ETag belongs to the resource in Location: the annotation here, the list of the set's annotations in replyMany.
 */
function replyOne(call: Call<InSet>, { rows, revision }: Written): Reply {
  const body = viewAnnotation(rows[0]!);
  return {
    created: [body.id],
    etag: etagOf(body),
    headers: { [setEtagHeader]: etagOfSet(revision) },
    location: `${locationOf(call)}/${body.id}`,
    body,
  };
}

const jsonOf = (row: AnnotationRow) => JSON.stringify(viewAnnotation(row));

function replyMany<T>(
  call: Call<InSet>,
  revision: number,
  annotations: readonly T[],
  textOf: (annotation: T) => string,
): Reply {
  return {
    etag: etagOfSet(revision),
    headers: { [setEtagHeader]: etagOfSet(revision) },
    location: locationOf(call),
    stream: listOf(annotations, textOf),
  };
}

/** Annotations that are serialized at once: a millisecond at most. */
const annotationsPerPiece = 20;

/** Yields the list as JSON. Between two pieces the event loop serves other requests. */
async function* listOf<T>(annotations: readonly T[], textOf: (annotation: T) => string) {
  for (let i = 0; i < annotations.length; i += annotationsPerPiece) {
    if (i > 0) await setImmediate();
    const items = annotations
      .slice(i, i + annotationsPerPiece)
      .map(textOf)
      .join(",");
    yield `${i === 0 ? '{"items":[' : ","}${items}`;
  }
  yield `],"total":${annotations.length}}`;
}

async function readCreated(call: Call<InSet>, ids: readonly string[]): Promise<Written> {
  const place = placeOf(call);
  const { revision } = await oneAnnotationSet(call.deps.db, place);
  return { rows: await manyAnnotations(call.deps.db, place, ids), revision };
}

/** `find` reads the added annotations; by default they are as they were given. */
async function insert(
  call: Call<InSet>,
  annotations: readonly NewAnnotation[],
  locOf: (index: number) => (string | number)[],
  find?: typeof manyAnnotations,
): Promise<Written> {
  const place = placeOf(call);
  return await call.deps.db.transaction(async (tx) => {
    const check = () => requireValidAnnotations(tx, place, annotations, locOf);
    const quota = annotationQuotaOf(call.deps);
    const revision = await lockDraft(tx, place, { adding: annotations.length, quota, check });
    await check();
    const added = await insertAnnotations(tx, place, annotations);
    const ids = added.map((row) => row.id);
    return { rows: (await find?.(tx, place, ids)) ?? added, revision };
  });
}

const list = defineRoute("GET", base, {
  operationId: "listAnnotations",
  summary: "List annotations by audio file, start and id",
  description:
    "Returns a bare array. The header X-Total-Count has the number of matching annotations. Without page and page_size, the response has all of them.",
  params: inSet,
  query: listAnnotationsQuery,
  conditional: true,
  answer: { status: 200, description: "The annotations", schema: z.array(annotation) },
  handler: async (call) => {
    const { query, request, deps } = call;
    const place = placeOf(call);
    const set = await oneAnnotationSet(deps.db, place);
    const etag = etagOfSet(set.revision);
    if (isUnchanged(request.headers["if-none-match"], etag)) return { etag };
    const { page, page_size, ...filter } = query;
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    const total = isFiltered ? await countAnnotations(deps.db, place, filter) : set.total_annotations;
    const headers = { "X-Total-Count": String(total) };
    if (page === undefined && page_size === undefined)
      return { headers, etag, stream: jsonArray(eachAnnotationText(deps.db, place, filter)) };
    const wanted = { page: page ?? 1, page_size: page_size ?? 20 };
    return { headers, etag, body: `[${await pageOfAnnotations(deps.db, place, filter, wanted)}]` };
  },
});

const read = defineRoute("GET", `${base}/{annotation_id}`, {
  operationId: "getAnnotation",
  summary: "Read an annotation",
  params,
  conditional: true,
  answer: { status: 200, description: "The annotation", schema: annotation },
  handler: async (call) => {
    const { params, deps } = call;
    const place = placeOf(call);
    await oneAnnotationSet(deps.db, place);
    return { body: viewAnnotation(await oneAnnotation(deps.db, place, params.annotation_id)) };
  },
});

const update = defineRoute("PATCH", `${base}/{annotation_id}`, {
  operationId: "updateAnnotation",
  summary: "Change an annotation of a draft",
  params,
  body: updateAnnotationBody,
  answer: { status: 200, description: "The annotation", schema: annotation },
  ...changesDraft,
  guard: guardOne,
  handler: async (call) => {
    const change = new Map([[call.params.annotation_id, call.body]]);
    const { found, revision } = await changeAnnotations(call, change, () => ["body"], manyAnnotations);
    return { headers: { [setEtagHeader]: etagOfSet(revision) }, body: viewAnnotation(found[0]!) };
  },
});

const updateBulk = defineRoute("PATCH", `${base}/bulk`, {
  operationId: "updateAnnotations",
  summary: "Change up to 1000 annotations of a draft, all or none",
  params: inSet,
  body: documents.annotationChanges,
  reads: "all",
  maxBodyBytes: maxDocumentBytes,
  answer: {
    status: 200,
    description: "The annotations, in the order of the request",
    schema: bulkAnnotations,
  },
  ...changesDraft,
  handler: async (call) => {
    const changes = new Map((await itemsOf(call.body)).map(({ id, ...change }) => [id, change]));
    const { found, revision } = await changeAnnotations(call, changes, locInBulk, manyAnnotationTexts);
    return replyMany(call, revision, found, (text) => text);
  },
});

/** `find` reads the changed annotations. */
async function changeAnnotations<T>(
  call: Call<InSet>,
  changes: ReadonlyMap<string, AnnotationChange>,
  locOf: (index: number) => (string | number)[],
  find: (tx: Db, place: SetPlace, ids: readonly string[]) => Promise<readonly T[]>,
): Promise<{ found: readonly T[]; revision: number }> {
  const place = placeOf(call);
  return await call.deps.db.transaction(async (tx) => {
    const [ids, sent] = [[...changes.keys()], [...changes.values()]];
    const check = async () => {
      const present = await manyAnnotationsToChange(tx, place, ids);
      const changed = present.map((row, i) => ({ ...row, ...withoutAbsent(sent[i]!) }));
      await requireValidAnnotations(tx, place, changed, locOf, sent);
      return changed;
    };
    const revision = await lockDraft(tx, place, { check });
    const changed = await check();
    await updateAnnotations(tx, place, changed);
    return { found: await find(tx, place, ids), revision };
  });
}

const remove = defineRoute("DELETE", `${base}/{annotation_id}`, {
  operationId: "deleteAnnotation",
  summary: "Delete an annotation of a draft",
  params,
  answer: { status: 204, description: "The annotation is deleted" },
  ...changesDraft,
  guard: guardOne,
  handler: async (call) => {
    const { revision } = await deleteFrom(call, [call.params.annotation_id], 1);
    return { headers: { [setEtagHeader]: etagOfSet(revision) } };
  },
});

const removeBulk = defineRoute("POST", `${base}/bulk/delete`, {
  operationId: "deleteAnnotations",
  summary: "Delete up to 1000 annotations of a draft",
  params: inSet,
  body: deleteAnnotationsBody,
  answer: { status: 200, description: "How many were deleted", schema: deletedAnnotations },
  ...changesDraft,
  handler: async (call) => {
    const { deleted, revision } = await deleteFrom(call, call.body.ids);
    return { headers: { [setEtagHeader]: etagOfSet(revision) }, body: { deleted } };
  },
});

async function deleteFrom(call: Call<InSet>, ids: readonly string[], atLeast = 0) {
  const place = placeOf(call);
  return await call.deps.db.transaction(async (tx) => {
    const check = atLeast === 0 ? undefined : () => manyAnnotations(tx, place, ids);
    const revision = await lockDraft(tx, place, { check });
    const deleted = await deleteAnnotations(tx, place, ids);
    if (deleted < atLeast) throw annotationNotFound();
    return { revision, deleted };
  });
}

/**
 * Current ETags for If-Match of a change: the ETag of the set, or only that of the annotation, for clients that allow
 * others to change the rest of the set.
 */
async function guardOne(call: Call<z.infer<typeof params>>): Promise<string[]> {
  const set = await guardSet(call);
  const row = await oneAnnotation(call.deps.db, placeOf(call), call.params.annotation_id);
  return [...set, etagOf(viewAnnotation(row))];
}

const locationOf = ({ params }: Call<InSet>) =>
  `/api/v1/datasets/${params.dataset_id}/annotation-sets/${params.annotation_set_id}/annotations`;

function withoutAbsent<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export const routes = [create, createBulk, updateBulk, removeBulk, list, read, update, remove];
