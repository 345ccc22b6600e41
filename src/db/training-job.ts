// Training jobs as REST clients see them: created after a check of their preconditions, listed, cancelled, retried,
// deleted. job.ts and ingest.ts write their progress on Kubernetes. Called by src/api and, for adoption, by
// controllers.
import { sql } from "slonik";
import { z } from "zod";
import {
  annotationSetNotFound,
  jobFinished,
  jobNotFinished,
  preconditionsFailed,
  trainingJobNotFound,
  validationFailed,
  valueError,
} from "../errors.ts";
import { isTerminal } from "../schemas/job.ts";
import { trainingJobConfig } from "../schemas/training-config.ts";
import { type listTrainingJobsQuery, trainingJob } from "../schemas/training-job.ts";
import { oneDatasetForShare } from "./dataset.ts";
import { anyObject, columnsOf, jsonTextOf, rowOf } from "./driver/fields.ts";
import { newId } from "./driver/id.ts";
import { type Db, fits, type ListRequest, selectTextPage, type TextPage } from "./driver/page.ts";
import { insertJobEvent } from "./job-event.ts";
import {
  creationEvent,
  isBelowWaitingQuota,
  type JobRequest,
  plainJobRequest,
  requireWaitingQuota,
  settingsJson,
  submittedAt,
  waitingQuotaExceeded,
} from "./quota.ts";
import {
  checkAudio,
  configWarning,
  failedPreconditions,
  labelWarning,
  type NewJob,
} from "./training-preconditions.ts";

const row = rowOf(trainingJob, { metrics: anyObject.nullable() });
export type TrainingJobRow = z.infer<typeof row>;

const columns = columnsOf(row);
const item = jsonTextOf(trainingJob);

/** Returns one page of the tenant's jobs, newest first, as JSON text. */
export async function listTrainingJobs(
  db: Db,
  tenantId: string,
  query: ListRequest<typeof listTrainingJobsQuery>,
): Promise<TextPage> {
  const { status, dataset_id } = query;
  const from = sql.fragment`training_jobs where ${fits({ tenant_id: tenantId, status, dataset_id })}`;
  // A trigger maintains the number of all jobs (migration 0012).
  const all = sql.fragment`select coalesce(sum(training_jobs), 0)::bigint from tenant_usage where tenant_id = ${tenantId}`;
  const total = (status ?? dataset_id) === undefined ? all : undefined;
  return await selectTextPage(db, item, { columns, from, total }, query);
}

/** Returns the job; rejects with trainingJobNotFound. `lock`: a locking clause. */
export const oneTrainingJob = (db: Db, tenantId: string, id: string, lock = sql.fragment``) =>
  db.expecting(trainingJobNotFound).one(sql.type(row)`
    select ${columns} from training_jobs where tenant_id = ${tenantId} and id = ${id} ${lock}`);

/** Returns the job, locked until the transaction ends. */
export const lockTrainingJob = (tx: Db, tenantId: string, id: string) =>
  oneTrainingJob(tx, tenantId, id, sql.fragment`for update`);

/**
 * Checks the preconditions and adds the job with the list of its files, in one transaction: the job trains on exactly
 * the files that were checked. Checks in this order: that dataset and set exist (datasetNotFound,
 * annotationSetNotFound), artifact types (validationFailed), all preconditions together (preconditionsFailed), the
 * quota (quotaExceeded).
 */
export async function insertTrainingJob(db: Db, tenantId: string, request: NewJob, by = plainJobRequest) {
  // A duplicate type would be two outputs of one model, and would hold out a second file from training.
  const types = [...new Set(request.config.artifact_types)];
  const job = { ...request, config: { ...request.config, artifact_types: types } };
  return await db.transaction(async (tx) => {
    const parents = await lockParents(tx, tenantId, job);
    const known = parents.types;
    const unknown = request.config.artifact_types.flatMap((type, i) =>
      known.includes(type)
        ? []
        : [valueError(["body", "config", "artifact_types", i], "the dataset has no such artifact type")],
    );
    if (unknown.length > 0) throw validationFailed(unknown);
    return await insertChecked(tx, tenantId, job, parents, by, ...creationEvent(by));
  });
}

/** Adds a job with the configuration and set of one that failed or was cancelled; checks all preconditions again. */
export async function retryTrainingJob(db: Db, tenantId: string, id: string, by = plainJobRequest) {
  return await db.transaction(async (tx) => {
    const old = await oneTrainingJob(tx, tenantId, id, sql.fragment`for share`);
    if (old.status === "completed") throw jobFinished(old.status);
    if (old.status !== "failed" && old.status !== "cancelled") throw jobNotFinished(old.status);
    const job = { ...old, config: trainingJobConfig.parse(old.config) };
    const parents = await lockParents(tx, tenantId, job);
    return await insertChecked(tx, tenantId, job, parents, by, "The job was created again", { retry_of: id });
  });
}

