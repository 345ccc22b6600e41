// /api/v1/inference-jobs. A job that is created with files or a dataset starts at once.
// Other jobs wait for uploads and for the request to start.
import { z } from "zod";
import { listDetections } from "../../db/detection.ts";
import {
  type InferenceJobRow,
  insertInferenceJob,
  listInferenceJobs,
  lockInferenceJob,
  oneInferenceJob,
  startInferenceJob,
} from "../../db/inference-job.ts";
import { cancelInferenceJob, deleteInferenceJob, retryInferenceJob } from "../../db/inference-job-end.ts";
import { listJobEvents } from "../../db/job-event.ts";
import { detectionRecord, listDetectionsQuery } from "../../schemas/detection.ts";
import { waitQuery } from "../../schemas/event.ts";
import {
  createInferenceJobBody,
  effectiveConfig,
  inferenceJob,
  listInferenceJobsQuery,
} from "../../schemas/inference-job.ts";
import { isTerminal, jobEvent } from "../../schemas/job.ts";
import { id, listOf, pageQuery } from "../../schemas/rest.ts";
import { etagOf } from "../conditional.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "../route.ts";
import { listReply, viewDetection, viewJobEvent, viewOf } from "../view.ts";
import { replyAfterChange } from "../wait.ts";

const base = "/api/v1/inference-jobs";
export const jobParams = z.object({ inference_job_id: id("Id of the inference job") });

const viewInferenceJob = viewOf(inferenceJob);

const create = defineRoute("POST", base, {
  operationId: "createInferenceJob",
  summary: "Create an inference job: find artifacts in audio with a model",
  description:
    "With audio files or a dataset the job starts at once. Without them it waits for uploads and for its start; after seven days without a start it is cancelled.",
  body: createInferenceJobBody,
  reads: "all",
  answer: { status: 201, description: "The job", schema: inferenceJob },
  conflicts: ["model_inactive", "audio_not_ready", "no_files"],
  handler: async (call) => {
    const { body, tenantId, deps } = call;
    const job = {
      modelId: body.model_id,
      config: effectiveConfig(body.config),
      audioFileIds: body.audio_file_ids ?? null,
      datasetId: body.dataset_id ?? null,
    };
    return created(deps, await insertInferenceJob(deps.db, tenantId, job, requestOf(call)));
  },
  idempotent: async ({ tenantId, deps }, [id = ""]) =>
    created(deps, await oneInferenceJob(deps.db, tenantId, id)),
});

const requestOf = ({ deps, request }: Pick<Call, "deps" | "request">) => ({
  maxWaiting: deps.config.PLOSIVE_QUOTA_WAITING_INFERENCES,
  maxFiles: deps.config.PLOSIVE_QUOTA_INFERENCE_FILES,
  traceparent: request.traceparent,
  installation: deps.config.PLOSIVE_INSTALLATION,
});

function created(deps: HandlerDeps, row: InferenceJobRow): Reply {
  submitStarted(deps, row);
  return { created: [row.id], location: `${base}/${row.id}`, body: viewInferenceJob(row) };
}

const list = defineRoute("GET", base, {
  operationId: "listInferenceJobs",
  summary: "List the inference jobs",
  query: listInferenceJobsQuery,
  reads: "all",
  answer: { status: 200, description: "One page", schema: listOf(inferenceJob) },
  handler: async ({ query, tenantId, deps }) =>
    listReply(await listInferenceJobs(deps.db, tenantId, query), query, viewInferenceJob),
});

const read = defineRoute("GET", `${base}/{inference_job_id}`, {
  operationId: "getInferenceJob",
  summary: "Read an inference job",
  params: jobParams,
  query: waitQuery,
  conditional: true,
  answer: { status: 200, description: "The job", schema: inferenceJob },
  handler: (call) => replyAfterChange(call, call.params.inference_job_id, oneInferenceJob, viewInferenceJob),
});

