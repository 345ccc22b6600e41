// Training jobs as REST clients see them: created with their preconditions checked, listed, cancelled. What happens to
// them on Kubernetes is written by job.ts and ingest.ts of this room.
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
import { isTerminal, type JobState, jobStatuses } from "../schemas/job.ts";
import { type TrainingJobConfig, trainingJobConfig } from "../schemas/training-config.ts";
import { oneDatasetForShare } from "./dataset.ts";
import { newId } from "./id.ts";
import { insertJobEvent } from "./job-event.ts";
import { bare, json, jsonObject, selectTextPage, type TextPage, text, time, word } from "./json-text.ts";
import type { Db, PageRequest } from "./page.ts";
import {
  hasWaitingPlace,
  type JobRequest,
  madeBy,
  plainJobRequest,
  requireWaitingPlace,
  submittedAt,
  tooManyWaiting,
} from "./quota.ts";
import { failedPreconditions, remarkOnConfig, remarkOnLabels } from "./training-preconditions.ts";

const row = z.object({
  id: z.string(),
  tenant_id: z.string(),
  dataset_id: z.string(),
  annotation_set_id: z.string(),
  config: z.record(z.string(), z.unknown()),
  status: z.enum(jobStatuses),
  status_message: z.string().nullable(),
  progress_percent: z.number(),
  metrics: z.record(z.string(), z.unknown()).nullable(),
  error_message: z.string().nullable(),
  platform_job_name: z.string().nullable(),
  created_at: z.number(),
  queued_at: z.number().nullable(),
  started_at: z.number().nullable(),
  completed_at: z.number().nullable(),
});
export type TrainingJobRow = z.infer<typeof row>;

const columns = sql.fragment`id, tenant_id, dataset_id, annotation_set_id, config, status, status_message,
  progress_percent, metrics, error_message, platform_job_name, created_at, queued_at, started_at, completed_at`;

/** As viewTrainingJob of src/api/routes/training-job.ts. */
const item = jsonObject({
  id: word(sql.fragment`id`),
  tenant_id: word(sql.fragment`tenant_id`),
  dataset_id: word(sql.fragment`dataset_id`),
  annotation_set_id: word(sql.fragment`annotation_set_id`),
  config: bare(sql.fragment`config`),
  status: word(sql.fragment`status`),
  status_message: text(sql.fragment`status_message`),
  progress_percent: bare(sql.fragment`progress_percent`),
  metrics: json(sql.fragment`metrics`),
  error_message: text(sql.fragment`error_message`),
  platform_job_name: text(sql.fragment`platform_job_name`),
  created_at: time(sql.fragment`created_at`),
  queued_at: time(sql.fragment`queued_at`),
  started_at: time(sql.fragment`started_at`),
  completed_at: time(sql.fragment`completed_at`),
});

/** One page of the tenant's jobs, newest first, as JSON. */
export async function listTrainingJobs(
  db: Db,
  tenantId: string,
  query: PageRequest & { status?: readonly JobState[]; dataset_id?: string },
): Promise<TextPage> {
  const status =
    query.status === undefined
      ? sql.fragment`true`
      : sql.fragment`status = any(${sql.array([...query.status], "text")})`;
  const dataset =
    query.dataset_id === undefined ? sql.fragment`true` : sql.fragment`dataset_id = ${query.dataset_id}`;
  const from = sql.fragment`training_jobs where tenant_id = ${tenantId} and ${status} and ${dataset}`;
  if (query.status !== undefined || query.dataset_id !== undefined)
    return await selectTextPage(db, { item, columns, from }, query);
  // The number of all of them is kept (migration 0012).
  const total = sql.fragment`select coalesce(sum(training_jobs), 0)::bigint from tenant_usage where tenant_id = ${tenantId}`;
  return await selectTextPage(db, { item, columns, from, total }, query);
}

/** The job, or trainingJobNotFound. */
export async function oneTrainingJob(
  db: Db,
  tenantId: string,
  id: string,
  lock = sql.fragment``,
): Promise<TrainingJobRow> {
  const found = await db.maybeOne(sql.type(row)`
    select ${columns} from training_jobs where tenant_id = ${tenantId} and id = ${id} ${lock}`);
  if (found === null) throw trainingJobNotFound();
  return found;
}

/** The same, locked until the transaction ends. */
export const lockTrainingJob = (tx: Db, tenantId: string, id: string) =>
  oneTrainingJob(tx, tenantId, id, sql.fragment`for update`);

/**
 * Checks the four preconditions and adds the job with the list of the files that it will train on, in one transaction:
 * what was checked is what is trained on. Existence first, then types, then all failed preconditions together.
 */
