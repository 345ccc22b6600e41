// Inference jobs as REST clients see them: created on dataset audio or empty, and started.
import { sql } from "slonik";
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
import { isTerminal, type JobState, jobStatuses } from "../schemas/job.ts";
import type { DetectConfig } from "../schemas/worker.ts";
import { requireShards } from "./adoption.ts";
import { keepDataset, keepDatasetsOf } from "./dataset.ts";
import { newId } from "./id.ts";
import { insertJobEvent } from "./job-event.ts";
import { type Db, type Page, type PageRequest, selectPage } from "./page.ts";
import {
  hasWaitingPlace,
  madeBy,
  plainJobRequest,
  requireWaitingPlace,
  submittedAt,
  tooManyWaiting,
} from "./quota.ts";

/** Files for one pod. Fixed when the job is started, so that its shards never change. */
const filesPerShard = 200;

export const inferenceJobRow = z.object({
  id: z.string(),
  tenant_id: z.string(),
  model_id: z.string(),
  config: z.record(z.string(), z.unknown()),
  status: z.enum(jobStatuses),
  status_message: z.string().nullable(),
  progress_percent: z.number(),
  total_files: z.number(),
  processed_files: z.number(),
  failed_files: z.number(),
  total_detections: z.number(),
  error_message: z.string().nullable(),
  platform_job_name: z.string().nullable(),
  start_requested_at: z.number().nullable(),
  created_at: z.number(),
  started_at: z.number().nullable(),
  completed_at: z.number().nullable(),
});
export type InferenceJobRow = z.infer<typeof inferenceJobRow>;

export const inferenceJobColumns = sql.fragment`id, tenant_id, model_id, config, status, status_message, progress_percent, total_files,
  processed_files, failed_files, total_detections, error_message, platform_job_name, start_requested_at, created_at,
  started_at, completed_at`;
const nothing = z.object({});

/** One page of the tenant's jobs, newest first. */
export async function listInferenceJobs(
  db: Db,
  tenantId: string,
  query: PageRequest & { status?: readonly JobState[]; model_id?: string },
): Promise<Page<InferenceJobRow>> {
  const status =
    query.status === undefined
      ? sql.fragment`true`
      : sql.fragment`status = any(${sql.array([...query.status], "text")})`;
  const model =
    query.model_id === undefined ? sql.fragment`true` : sql.fragment`model_id = ${query.model_id}`;
  const from = sql.fragment`inference_jobs where tenant_id = ${tenantId} and ${status} and ${model}`;
  return await selectPage(db, inferenceJobRow, { columns: inferenceJobColumns, from }, query);
}

/** The job, or inferenceJobNotFound. */
export async function oneInferenceJob(
  db: Db,
  tenantId: string,
  id: string,
  lock = sql.fragment``,
): Promise<InferenceJobRow> {
  const found = await db.maybeOne(sql.type(inferenceJobRow)`
    select ${inferenceJobColumns} from inference_jobs where tenant_id = ${tenantId} and id = ${id} ${lock}`);
  if (found === null) throw inferenceJobNotFound();
  return found;
}

/** The same, locked until the transaction ends. */
export const lockInferenceJob = (tx: Db, tenantId: string, id: string) =>
  oneInferenceJob(tx, tenantId, id, sql.fragment`for update`);

export interface NewInferenceJob {
  readonly modelId: string;
  readonly config: DetectConfig;
  /** How many pods' worth of work; by default as many as the files need. */
  readonly shards?: number;
  /** Without files or dataset the job waits for uploads and for its start. */
  readonly audioFileIds: readonly string[] | null;
  readonly datasetId: string | null;
}

/** Existence first, then the types in the configuration, then the state of model and files. */
export async function insertInferenceJob(
  db: Db,
  tenantId: string,
  job: NewInferenceJob,
  by = plainJobRequest,
): Promise<InferenceJobRow> {
  return await db.transaction(async (tx) => {
    const model = await tx.maybeOne(sql.type(
      z.object({ artifact_types: z.array(z.string()), usable: z.boolean() }),
    )`
      select artifact_types, is_active and archived_at is null as usable
      from models where tenant_id = ${tenantId} and id = ${job.modelId} for share`);
    if (model === null) throw modelNotFound();
    const audio = await sourceFiles(tx, tenantId, job);
    requireTypes(job.config, model.artifact_types);
    if (!model.usable) throw modelInactive("The model is not active");
    const busy = audio?.filter((file) => file.status !== "ready").length ?? 0;
    if (busy > 0) throw audioNotReady(`${busy} of ${audio?.length} audio files are not ready`);
    if (audio?.length === 0) throw noFiles("The dataset has no audio files that are ready");
    if (job.shards !== undefined) requireShards(job.shards, audio?.length ?? 0);

    const id = by.resource?.uid ?? newId();
    const made = await tx.query(sql.type(nothing)`
      insert into inference_jobs (id, tenant_id, model_id, config, traceparent, resource_name, submitted_at)
      select ${id}, ${tenantId}, ${job.modelId}, ${sql.jsonb(job.config)}, ${by.traceparent},
        ${by.resource?.name ?? null}::text, ${submittedAt(by.resource)}
      where ${hasWaitingPlace("inference_jobs", tenantId, by.maxWaiting)}`);
    if (made.rowCount === 0) throw tooManyWaiting("inference", by.maxWaiting);
    const [message, data] = madeBy(by);
    await insertJobEvent(tx, tenantId, { kind: "inference", id, message, data });
    if (audio === null) {
      await requireWaitingPlace(tx, "inference", tenantId, by.maxWaiting);
      return await oneInferenceJob(tx, tenantId, id);
    }
    const lines = audio.map((file) => ({ id: newId(), audio_file_id: file.id }));
    await tx.query(sql.type(nothing)`
      insert into inference_files (id, tenant_id, inference_job_id, audio_file_id, filename, content_type, size_bytes,
        checksum_sha256, object_key, status, duration_ms)
      select line.id, ${tenantId}, ${id}, a.id, a.filename, a.content_type, a.size_bytes, a.checksum_sha256,
        'audio/' || a.tenant_id || '/' || a.id, 'queued', a.duration_ms
      from jsonb_to_recordset(${sql.jsonb(lines)}) as line (id uuid, audio_file_id uuid)
      join audio_files a on a.tenant_id = ${tenantId} and a.id = line.audio_file_id`);
    const started = await startLocked(tx, tenantId, id, job.shards);
    await requireWaitingPlace(tx, "inference", tenantId, by.maxWaiting);
    return started;
  });
}

