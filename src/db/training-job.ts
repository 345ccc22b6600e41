// Training jobs as REST clients see them: created with their preconditions checked, listed, cancelled. What happens to
// them on Kubernetes is written by job.ts and ingest.ts of this room.
import { sql } from "slonik";
import { z } from "zod";
import {
  annotationSetNotFound,
  jobFinished,
  preconditions,
  preconditionsFailed,
  trainingJobNotFound,
  validationFailed,
  valueError,
} from "../errors.ts";
import { type JobState, jobStatuses } from "../schemas/job.ts";
import type { TrainingConfig } from "../schemas/training-config.ts";
import { oneDatasetForShare } from "./dataset.ts";
import { newId } from "./id.ts";
import { insertJobEvent } from "./job-event.ts";
import { type Db, type Page, type PageRequest, selectPage } from "./page.ts";

const minAudioMs = 300_000;

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

/** One page of the tenant's jobs, newest first. */
export async function listTrainingJobs(
  db: Db,
  tenantId: string,
  query: PageRequest & { status?: readonly JobState[]; dataset_id?: string },
): Promise<Page<TrainingJobRow>> {
  const status =
    query.status === undefined
      ? sql.fragment`true`
      : sql.fragment`status = any(${sql.array([...query.status], "text")})`;
  const dataset =
    query.dataset_id === undefined ? sql.fragment`true` : sql.fragment`dataset_id = ${query.dataset_id}`;
  const from = sql.fragment`training_jobs where tenant_id = ${tenantId} and ${status} and ${dataset}`;
  return await selectPage(db, row, { columns, from }, query);
}

/** The job, or trainingJobNotFound. */
export async function oneTrainingJob(db: Db, tenantId: string, id: string): Promise<TrainingJobRow> {
  const found = await db.maybeOne(sql.type(row)`
    select ${columns} from training_jobs where tenant_id = ${tenantId} and id = ${id}`);
  if (found === null) throw trainingJobNotFound();
  return found;
}

/**
 * Checks the four preconditions and adds the job with the list of the files that it will train on, in one transaction:
 * what was checked is what is trained on. Existence first, then types, then all failed preconditions together.
 */
export async function insertTrainingJob(
  db: Db,
  tenantId: string,
  request: { dataset_id: string; annotation_set_id: string; config: TrainingConfig },
): Promise<TrainingJobRow> {
  // A type named twice would be two outputs of one model, and would take a second file away from training.
  const types = [...new Set(request.config.artifact_types)];
  const job = { ...request, config: { ...request.config, artifact_types: types } };
  return await db.transaction(async (tx) => {
    const dataset = await oneDatasetForShare(tx, tenantId, job.dataset_id);
    const set = await tx.maybeOne(sql.type(z.object({ status: z.string(), version: z.number() }))`
      select status, version from annotation_sets
      where tenant_id = ${tenantId} and dataset_id = ${job.dataset_id} and id = ${job.annotation_set_id} for share`);
    if (set === null) throw annotationSetNotFound();

    const known = dataset.artifact_types.map((type) => type.name);
    const unknown = request.config.artifact_types.flatMap((type, i) =>
      known.includes(type)
        ? []
        : [valueError(["body", "config", "artifact_types", i], "the dataset has no such artifact type")],
    );
    if (unknown.length > 0) throw validationFailed(unknown);

    const failed = await failedPreconditions(tx, tenantId, job, set.status);
    if (failed.length > 0) throw preconditionsFailed(failed);

    const id = newId();
    const created = await tx.one(sql.type(row)`
      insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version,
        config, status_message)
      values (${id}, ${tenantId}, ${job.dataset_id}, ${job.annotation_set_id}, ${dataset.name}, ${set.version},
        ${sql.jsonb(job.config)}, ${remark(job.config)})
      returning ${columns}`);
    await tx.query(sql.type(z.object({}))`
      insert into training_job_files (tenant_id, training_job_id, audio_file_id, duration_ms, embedding_key,
        embedding_sha256, embedding_size_bytes, embedding_model, embedding_spec_hash)
      select tenant_id, ${id}, id, duration_ms, embedding_key, embedding_sha256, embedding_size_bytes, embedding_model,
        embedding_spec_hash
      from audio_files
      where tenant_id = ${tenantId} and dataset_id = ${job.dataset_id}
        and status = 'ready' and embedding_status = 'completed'`);
    await insertJobEvent(tx, tenantId, { kind: "training", id, message: "The job was created" });
    return created;
  });
}

const audioFacts = z.object({
  files: z.number(),
  failed: z.number(),
  without_embedding: z.number(),
  usable_ms: z.number(),
});

/** Every precondition that does not hold now. Locks the files against deletion until the transaction ends. */
async function failedPreconditions(
  tx: Db,
  tenantId: string,
  job: { dataset_id: string; annotation_set_id: string; config: TrainingConfig },
  setStatus: string,
): Promise<{ code: string; message: string }[]> {
  const audio = await tx.one(sql.type(audioFacts)`
    with files as (
      select status, embedding_status, duration_ms from audio_files
      where tenant_id = ${tenantId} and dataset_id = ${job.dataset_id} and status in ('processing', 'ready', 'failed')
      for key share
    )
    select count(*) as files, count(*) filter (where status = 'failed') as failed,
      count(*) filter (where status <> 'ready' or embedding_status <> 'completed') as without_embedding,
      (coalesce(sum(duration_ms) filter (where status = 'ready' and embedding_status = 'completed'), 0))::bigint
        as usable_ms
    from files`);
  const labelled = await tx.anyFirst(sql.type(z.object({ artifact_type: z.string() }))`
    select distinct artifact_type from annotations
    where tenant_id = ${tenantId} and annotation_set_id = ${job.annotation_set_id}`);

  const failed: { code: string; message: string }[] = [];
  if (setStatus !== "published") {
    failed.push({
      code: preconditions.annotationSetNotPublished,
      message: "The annotation set is a draft; publish it first",
    });
  }
  if (audio.without_embedding > 0) {
    const broken = audio.failed > 0 ? ` (${audio.failed} failed: delete them or upload them again)` : "";
    failed.push({
      code: preconditions.embeddingsNotReady,
      message: `${audio.without_embedding} of ${audio.files} audio files have no embeddings yet${broken}`,
    });
  }
  if (audio.usable_ms < minAudioMs) {
    failed.push({
      code: preconditions.notEnoughAudio,
      message: `The dataset has ${audio.usable_ms} ms of audio with embeddings, training needs ${minAudioMs} ms`,
    });
  }
  const silent = job.config.artifact_types.filter((type) => !labelled.includes(type));
  if (silent.length > 0) {
    failed.push({
      code: preconditions.noAnnotations,
      message: `The annotation set has no annotations of these types: ${silent.join(", ")}`,
    });
  }
  return failed;
}

/** Unusual settings are taken as they are (the specification states no bounds), but not in silence. */
function remark(config: TrainingConfig): string | null {
  const { chunk_size_ms, stride_ms } = config;
  if (stride_ms > chunk_size_ms)
    return "stride_ms is greater than chunk_size_ms: some audio will not be seen";
  if (chunk_size_ms < 50 || chunk_size_ms > 10_000 || stride_ms < 50)
    return "chunk_size_ms or stride_ms is outside 50 to 10000: training may be slow or inexact";
  return null;
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
export async function trainingPoints(db: Db, id: string): Promise<readonly z.infer<typeof point>[]> {
  return await db.any(sql.type(point)`
    select name, step, value from training_metrics where training_job_id = ${id} order by name, step`);
}
