// /api/v1/inference-jobs/{inference_job_id}/files: the files of an inference job. Files are uploaded to a job in the
// same three steps as audio files.
import { z } from "zod";
import { listDetections } from "../../db/detection.ts";
import {
  deleteInferenceFile,
  type InferenceFileRow,
  insertInferenceUploads,
  listInferenceFiles,
  manyInferenceFiles,
  markInferenceFileUploaded,
  oneInferenceFile,
  recordRefusedInferenceUpload,
} from "../../db/inference-file.ts";
import { lockInferenceJob, oneInferenceJob } from "../../db/inference-job.ts";
import { confirmBody, uploadBody } from "../../schemas/audio-file.ts";
import { detectionRecord, listDetectionsQuery } from "../../schemas/detection.ts";
import { inferenceFile, inferenceUpload, listInferenceFilesQuery } from "../../schemas/inference-file.ts";
import { id, listOf } from "../../schemas/rest.ts";
import { inferenceKey } from "../../storage/keys.ts";
import { etagOf } from "../conditional.ts";
import { defineRoute, type HandlerDeps, type Reply } from "../route.ts";
import {
  acceptUpload,
  audioQuotaOf,
  confirmAlone,
  discardUpload,
  signUpload,
  toNewUploads,
  type UploadRequest,
} from "../upload.ts";
import { envelope, viewDetection, viewOf } from "../view.ts";
import { jobParams } from "./inference-job.ts";

const base = "/api/v1/inference-jobs/{inference_job_id}/files";
const params = jobParams.extend({ file_id: id("Id of the inference file") });

const viewInferenceFile = viewOf(inferenceFile);

export const createUpload = defineRoute({
  method: "POST",
  path: `${base}/upload-url`,
  operationId: "createInferenceUpload",
  summary: "Step 1 of 3: request an upload ticket",
  tag: "Inference files",
  params: jobParams,
  body: uploadBody.meta({ id: "CreateUpload" }),
  rate: "uploads",
  answer: { status: 201, description: "The upload ticket", schema: inferenceUpload },
  conflicts: ["job_started", "job_finished"],
  handler: async ({ params, body, tenantId, deps }) => {
    const rows = await announce(deps, tenantId, params.inference_job_id, [body], () => ["body"]);
    return await oneTicket(deps, tenantId, rows);
  },
  idempotent: async ({ params, tenantId, deps }, ids) =>
    await oneTicket(
      deps,
      tenantId,
      await manyInferenceFiles(deps.db, tenantId, params.inference_job_id, ids),
    ),
});

export const createUploads = defineRoute({
  method: "POST",
  path: `${base}/upload-urls`,
  operationId: "createInferenceUploads",
  summary: "Step 1 of 3: request upload tickets for up to 100 files",
  tag: "Inference files",
  params: jobParams,
  body: z.object({ files: z.array(uploadBody).min(1).max(100) }).meta({ id: "CreateUploads" }),
  rate: "uploads",
  answer: {
    status: 201,
    description: "The upload tickets, in the order of the request",
    schema: z.object({ items: z.array(inferenceUpload), total: z.int() }).meta({ id: "InferenceUploads" }),
  },
  conflicts: ["job_started", "job_finished"],
  handler: async ({ params, body, tenantId, deps }) => {
    const jobId = params.inference_job_id;
    const rows = await announce(deps, tenantId, jobId, body.files, (i) => ["body", "files", i]);
    return await allTickets(deps, tenantId, jobId, rows);
  },
  idempotent: async ({ params, tenantId, deps }, ids) => {
    const jobId = params.inference_job_id;
    return await allTickets(deps, tenantId, jobId, await manyInferenceFiles(deps.db, tenantId, jobId, ids));
  },
});

async function announce(
  deps: HandlerDeps,
  tenantId: string,
  jobId: string,
  requests: readonly UploadRequest[],
  locOf: (index: number) => (string | number)[],
) {
  const uploads = toNewUploads(deps, requests, locOf).map((upload) => ({
    ...upload,
    objectKey: inferenceKey(tenantId, upload.id),
  }));
  const lifetimeSeconds = deps.config.PLOSIVE_UPLOAD_LIFETIME_SECONDS;
  return await insertInferenceUploads(deps.db, tenantId, jobId, uploads, lifetimeSeconds, audioQuotaOf(deps));
}

async function oneTicket(
  deps: HandlerDeps,
  tenantId: string,
  rows: readonly InferenceFileRow[],
): Promise<Reply> {
  const row = rows[0]!;
  return {
    created: [row.id],
    location: `/api/v1/inference-jobs/${row.inference_job_id}/files/${row.id}`,
    body: await ticketOf(deps, tenantId, row),
  };
}