const source = z.object({ id: z.string(), status: z.string() });

/** The audio to search, locked against deletion; null when the job takes uploads of its own. */
async function sourceFiles(
  tx: Db,
  tenantId: string,
  job: NewInferenceJob,
): Promise<readonly z.infer<typeof source>[] | null> {
  if (job.datasetId !== null) {
    await keepDataset(tx, tenantId, job.datasetId);
    return await tx.any(sql.type(source)`
      select id, status from audio_files
      where tenant_id = ${tenantId} and dataset_id = ${job.datasetId} and status = 'ready' order by id for key share`);
  }
  if (job.audioFileIds === null) return null;
  const ids = [...new Set(job.audioFileIds.map((id) => id.toLowerCase()))];
  await keepDatasetsOf(tx, tenantId, ids);
  const found = await tx.any(sql.type(source)`
    select id, status from audio_files
    where tenant_id = ${tenantId} and id = any(${sql.array(ids, "uuid")})
    order by id for key share`);
  if (found.length < ids.length) throw audioFileNotFound();
  return found;
}

function requireTypes(config: DetectConfig, known: readonly string[]): void {
  const fault = (loc: (string | number)[]) =>
    valueError(["body", "config", ...loc], "the model has no such artifact type");
  const faults = [
    ...(config.artifact_types ?? []).flatMap((type, i) =>
      known.includes(type) ? [] : [fault(["artifact_types", i])],
    ),
    ...Object.keys(config.thresholds).flatMap((type) =>
      known.includes(type) ? [] : [fault(["thresholds", type])],
    ),
  ];
  if (faults.length > 0) throw validationFailed(faults);
}

/** Lets the job run with the files that it has. Harmless when it has been started; noFiles when it has none. */
export async function startInferenceJob(db: Db, tenantId: string, id: string): Promise<InferenceJobRow> {
  return await db.transaction(async (tx) => {
    const job = await lockInferenceJob(tx, tenantId, id);
    if (isTerminal(job.status)) throw jobFinished(job.status);
    if (job.start_requested_at !== null) return job;
    return await startLocked(tx, tenantId, id);
  });
}

/** Numbers the shards, leaves behind what was not uploaded, and lets the sweep see the job. */
export async function startLocked(
  tx: Db,
  tenantId: string,
  id: string,
  shards?: number,
): Promise<InferenceJobRow> {
  await tx.query(sql.type(nothing)`
    update inference_files set status = 'cancelled', error_message = 'It was not uploaded before the job was started',
      completed_at = now()
    where tenant_id = ${tenantId} and inference_job_id = ${id} and status = 'pending_upload'`);
  const shard =
    shards === undefined
      ? sql.fragment`n.place / ${filesPerShard}::int`
      : sql.fragment`(n.place::bigint * ${shards}::bigint / n.files)::int`;
  const numbered = await tx.query(sql.type(nothing)`
    update inference_files f set shard = ${shard}
    from (
      select id, (row_number() over (order by id) - 1)::int as place, count(*) over () as files from inference_files
      where tenant_id = ${tenantId} and inference_job_id = ${id} and status = 'queued'
    ) n
    where f.tenant_id = ${tenantId} and f.id = n.id`);
  if (numbered.rowCount === 0) throw noFiles("The job has no uploaded and confirmed files");
  return await tx.one(sql.type(inferenceJobRow)`
    update inference_jobs set start_requested_at = now(), total_files = ${numbered.rowCount},
      shard_count = ${shards ?? Math.ceil(numbered.rowCount / filesPerShard)}
    where tenant_id = ${tenantId} and id = ${id}
    returning ${inferenceJobColumns}`);
}
