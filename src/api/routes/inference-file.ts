// /api/v1/inference-jobs/{inference_job_id}/files: the files of an inference job. Files are uploaded to a job in the
// same three steps as audio files.
import { listDetections } from "../../db/detection.ts";
import {
  deleteInferenceFile,
  type InferenceFileRow,
  insertInferenceUploads,
  listInferenceFiles,
  manyInferenceFiles,
  markInferenceFileUploaded,
  oneInferenceFile,
  requireIncluded,
} from "../../db/inference-file.ts";
import { lockInferenceJob, oneInferenceJob } from "../../db/inference-job.ts";
import { audioFileNotFound, audioNotReady } from "../../errors.ts";
import { download as downloadSchema } from "../../schemas/audio-file.ts";
import { detectionRecord, listDetectionsQuery } from "../../schemas/detection.ts";
import { inferenceFile, inferenceUpload, listInferenceFilesQuery } from "../../schemas/inference-file.ts";
import { id, listOf } from "../../schemas/rest.ts";
import { inferenceKey } from "../../storage/keys.ts";
import { etagOf } from "../conditional.ts";
import { defineRoute } from "../route.ts";
import { uploadRoutes } from "../upload-routes.ts";
import { listReply, show, viewDetection, viewDownload, viewOf } from "../view.ts";
import { audioQuotaOf } from "./audio-file.ts";
import { jobParams } from "./inference-job.ts";

const base = "/api/v1/inference-jobs/{inference_job_id}/files";
const params = jobParams.extend({ file_id: id("Id of the inference file") });

const viewInferenceFile = viewOf(inferenceFile);

const { createUpload, createUploads, parts, confirm } = uploadRoutes<
  typeof jobParams,
  typeof params,
  InferenceFileRow
>({
  path: base,
  params: jobParams,
  locationOf: ({ inference_job_id }) => `/api/v1/inference-jobs/${inference_job_id}/files`,
  filePath: `${base}/{file_id}`,
  fileParams: params,
  name: "Inference",
  file: "inference_file",
  ticket: inferenceUpload,
  schema: inferenceFile,
  view: viewInferenceFile,
  conflicts: ["job_started", "job_finished"],
  insert: async ({ params: { inference_job_id: jobId }, tenantId, deps }, uploads) => {
    const { PLOSIVE_UPLOAD_LIFETIME_SECONDS: lifetimeSeconds, PLOSIVE_QUOTA_INFERENCE_FILES } = deps.config;
    const quota = { ...audioQuotaOf(deps), maxInferenceFiles: PLOSIVE_QUOTA_INFERENCE_FILES };
    const keyed = uploads.map((upload) => ({ ...upload, object_key: inferenceKey(tenantId, upload.id) }));
    return await insertInferenceUploads(deps.db, tenantId, jobId, keyed, lifetimeSeconds, quota);
  },
  many: ({ params, tenantId, deps }, ids) =>
    manyInferenceFiles(deps.db, tenantId, params.inference_job_id, ids),
  read: ({ params, tenantId, deps }) =>
    oneInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id),
  keyOf: (_, row) => row.object_key,
  markUploaded: ({ params, tenantId, deps }, audio) =>
    markInferenceFileUploaded(deps.db, tenantId, params.inference_job_id, params.file_id, audio),
  requireIncluded: ({ tenantId, deps }, row) => requireIncluded(deps.db, tenantId, row),
});

const list = defineRoute("GET", base, {
  operationId: "listInferenceFiles",
  summary: "List the files of an inference job",
  params: jobParams,
  query: listInferenceFilesQuery,
  reads: "all",
  answer: { status: 200, description: "One page", schema: listOf(inferenceFile) },
  handler: async ({ params, query, tenantId, deps }) => {
    const job = await oneInferenceJob(deps.db, tenantId, params.inference_job_id);
    return listReply(await listInferenceFiles(deps.db, tenantId, job.id, query), query, viewInferenceFile);
  },
});

const read = defineRoute("GET", `${base}/{file_id}`, {
  operationId: "getInferenceFile",
  summary: "Read a file of an inference job",
  params,
  conditional: true,
  answer: { status: 200, description: "The file", schema: inferenceFile },
  handler: ({ params, tenantId, deps }) =>
    show(oneInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id), viewInferenceFile),
});

const download = defineRoute("GET", `${base}/{file_id}/download`, {
  operationId: "downloadInferenceFile",
  summary: "Get a presigned URL of the original bytes",
  params,
  answer: { status: 200, description: "The URL", schema: downloadSchema },
  conflicts: ["audio_not_ready"],
  handler: async ({ params, tenantId, deps }) => {
    const file = await oneInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id);
    if (file.status === "pending_upload")
      throw audioNotReady("The file has not been uploaded and confirmed yet");
    // The bytes of an audio file are deleted with it.
    if (file.audio_file_id !== null && file.dataset_id === null) throw audioFileNotFound();
    const { object_key, filename, size_bytes, checksum_sha256 } = file;
    return { body: await viewDownload(deps, object_key, filename, { size_bytes, checksum_sha256 }) };
  },
});

const remove = defineRoute("DELETE", `${base}/{file_id}`, {
  operationId: "deleteInferenceFile",
  summary: "Remove a file from a job that has not started",
  params,
  answer: { status: 204, description: "The file is removed" },
  conflicts: ["job_started", "job_finished"],
  guard: async ({ params, tenantId, deps }) => {
    const { inference_job_id: jobId, file_id: fileId } = params;
    await lockInferenceJob(deps.db, tenantId, jobId);
    return [etagOf(viewInferenceFile(await oneInferenceFile(deps.db, tenantId, jobId, fileId)))];
  },
  handler: ({ params, tenantId, deps }) =>
    deleteInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id),
});

const detections = defineRoute("GET", `${base}/{file_id}/detections`, {
  operationId: "listInferenceFileDetections",
  summary: "List the detections in one file, ordered by start",
  params,
  query: listDetectionsQuery.omit({ inference_file_id: true }),
  reads: "all",
  answer: { status: 200, description: "One page", schema: listOf(detectionRecord) },
  handler: async ({ params, query, tenantId, deps }) => {
    const file = await oneInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id);
    const filter = { ...query, inference_file_id: file.id };
    const page = await listDetections(deps.db, tenantId, file.inference_job_id, filter);
    return listReply(page, query, viewDetection);
  },
});

export const routes = [createUpload, createUploads, parts, confirm, list, read, download, remove, detections];
