// Inference jobs: created for audio files of datasets or empty, listed, started. Called by src/api and, for adoption,
// by controllers/inference-job.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import {
  audioFileNotFound,
  audioNotReady,
  inferenceJobNotFound,
  jobFinished,
  modelInactive,
  modelNotFound,
  noFiles,
  validationFailed,
  valueError,
} from "../errors.ts";
import { inferenceJob, type listInferenceJobsQuery } from "../schemas/inference-job.ts";
import { isTerminal } from "../schemas/job.ts";
import type { DetectConfig } from "../schemas/worker.ts";
import { requireShards } from "./adoption.ts";
import { oneDatasetForShare, protectDatasetsOf } from "./dataset.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { newId } from "./driver/id.ts";
import { type Db, fits, type ListRequest, type Page, selectPage } from "./driver/page.ts";
import { insertJobEvent } from "./job-event.ts";
import {
  creationEvent,
  isBelowWaitingQuota,
  plainJobRequest,
  requireInferenceFiles,
  requireWaitingQuota,
  settingsJson,
  submittedAt,
  waitingQuotaExceeded,
} from "./quota.ts";

/** Files per shard. Shards are assigned when the job is started and never change. */
const filesPerShard = 200;

export const inferenceJobRow = rowOf(inferenceJob);
export type InferenceJobRow = z.infer<typeof inferenceJobRow>;

export const inferenceJobColumns = columnsOf(inferenceJobRow);

/** Returns one page of the tenant's jobs, newest first. */
export async function listInferenceJobs(
  db: Db,
  tenantId: string,
  query: ListRequest<typeof listInferenceJobsQuery>,
): Promise<Page<InferenceJobRow>> {
  const { status, model_id } = query;
  const from = sql.fragment`inference_jobs where ${fits({ tenant_id: tenantId, status, model_id })}`;
  return await selectPage(db, inferenceJobRow, { columns: inferenceJobColumns, from }, query);
}

/** Returns the job; rejects with inferenceJobNotFound. `lock`: a locking clause. */
export const oneInferenceJob = (db: Db, tenantId: string, id: string, lock = sql.fragment``) =>
  db.expecting(inferenceJobNotFound).one(sql.type(inferenceJobRow)`
    select ${inferenceJobColumns} from inference_jobs where tenant_id = ${tenantId} and id = ${id} ${lock}`);

/** Returns the job, locked until the transaction ends. */
export const lockInferenceJob = (tx: Db, tenantId: string, id: string) =>
  oneInferenceJob(tx, tenantId, id, sql.fragment`for update`);

export interface NewInferenceJob {
  readonly modelId: string;
  readonly config: DetectConfig;
  /** Number of shards; by default as many as the files need. */
  readonly shards?: number;
  /** Without files and dataset the job waits for uploads and for its start. */
  readonly audioFileIds: readonly string[] | null;
  readonly datasetId: string | null;
}

/**
 * Adds a job and, if it has files, starts it. Checks in this order: that model and files exist (modelNotFound,
 * audioFileNotFound, datasetNotFound), the artifact types (validationFailed), the state of model and listed files
 * (modelInactive, audioNotReady), the quota of waiting jobs (quotaExceeded), the files of the dataset (noFiles).
 */
