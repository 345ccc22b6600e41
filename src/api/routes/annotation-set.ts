// /api/v1/datasets/{dataset_id}/annotation-sets: drafts and publishing.
import { z } from "zod";
import type { SetPlace } from "../../db/annotation.ts";
import {
  type AnnotationSetRow,
  deleteAnnotationSet,
  insertAnnotationSet,
  listAnnotationSets,
  lockAnnotationSet,
  oneAnnotationSet,
  publishAnnotationSet,
} from "../../db/annotation-set.ts";
import { eachAnnotationText } from "../../db/annotation-text.ts";
import { requireDataset } from "../../db/dataset.ts";
import type { AnnotationQuota } from "../../db/quota.ts";
import {
  annotationSet,
  annotationSetDetail,
  createAnnotationSetBody,
  listAnnotationSetsQuery,
} from "../../schemas/annotation-set.ts";
import { id, listOf } from "../../schemas/rest.ts";
import { etagOfSet } from "../conditional.ts";
import { type Call, defineRoute, type HandlerDeps } from "../route.ts";
import { jsonArray, listReply, viewAnnotationSet } from "../view.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets";
const inDataset = z.object({ dataset_id: id("Id of the dataset") });
export const inSet = inDataset.extend({ annotation_set_id: id("Id of the annotation set") });
export type InSet = z.infer<typeof inSet>;

export const placeOf = ({ tenantId, params }: Call<InSet>): SetPlace => ({
  tenantId,
  datasetId: params.dataset_id,
  setId: params.annotation_set_id,
});

/** For routes that change a draft. */
export const changesDraft = {
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardSet,
};

/** Returns the quotas of annotations and annotation sets. */
export const annotationQuotaOf = ({ config }: HandlerDeps): AnnotationQuota => ({
  perSet: config.PLOSIVE_QUOTA_ANNOTATIONS,
  perTenant: config.PLOSIVE_QUOTA_ACCOUNT_ANNOTATIONS,
  sets: config.PLOSIVE_QUOTA_ANNOTATION_SETS,
});

const create = defineRoute("POST", base, {
  operationId: "createAnnotationSet",
  summary: "Create a draft, empty or with a copy of another set's annotations",
  description:
    "More than 10,000 annotations and reviewed files are copied after the response; the member `copying` shows the progress. Until the copy is complete, neither the new draft nor a source that is a draft can be changed. Deleting the new draft ends the copy.",
  params: inDataset,
  body: createAnnotationSetBody,
  bodyOptional: true,
  reads: "all",
  answer: { status: 201, description: "The draft", schema: annotationSet },
  conflicts: ["annotation_set_copying"],
  handler: async ({ params, body, tenantId, deps }) => {
    const fromId = body.from_annotation_set_id ?? null;
    return created(
      await insertAnnotationSet(deps.db, tenantId, params.dataset_id, fromId, annotationQuotaOf(deps)),
    );
  },
  idempotent: async ({ params, tenantId, deps }, [setId = ""]) =>
    created(await oneAnnotationSet(deps.db, { tenantId, datasetId: params.dataset_id, setId })),
});

/** The reply to a request that has created the set. */
export function created(row: AnnotationSetRow) {
  return {
    created: [row.id],
    etag: etagOfSet(row.revision),
    location: `/api/v1/datasets/${row.dataset_id}/annotation-sets/${row.id}`,
    body: viewAnnotationSet(row),
  };
}

const list = defineRoute("GET", base, {
  operationId: "listAnnotationSets",
  summary: "List the annotation sets of a dataset",
  params: inDataset,
  query: listAnnotationSetsQuery,
  answer: { status: 200, description: "One page", schema: listOf(annotationSet) },
  handler: async ({ params, query, tenantId, deps }) => {
    await requireDataset(deps.db, tenantId, params.dataset_id);
    const page = await listAnnotationSets(deps.db, tenantId, params.dataset_id, query);
    return listReply(page, query, viewAnnotationSet);
  },
});

const read = defineRoute("GET", `${base}/{annotation_set_id}`, {
  operationId: "getAnnotationSet",
  summary: "Read an annotation set with all its annotations",
  params: inSet,
  conditional: true,
  answer: { status: 200, description: "The set and its annotations", schema: annotationSetDetail },
  handler: async (call) => {
    const place = placeOf(call);
    const row = await oneAnnotationSet(call.deps.db, place);
    const head = JSON.stringify(viewAnnotationSet(row)).slice(0, -1);
    const stream = withAnnotations(head, jsonArray(eachAnnotationText(call.deps.db, place)));
    return { etag: etagOfSet(row.revision), stream };
  },
});

/** Adds the array as one more member to the JSON of the set, which comes without its closing brace. */
async function* withAnnotations(head: string, array: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${head},"annotations":`;
  yield* array;
  yield "}";
}

const publish = defineRoute("POST", `${base}/{annotation_set_id}/publish`, {
  operationId: "publishAnnotationSet",
  summary: "Publish a draft; the set never changes again, and training may use it",
  description:
    "A label that extends beyond the decoded end of its file is published unchanged, and truncated for training.",
  params: inSet,
  answer: { status: 200, description: "The published set", schema: annotationSet },
  ...changesDraft,
  handler: async (call) => published(await publishAnnotationSet(call.deps.db, placeOf(call))),
  idempotent: async (call) => published(await oneAnnotationSet(call.deps.db, placeOf(call))),
});

function published(row: AnnotationSetRow) {
  return { etag: etagOfSet(row.revision), body: viewAnnotationSet(row) };
}

const remove = defineRoute("DELETE", `${base}/{annotation_set_id}`, {
  operationId: "deleteAnnotationSet",
  summary: "Delete a draft",
  params: inSet,
  reads: "all",
  answer: { status: 204, description: "The draft is deleted" },
  ...changesDraft,
  handler: (call) => deleteAnnotationSet(call.deps.db, placeOf(call)),
});

/** Current ETags for If-Match: the ETag of the set. The list of its annotations has the same one. */
export async function guardSet(call: Call<InSet>): Promise<string[]> {
  return [etagOfSet(await lockAnnotationSet(call.deps.db, placeOf(call)))];
}

export const routes = [create, list, read, publish, remove];
