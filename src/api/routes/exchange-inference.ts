// /api/v1/inference-jobs/{inference_job_id}/export and /to-annotation-set: exports the detections of a job, or copies
// them into a draft that people can correct.
import type { z } from "zod";
import { startCopy } from "../../db/annotation-copy.ts";
import { type AnnotationSetRow, insertAnnotationSet, oneAnnotationSet } from "../../db/annotation-set.ts";
import { addTypes, lockTypes } from "../../db/dataset.ts";
import { summarizeDetections } from "../../db/detection.ts";
import type { Db } from "../../db/driver/page.ts";
import { oneInferenceFile } from "../../db/inference-file.ts";
import { lockInferenceJob, oneInferenceJob } from "../../db/inference-job.ts";
import { maybeOneModelName } from "../../db/model.ts";
import type { AnnotationQuota } from "../../db/quota.ts";
import { artifactTypesMissing, jobNotFinished, noFiles, validationFailed, valueError } from "../../errors.ts";
import { annotationSet } from "../../schemas/annotation-set.ts";
import { inferenceExport, inferenceExportQuery, toAnnotationSetBody } from "../../schemas/exchange.ts";
import { isTerminal } from "../../schemas/job.ts";
import { formats } from "../exchange/formats.ts";
import { detectionRegions } from "../exchange/regions.ts";
import { replyOfExport, stemOf } from "../exchange/send.ts";
import { indexTypes, pickType } from "../exchange/type-index.ts";
import { defineRoute } from "../route.ts";
import { annotationQuotaOf, created } from "./annotation-set.ts";
import { jobParams } from "./inference-job.ts";

const base = "/api/v1/inference-jobs/{inference_job_id}";
const { csv, audacity, webvtt, dcase } = formats;

const exportDetections = defineRoute("GET", `${base}/export`, {
  operationId: "exportDetections",
  summary: "Export the detections of a job, also while it runs",
  description:
    "The formats are the same as for exports of annotation sets. For the labelling tool, detections are predictions, which it shows as suggestions.",
  params: jobParams,
  query: inferenceExportQuery,
  answer: {
    status: 200,
    description: "The detections, ordered by file and start, in the format of the parameter `format`",
    schema: inferenceExport,
    texts: Object.fromEntries(
      [csv, audacity, webvtt, dcase].map(({ contentType, example }) => [contentType, example]),
    ),
  },
  handler: async (call) => {
    const { params, query, tenantId, deps } = call;
    const { format, audio, ...filter } = query;
    const { oneFile } = formats[format];
    if (oneFile && filter.inference_file_id === undefined)
      throw validationFailed([
        valueError(
          ["query", "inference_file_id"],
          `is required for the format ${format}, whose times belong to one file`,
        ),
      ]);
    const job = await oneInferenceJob(deps.db, tenantId, params.inference_job_id);
    const name = oneFile
      ? stemOf((await oneInferenceFile(deps.db, tenantId, job.id, filter.inference_file_id!)).filename)
      : `detections ${job.id}`;
    // A model can be deleted, its detections stay.
    const modelName =
      format === "annotation-tool"
        ? ((await maybeOneModelName(deps.db, tenantId, job.model_id)) ?? job.model_id)
        : undefined;
    const regions = detectionRegions(deps.db, tenantId, job.id, filter);
    return replyOfExport(call, format, { regions, kind: "detection", name, audio, modelName });
  },
});

const toAnnotationSet = defineRoute("POST", `${base}/to-annotation-set`, {
  operationId: "createAnnotationSetFromDetections",
  summary: "Create a draft from the detections, to correct it and to train on it",
  description:
    "Copies the detections in audio files of the dataset, with their confidence. Skips files that were uploaded to the job. More than 10,000 detections are copied after the response; the member `copying` of the draft shows the progress. extra_data.inference_job_id of an annotation is the id of the job.",
  params: jobParams,
  body: toAnnotationSetBody,
  reads: "all",
  answer: { status: 201, description: "The draft", schema: annotationSet },
  conflicts: ["job_not_finished", "no_files", "artifact_types_missing"],
  handler: async ({ params, body, tenantId, deps }) => {
    const quota = annotationQuotaOf(deps);
    const jobId = params.inference_job_id;
    return created(await deps.db.transaction((tx) => makeDraft(tx, tenantId, jobId, body, quota)));
  },
  idempotent: async ({ body, tenantId, deps }, [setId = ""]) =>
    created(await oneAnnotationSet(deps.db, { tenantId, datasetId: body.dataset_id, setId })),
});

async function makeDraft(
  tx: Db,
  tenantId: string,
  jobId: string,
  request: z.output<typeof toAnnotationSetBody>,
  quota: AnnotationQuota,
): Promise<AnnotationSetRow> {
  const job = await lockInferenceJob(tx, tenantId, jobId);
  // An exclusive lock first, because the new set updates the dataset's row. With share locks, two transactions would
  // deadlock.
  const types = indexTypes(await lockTypes(tx, tenantId, request.dataset_id, true), request.create_types);
  if (!isTerminal(job.status)) throw jobNotFinished(job.status);
  const source = { jobId: job.id, datasetId: request.dataset_id, minConfidence: request.min_confidence };
  const found = await summarizeDetections(tx, tenantId, job.id, source);
  if (found.files === 0) throw noFiles("None of the job's files is an audio file of the dataset");
  const missing = found.types.filter((type) => pickType(types, type).name !== type);
  if (missing.length > 0)
    throw artifactTypesMissing(
      `The dataset does not have the artifact types ${missing.join(", ")}; add them, or set create_types to true`,
    );
  if (types.created.length > 0) await addTypes(tx, tenantId, request.dataset_id, types.created);
  const set = await insertAnnotationSet(tx, tenantId, request.dataset_id, null, quota);
  const place = { tenantId, datasetId: request.dataset_id, setId: set.id };
  const from = { inference_job_id: job.id, min_confidence: request.min_confidence };
  await startCopy(tx, place, { ...from, total: found.detections, after: null }, quota);
  return await oneAnnotationSet(tx, place);
}

export const routes = [exportDetections, toAnnotationSet];
