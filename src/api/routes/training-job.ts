// /api/v1/training-jobs. New rows form the outbox, so a response never waits for
// Kubernetes.
import { z } from "zod";
import { listJobEvents } from "../../db/job-event.ts";
import {
  cancelTrainingJob,
  deleteTrainingJob,
  insertTrainingJob,
  listTrainingJobs,
  lockTrainingJob,
  oneTrainingJob,
  retryTrainingJob,
  type TrainingJobRow,
  trainingPoints,
} from "../../db/training-job.ts";
import { waitQuery } from "../../schemas/event.ts";
import { jobEvent } from "../../schemas/job.ts";
import { id, listOf, pageQuery } from "../../schemas/rest.ts";
import {
  createTrainingJobBody,
  listTrainingJobsQuery,
  trainingJob,
  trainingMetrics,
} from "../../schemas/training-job.ts";
import { etagOf } from "../conditional.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "../route.ts";
import { listReply, textListReply, viewJobEvent, viewOf } from "../view.ts";
import { replyAfterChange } from "../wait.ts";

const params = z.object({ training_job_id: id("Id of the training job") });
const trainingConflicts = [
  "annotation_set_not_published",
  "embeddings_not_ready",
  "not_enough_audio",
  "no_annotations",
];

const viewTrainingJob = viewOf(trainingJob);

const create = defineRoute("POST", "/api/v1/training-jobs", {
  operationId: "createTrainingJob",
  summary: "Train a model from a published annotation set",
  body: createTrainingJobBody,
  rate: "trainings",
  reads: "all",
  answer: { status: 201, description: "The job", schema: trainingJob },
  conflicts: trainingConflicts,
  handler: async (call) => {
    const { body, tenantId, deps } = call;
    return created(deps, await insertTrainingJob(deps.db, tenantId, body, requestOf(call)));
  },
  idempotent: async ({ tenantId, deps }, [id = ""]) =>
    created(deps, await oneTrainingJob(deps.db, tenantId, id)),
});

const requestOf = ({ deps, request }: Pick<Call, "deps" | "request">) => ({
  maxWaiting: deps.config.PLOSIVE_QUOTA_WAITING_TRAININGS,
  traceparent: request.traceparent,
  installation: deps.config.PLOSIVE_INSTALLATION,
});

/**
 * Submits the job in the background. A repeated request submits it again, which has no effect unless the first submit
 * was interrupted.
 */
function created(deps: HandlerDeps, row: TrainingJobRow): Reply {
  deps.background("submit a training job", () => deps.submit({ kind: "training", id: row.id }));
  return { created: [row.id], location: `/api/v1/training-jobs/${row.id}`, body: viewTrainingJob(row) };
}

const retry = defineRoute("POST", "/api/v1/training-jobs/{training_job_id}/retry", {
  operationId: "retryTrainingJob",
  summary: "Create a new job from a failed or cancelled one",
  description:
    "The new job has the same configuration and annotation set, and uses the present files. All preconditions are checked again.",
  params,
  rate: "trainings",
  reads: "all",
  answer: { status: 201, description: "The new job", schema: trainingJob },
  conflicts: ["job_finished", "job_not_finished", ...trainingConflicts],
  handler: async (call) => {
    const { params, tenantId, deps } = call;
    return created(deps, await retryTrainingJob(deps.db, tenantId, params.training_job_id, requestOf(call)));
  },
  idempotent: async ({ tenantId, deps }, [id = ""]) =>
    created(deps, await oneTrainingJob(deps.db, tenantId, id)),
});

const list = defineRoute("GET", "/api/v1/training-jobs", {
  operationId: "listTrainingJobs",
  summary: "List the training jobs",
  query: listTrainingJobsQuery,
  answer: { status: 200, description: "One page", schema: listOf(trainingJob) },
  handler: async ({ query, tenantId, deps }) =>
    textListReply(await listTrainingJobs(deps.db, tenantId, query), query),
});

const read = defineRoute("GET", "/api/v1/training-jobs/{training_job_id}", {
  operationId: "getTrainingJob",
  summary: "Read a training job",
  params,
  query: waitQuery,
  conditional: true,
  answer: { status: 200, description: "The job", schema: trainingJob },
  handler: (call) => replyAfterChange(call, call.params.training_job_id, oneTrainingJob, viewTrainingJob),
});

const cancel = defineRoute("POST", "/api/v1/training-jobs/{training_job_id}/cancel", {
  operationId: "cancelTrainingJob",
  summary: "Cancel a training job; a job that is about to end may still complete",
  description:
    "The pods of the job receive the request within a few seconds. Until they have ended, the status is `cancelling`.",
  params,
  answer: { status: 200, description: "The job", schema: trainingJob },
  conflicts: ["job_finished"],
  handler: async ({ params, tenantId, deps }) => {
    const row = await cancelTrainingJob(deps.db, tenantId, params.training_job_id);
    if (row.status === "cancelling")
      deps.background("cancel a training job", () => deps.submit({ kind: "training", id: row.id }));
    return { body: viewTrainingJob(row) };
  },
});

const remove = defineRoute("DELETE", "/api/v1/training-jobs/{training_job_id}", {
  operationId: "deleteTrainingJob",
  summary: "Delete an ended training job; its model is kept",
  params,
  answer: { status: 204, description: "The job is deleted" },
  conflicts: ["job_not_finished"],
  guard: async ({ params, tenantId, deps }) => [
    etagOf(viewTrainingJob(await lockTrainingJob(deps.db, tenantId, params.training_job_id))),
  ],
  handler: ({ params, tenantId, deps }) => deleteTrainingJob(deps.db, tenantId, params.training_job_id),
});

const events = defineRoute("GET", "/api/v1/training-jobs/{training_job_id}/events", {
  operationId: "listTrainingJobEvents",
  summary: "List the events of a training job, newest first",
  params,
  query: z.object(pageQuery),
  answer: { status: 200, description: "One page", schema: listOf(jobEvent) },
  handler: async ({ params, query, tenantId, deps }) => {
    const job = await oneTrainingJob(deps.db, tenantId, params.training_job_id);
    return listReply(await listJobEvents(deps.db, tenantId, job.id, query), query, viewJobEvent);
  },
});

const metrics = defineRoute("GET", "/api/v1/training-jobs/{training_job_id}/metrics", {
  operationId: "getTrainingJobMetrics",
  summary: "Read the training curves",
  params,
  conditional: true,
  answer: { status: 200, description: "The curves", schema: trainingMetrics },
  handler: async ({ params, tenantId, deps }) => {
    const job = await oneTrainingJob(deps.db, tenantId, params.training_job_id);
    const curves = Map.groupBy(await trainingPoints(deps.db, tenantId, job.id), (point) => point.name);
    const series = [...curves].map(([name, points]) => ({
      name,
      points: points.map((point) => [point.step, point.value]),
    }));
    return { body: { series } };
  },
});

export const routes = [create, list, read, cancel, retry, remove, events, metrics];