export async function insertInferenceJob(
  db: Db,
  tenantId: string,
  job: NewInferenceJob,
  by = plainJobRequest,
): Promise<InferenceJobRow> {
  return await db.transaction(async (tx) => {
    const model = await tx
      .expecting(modelNotFound)
      .one(sql.type(z.object({ artifact_types: z.array(z.string()), usable: z.boolean() }))`
      select artifact_types, is_active and archived_at is null as usable
      from models where tenant_id = ${tenantId} and id = ${job.modelId} for share`);
    const audio = await sourceFiles(tx, tenantId, job);
    requireTypes(job.config, model.artifact_types);
    if (!model.usable) throw modelInactive("The model is not active");
    if (audio !== null && audio.busy > 0)
      throw audioNotReady(`${audio.busy} of ${audio.count} audio files are not ready`);

    const id = by.resource?.uid ?? by.id ?? newId();
    const made = await tx.query(sql.fragment`
      insert into inference_jobs (id, tenant_id, installation, model_id, config, traceparent, resource_name, submitted_at,
        settings)
      select ${id}, ${tenantId}, ${by.installation}, ${job.modelId}, ${sql.jsonb(job.config)}, ${by.traceparent},
        ${by.resource?.name ?? null}::text, ${submittedAt(by.resource)}, ${settingsJson(by)}
      where ${isBelowWaitingQuota("inference_jobs", tenantId, by.maxWaiting)}`);
    if (made.rowCount === 0) throw waitingQuotaExceeded("inference", by.maxWaiting);
    const [message, data] = creationEvent(by);
    await insertJobEvent(tx, tenantId, { kind: "inference", id, message, data });
    if (audio === null) {
      await requireWaitingQuota(tx, "inference", tenantId, by.maxWaiting);
      return await oneInferenceJob(tx, tenantId, id);
    }
    await requireInferenceFiles(tx, tenantId, by.maxFiles);
    const files = await insertFiles(tx, tenantId, id, audio.rows, job.shards);
    if (files === 0) throw noFiles("The dataset has no audio files that are ready");
    if (job.shards !== undefined) requireShards(job.shards, files);
    const started = await markStarted(tx, tenantId, id, files, job.shards);
    await requireWaitingQuota(tx, "inference", tenantId, by.maxWaiting);
    return started;
  });
}

const counts = z.object({ count: z.number(), busy: z.number() });

/**
 * Returns a query for the files to search, locked against deletion, with the number of those listed by id that are not
 * ready; null when the job waits for separate uploads. A dataset may have 100,000 files: only insertFiles reads them.
 */
async function sourceFiles(
  tx: Db,
  tenantId: string,
  job: NewInferenceJob,
): Promise<(z.infer<typeof counts> & { rows: FragmentSqlToken }) | null> {
  const locked = (columns: FragmentSqlToken, which: FragmentSqlToken) => sql.fragment`
    select ${columns} from audio_files f where tenant_id = ${tenantId} and ${which} order by id for key share`;
  const columns = sql.fragment`id, id as audio_file_id, filename, content_type, size_bytes, checksum_sha256,
    'audio/' || tenant_id || '/' || id as object_key, duration_ms`;
  if (job.datasetId !== null) {
    await oneDatasetForShare(tx, tenantId, job.datasetId);
    const rows = locked(columns, sql.fragment`dataset_id = ${job.datasetId} and status = 'ready'`);
    return { rows, count: 0, busy: 0 };
  }
  if (job.audioFileIds === null) return null;
  const ids = [...new Set(job.audioFileIds.map((id) => id.toLowerCase()))];
  await protectDatasetsOf(tx, tenantId, sql.fragment`select unnest(${sql.array(ids, "uuid")})`);
  const which = sql.fragment`id = any(${sql.array(ids, "uuid")})
    and exists (select from datasets d where d.tenant_id = f.tenant_id and d.id = f.dataset_id)`;
  const found = await tx.one(sql.type(counts)`
    select count(*) as count, count(*) filter (where status <> 'ready') as busy
    from (${locked(sql.fragment`status`, which)}) listed`);
  if (found.count < ids.length) throw audioFileNotFound();
  return { rows: locked(columns, which), ...found };
}