const start = defineRoute("POST", `${base}/{inference_job_id}/start`, {
  operationId: "startInferenceJob",
  summary: "Start a job with its uploaded files",
  params: jobParams,
  answer: { status: 200, description: "The job", schema: inferenceJob },
  conflicts: ["no_files", "job_finished", "model_inactive"],
  handler: async ({ params, tenantId, deps }) => {
    const row = await startInferenceJob(deps.db, tenantId, params.inference_job_id);
    submitStarted(deps, row);
    return { body: viewInferenceJob(row) };
  },
});

const cancel = defineRoute("POST", `${base}/{inference_job_id}/cancel`, {
  operationId: "cancelInferenceJob",
  summary: "Cancel an inference job; its detections so far are kept",
  params: jobParams,
  answer: { status: 200, description: "The job", schema: inferenceJob },
  conflicts: ["job_finished"],
  handler: async ({ params, tenantId, deps }) => {
    const row = await cancelInferenceJob(deps.db, tenantId, params.inference_job_id);
    submitStarted(deps, row);
    return { body: viewInferenceJob(row) };
  },
});

const retry = defineRoute("POST", `${base}/{inference_job_id}/retry`, {
  operationId: "retryInferenceJob",
  summary: "Create a new job for the files that failed",
  params: jobParams,
  answer: { status: 201, description: "The new job", schema: inferenceJob },
  reads: "all",
  conflicts: ["job_not_finished", "no_files", "model_inactive", "audio_not_ready"],
  handler: async (call) => {
    const { params, tenantId, deps } = call;
    const row = await retryInferenceJob(deps.db, tenantId, params.inference_job_id, requestOf(call));
    return created(deps, row);
  },
  idempotent: async ({ tenantId, deps }, [id = ""]) =>
    created(deps, await oneInferenceJob(deps.db, tenantId, id)),
});

const remove = defineRoute("DELETE", `${base}/{inference_job_id}`, {
  operationId: "deleteInferenceJob",
  summary: "Delete an ended inference job with its files and detections",
  params: jobParams,
  reads: "all",
  answer: { status: 204, description: "The job is deleted" },
  conflicts: ["job_not_finished", "annotation_set_copying"],
  guard: async ({ params, tenantId, deps }) => [
    etagOf(viewInferenceJob(await lockInferenceJob(deps.db, tenantId, params.inference_job_id))),
  ],
  handler: ({ params, tenantId, deps }) => deleteInferenceJob(deps.db, tenantId, params.inference_job_id),
});

const detections = defineRoute("GET", `${base}/{inference_job_id}/detections`, {
  operationId: "listInferenceJobDetections",
  summary: "List the detections of a job, ordered by file and start, also while it runs",
  params: jobParams,
  query: listDetectionsQuery,
  answer: { status: 200, description: "One page", schema: listOf(detectionRecord) },
  handler: async ({ params, query, tenantId, deps }) => {
    const job = await oneInferenceJob(deps.db, tenantId, params.inference_job_id);
    return listReply(await listDetections(deps.db, tenantId, job.id, query), query, viewDetection);
  },
});

const events = defineRoute("GET", `${base}/{inference_job_id}/events`, {
  operationId: "listInferenceJobEvents",
  summary: "List the events of an inference job, newest first",
  params: jobParams,
  query: z.object(pageQuery),
  answer: { status: 200, description: "One page", schema: listOf(jobEvent) },
  handler: async ({ params, query, tenantId, deps }) => {
    const job = await oneInferenceJob(deps.db, tenantId, params.inference_job_id);
    return listReply(await listJobEvents(deps.db, tenantId, job.id, query), query, viewJobEvent);
  },
});

/**
 * Submits the job in the background. Only a job that has started and not ended has a custom resource to create or
 * update.
 */
function submitStarted(deps: HandlerDeps, row: InferenceJobRow): void {
  if (row.start_requested_at === null || isTerminal(row.status)) return;
  deps.background("submit an inference job", () => deps.submit({ kind: "inference", id: row.id }));
}

export const routes = [create, list, read, start, cancel, retry, remove, detections, events];