async function allTickets(
  deps: HandlerDeps,
  tenantId: string,
  jobId: string,
  rows: readonly InferenceFileRow[],
): Promise<Reply> {
  const items = await Promise.all(rows.map((row) => ticketOf(deps, tenantId, row)));
  return {
    created: rows.map((row) => row.id),
    location: `/api/v1/inference-jobs/${jobId}/files`,
    body: { items, total: items.length },
  };
}

async function ticketOf(deps: HandlerDeps, tenantId: string, row: InferenceFileRow) {
  return {
    inference_file_id: row.id,
    upload: await signUpload(deps, tenantId, {
      id: row.id,
      contentType: row.content_type,
      sizeBytes: row.size_bytes,
      checksumSha256: row.checksum_sha256,
    }),
    max_size_bytes: deps.config.PLOSIVE_UPLOAD_MAX_BYTES,
    inference_file: viewInferenceFile(row),
  };
}

export const confirm = defineRoute({
  method: "POST",
  path: `${base}/{file_id}/confirm`,
  operationId: "confirmInferenceUpload",
  summary: "Step 3 of 3: confirm the upload; the service checks the file",
  tag: "Inference files",
  params,
  body: confirmBody,
  bodyOptional: true,
  answer: { status: 200, description: "The file", schema: inferenceFile },
  conflicts: [
    "upload_not_found",
    "upload_mismatch",
    "unsupported_audio",
    "job_started",
    "job_finished",
    "request_in_progress",
  ],
  handler: async ({ params, body, tenantId, deps }) => {
    const { inference_job_id: jobId, file_id: fileId } = params;
    const known = await oneInferenceFile(deps.db, tenantId, jobId, fileId);
    if (known.status !== "pending_upload") return { body: viewInferenceFile(known) };
    const confirmed = await confirmAlone(deps, tenantId, known.id, async (requireHeld) => {
      const file = await oneInferenceFile(deps.db, tenantId, jobId, fileId);
      if (file.status !== "pending_upload") return file;
      const recordRefusal = (reason: string) =>
        recordRefusedInferenceUpload(deps.db, tenantId, file.id, reason);
      const audio = await acceptUpload(deps, tenantId, file, file.object_key, body.checksum_sha256, {
        requireHeld,
        recordRefusal,
      });
      return await markInferenceFileUploaded(deps.db, tenantId, jobId, fileId, audio);
    });
    discardUpload(deps, tenantId, known.id);
    return { body: viewInferenceFile(confirmed) };
  },
});

export const list = defineRoute({
  method: "GET",
  path: base,
  operationId: "listInferenceFiles",
  summary: "List the files of an inference job",
  tag: "Inference files",
  params: jobParams,
  query: listInferenceFilesQuery,
  answer: { status: 200, description: "One page", schema: listOf(inferenceFile) },
  handler: async ({ params, query, tenantId, deps }) => {
    const job = await oneInferenceJob(deps.db, tenantId, params.inference_job_id);
    return {
      body: envelope(await listInferenceFiles(deps.db, tenantId, job.id, query), query, viewInferenceFile),
    };
  },
});

export const read = defineRoute({
  method: "GET",
  path: `${base}/{file_id}`,
  operationId: "getInferenceFile",
  summary: "Read a file of an inference job",
  tag: "Inference files",
  params,
  conditional: true,
  answer: { status: 200, description: "The file", schema: inferenceFile },
  handler: async ({ params, tenantId, deps }) => ({
    body: viewInferenceFile(
      await oneInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id),
    ),
  }),
});

export const remove = defineRoute({
  method: "DELETE",
  path: `${base}/{file_id}`,
  operationId: "deleteInferenceFile",
  summary: "Remove a file from a job that has not started",
  tag: "Inference files",
  params,
  answer: { status: 204, description: "The file is removed" },
  conflicts: ["job_started", "job_finished"],
  guard: async ({ params, tenantId, deps }) => {
    const { inference_job_id: jobId, file_id: fileId } = params;
    await lockInferenceJob(deps.db, tenantId, jobId);
    return [etagOf(viewInferenceFile(await oneInferenceFile(deps.db, tenantId, jobId, fileId)))];
  },
  handler: async ({ params, tenantId, deps }) => {
    await deleteInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id);
    return {};
  },
});

export const detections = defineRoute({
  method: "GET",
  path: `${base}/{file_id}/detections`,
  operationId: "listInferenceFileDetections",
  summary: "List the detections in one file, ordered by start",
  tag: "Inference files",
  params,
  query: listDetectionsQuery.omit({ inference_file_id: true }),
  answer: { status: 200, description: "One page", schema: listOf(detectionRecord) },
  handler: async ({ params, query, tenantId, deps }) => {
    const file = await oneInferenceFile(deps.db, tenantId, params.inference_job_id, params.file_id);
    const filter = { ...query, inference_file_id: file.id };
    const page = await listDetections(deps.db, tenantId, file.inference_job_id, filter);
    return { body: envelope(page, query, viewDetection) };
  },
});