/** Adds the rows of a query to a job, in the order of their ids, with their shards. Returns how many. */
export async function insertFiles(
  tx: Db,
  tenantId: string,
  jobId: string,
  rows: FragmentSqlToken,
  shards?: number,
): Promise<number> {
  const added = await tx.query(sql.fragment`
    with source as materialized (${rows})
    insert into inference_files (id, tenant_id, inference_job_id, audio_file_id, filename, content_type, size_bytes,
      checksum_sha256, object_key, status, duration_ms, shard)
    select gen_random_uuid(), ${tenantId}, ${jobId}, audio_file_id, filename, content_type, size_bytes, checksum_sha256,
      object_key, 'queued', duration_ms, ${shardOf(shards)}
    from (select *, (row_number() over (order by id) - 1)::int as place, count(*) over () as files from source) n`);
  return added.rowCount;
}

function requireTypes(config: DetectConfig, known: readonly string[]): void {
  const wanted = [
    ...(config.artifact_types ?? []).map((type, i) => ({ type, loc: ["artifact_types", i] })),
    ...Object.keys(config.thresholds).map((type) => ({ type, loc: ["thresholds", type] })),
  ];
  const faults = wanted
    .filter(({ type }) => !known.includes(type))
    .map(({ loc }) => valueError(["body", "config", ...loc], "the model has no such artifact type"));
  if (faults.length > 0) throw validationFailed(faults);
}

/** Locks the model against changes until the transaction ends. Rejects with modelInactive if no new job may use it. */
export async function requireUsableModel(tx: Db, tenantId: string, id: string): Promise<void> {
  const usable = await tx.maybeOneFirst(sql.type(z.object({ usable: z.boolean() }))`
    select is_active and archived_at is null as usable
    from models where tenant_id = ${tenantId} and id = ${id} for share`);
  if (usable === null) throw modelInactive("The model has been deleted");
  if (!usable) throw modelInactive("The model is not active");
}

/** Starts the job with its confirmed files. Idempotent. Rejects with jobFinished, modelInactive or noFiles. */
export async function startInferenceJob(db: Db, tenantId: string, id: string): Promise<InferenceJobRow> {
  return await db.transaction(async (tx) => {
    const job = await lockInferenceJob(tx, tenantId, id);
    if (isTerminal(job.status)) throw jobFinished(job.status);
    if (job.start_requested_at !== null) return job;
    await requireUsableModel(tx, tenantId, job.model_id);
    return await startLocked(tx, tenantId, id);
  });
}

/**
 * Starts a locked job with its uploads: cancels files that were not uploaded, and assigns the others to shards.
 */
async function startLocked(tx: Db, tenantId: string, id: string): Promise<InferenceJobRow> {
  await tx.query(sql.fragment`
    update inference_files set status = 'cancelled', error_message = 'The file was not uploaded before the job was started',
      completed_at = now()
    where tenant_id = ${tenantId} and inference_job_id = ${id} and status = 'pending_upload'`);
  const numbered = await tx.query(sql.fragment`
    update inference_files f set shard = ${shardOf()}
    from (
      select id, (row_number() over (order by id) - 1)::int as place, count(*) over () as files from inference_files
      where tenant_id = ${tenantId} and inference_job_id = ${id} and status = 'queued'
    ) n
    where f.tenant_id = ${tenantId} and f.id = n.id`);
  if (numbered.rowCount === 0) throw noFiles("The job has no uploaded and confirmed files");
  return await markStarted(tx, tenantId, id, numbered.rowCount);
}

/** The shard of the file at `place` of `files`, from 0. */
const shardOf = (shards?: number) =>
  shards === undefined
    ? sql.fragment`n.place / ${filesPerShard}::int`
    : sql.fragment`(n.place::bigint * ${shards}::bigint / n.files)::int`;

/** Sets start_requested_at, so that the job can be submitted. Its files have shards. */
export const markStarted = (
  tx: Db,
  tenantId: string,
  id: string,
  files: number,
  shards = Math.ceil(files / filesPerShard),
): Promise<InferenceJobRow> =>
  tx.one(sql.type(inferenceJobRow)`
    update inference_jobs set start_requested_at = now(), total_files = ${files}, shard_count = ${shards}
    where tenant_id = ${tenantId} and id = ${id}
    returning ${inferenceJobColumns}`);