/** Returns the name and types of the dataset, and the set; locks both against deletion until the transaction ends. */
async function lockParents(tx: Db, tenantId: string, job: NewJob) {
  // Lock order everywhere: the set, then the dataset. Otherwise a new job and the deletion of its dataset would
  // deadlock.
  const set = await tx.maybeOne(sql.type(z.object({ status: z.string(), version: z.number() }))`
    select status, version from annotation_sets
    where tenant_id = ${tenantId} and dataset_id = ${job.dataset_id} and id = ${job.annotation_set_id} for share`);
  const dataset = await oneDatasetForShare(tx, tenantId, job.dataset_id);
  if (set === null) throw annotationSetNotFound();
  return { name: dataset.name, types: dataset.artifact_types.map((type) => type.name), set };
}

async function insertChecked(
  tx: Db,
  tenantId: string,
  job: NewJob,
  { name, set }: Awaited<ReturnType<typeof lockParents>>,
  by: JobRequest,
  message: string,
  data: Readonly<Record<string, string>> = {},
): Promise<TrainingJobRow> {
  const { maxWaiting, traceparent, installation, resource } = by;
  const failed = await failedPreconditions(tx, tenantId, job, set.status);
  if (failed.length > 0) throw preconditionsFailed(failed);
  const id = resource?.uid ?? by.id ?? newId();
  const warnings = [configWarning(job.config), await labelWarning(tx, tenantId, job)].filter(
    (warning) => warning !== null,
  );
  const created = await tx
    .expecting(() => waitingQuotaExceeded("training", maxWaiting))
    .one(sql.type(row)`
    insert into training_jobs (id, tenant_id, installation, dataset_id, annotation_set_id, dataset_name,
      annotation_set_version, config, status_message, traceparent, resource_name, submitted_at, settings)
    select ${id}, ${tenantId}, ${installation}, ${job.dataset_id}, ${job.annotation_set_id}, ${name}, ${set.version},
      ${sql.jsonb(job.config)}, ${warnings.length === 0 ? null : warnings.join("; ")}, ${traceparent},
      ${resource?.name ?? null}::text, ${submittedAt(resource)},
      coalesce(${settingsJson(by)}, (
        select settings from training_jobs where tenant_id = ${tenantId} and id = ${data.retry_of ?? null}))
    where ${isBelowWaitingQuota("training_jobs", tenantId, maxWaiting)}
    returning ${columns}`);
  // Again, because a file may have got its embedding since.
  const failedSince = await checkAudio(tx, tenantId, job.dataset_id, id);
  if (failedSince.length > 0) throw preconditionsFailed(failedSince);
  await insertJobEvent(tx, tenantId, { kind: "training", id, message, data });
  for (const warning of warnings)
    await insertJobEvent(tx, tenantId, { kind: "training", id, level: "warning", message: warning });
  await requireWaitingQuota(tx, "training", tenantId, maxWaiting);
  return created;
}

/** Requests the cancellation of a job. Idempotent. Rejects with jobFinished when the job has completed or failed. */
export async function cancelTrainingJob(db: Db, tenantId: string, id: string): Promise<TrainingJobRow> {
  return await db.transaction(async (tx) => {
    const changed = await tx.maybeOne(sql.type(row)`
      update training_jobs set status = 'cancelling', cancel_requested_at = now(),
        status_message = 'Cancellation was requested'
      where tenant_id = ${tenantId} and id = ${id} and status in ('pending', 'queued', 'running')
      returning ${columns}`);
    if (changed !== null) {
      await insertJobEvent(tx, tenantId, { kind: "training", id, message: "Cancellation was requested" });
      return changed;
    }
    const job = await oneTrainingJob(tx, tenantId, id);
    if (job.status === "completed" || job.status === "failed") throw jobFinished(job.status);
    return job;
  });
}

const point = z.object({ name: z.string(), step: z.number(), value: z.number() });

/** Returns the points of all training curves, by name and step. */
export const trainingPoints = (db: Db, tenantId: string, id: string) =>
  db.any(sql.type(point)`
    select name, step, value from training_metrics
    where tenant_id = ${tenantId} and training_job_id = ${id} order by name, step`);

/** Deletes a job that has ended, with its curves and events; its model stays. Rejects with jobNotFinished. */
export async function deleteTrainingJob(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { status } = await lockTrainingJob(tx, tenantId, id);
    if (!isTerminal(status)) throw jobNotFinished(status);
    await tx.query(sql.fragment`delete from training_jobs where tenant_id = ${tenantId} and id = ${id}`);
  });
}