export async function insertTrainingJob(
  db: Db,
  tenantId: string,
  request: { dataset_id: string; annotation_set_id: string; config: TrainingJobConfig },
  by = plainJobRequest,
): Promise<TrainingJobRow> {
  // A type named twice would be two outputs of one model, and would take a second file away from training.
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
    return await insertChecked(tx, tenantId, job, parents, by, ...madeBy(by));
  });
}

/** A new job with the configuration and the set of one that failed or was cancelled; all is checked again. */
export async function retryTrainingJob(
  db: Db,
  tenantId: string,
  id: string,
  by = plainJobRequest,
): Promise<TrainingJobRow> {
  return await db.transaction(async (tx) => {
    const old = await oneTrainingJob(tx, tenantId, id, sql.fragment`for share`);
    if (old.status === "completed") throw jobFinished(old.status);
    if (old.status !== "failed" && old.status !== "cancelled") throw jobNotFinished(old.status);
    const job = { ...old, config: trainingJobConfig.parse(old.config) };
    const parents = await lockParents(tx, tenantId, job);
    return await insertChecked(tx, tenantId, job, parents, by, "The job was created again", { retry_of: id });
  });
}

interface NewJob {
  readonly dataset_id: string;
  readonly annotation_set_id: string;
  readonly config: TrainingJobConfig;
}

/** What the job needs of its dataset and its set, both locked against deletion until the transaction ends. */
async function lockParents(tx: Db, tenantId: string, job: NewJob) {
  // The set, then the dataset, as all who lock both: otherwise a job and the deletion of its dataset wait for each other.
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
  { maxWaiting, traceparent, resource }: JobRequest,
  message: string,
  data: Readonly<Record<string, string>> = {},
): Promise<TrainingJobRow> {
  const failed = await failedPreconditions(tx, tenantId, job, set.status);
  if (failed.length > 0) throw preconditionsFailed(failed);
  const id = resource?.uid ?? newId();
  const remarks = [remarkOnConfig(job.config), await remarkOnLabels(tx, tenantId, job)].filter(
    (remark) => remark !== null,
  );
  const created = await tx.maybeOne(sql.type(row)`
    insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version,
      config, status_message, traceparent, resource_name, submitted_at)
    select ${id}, ${tenantId}, ${job.dataset_id}, ${job.annotation_set_id}, ${name}, ${set.version},
      ${sql.jsonb(job.config)}, ${remarks.length === 0 ? null : remarks.join("; ")}, ${traceparent},
      ${resource?.name ?? null}::text, ${submittedAt(resource)}
    where ${hasWaitingPlace("training_jobs", tenantId, maxWaiting)}
    returning ${columns}`);
  if (created === null) throw tooManyWaiting("training", maxWaiting);
  await tx.query(sql.type(z.object({}))`
    insert into training_job_files (tenant_id, training_job_id, audio_file_id, duration_ms, embedding_key,
      embedding_sha256, embedding_size_bytes, embedding_model, embedding_spec_hash)
    select tenant_id, ${id}, id, duration_ms, embedding_key, embedding_sha256, embedding_size_bytes, embedding_model,
      embedding_spec_hash
    from audio_files
    where tenant_id = ${tenantId} and dataset_id = ${job.dataset_id}
      and status = 'ready' and embedding_status = 'completed'`);
  await insertJobEvent(tx, tenantId, { kind: "training", id, message, data });
  for (const remark of remarks)
    await insertJobEvent(tx, tenantId, { kind: "training", id, level: "warning", message: remark });
  await requireWaitingPlace(tx, "training", tenantId, maxWaiting);
  return created;
}

/** Asks for the end of a job. Harmless when it is already being cancelled; jobFinished when it is too late. */
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

/** The points of all training curves, by name and step. */
export async function trainingPoints(
  db: Db,
  tenantId: string,
  id: string,
): Promise<readonly z.infer<typeof point>[]> {
  return await db.any(sql.type(point)`
    select name, step, value from training_metrics
    where tenant_id = ${tenantId} and training_job_id = ${id} order by name, step`);
}

/** Deletes a job that has ended, with its curves and events; its model stays. jobNotFinished before that. */
export async function deleteTrainingJob(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { status } = await lockTrainingJob(tx, tenantId, id);
    if (!isTerminal(status)) throw jobNotFinished(status);
    await tx.query(
      sql.type(z.object({}))`delete from training_jobs where tenant_id = ${tenantId} and id = ${id}`,
    );
  });
}
