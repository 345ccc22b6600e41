// Ingests the results of shards, at most once per (run, shard). Each result has one transaction, fenced by the job's
// current run. Replayed or reordered results lead to the same tables. Where statements need nothing of each other's answers,
// they are sent together, and Postgres runs them in their order. Called by the reconcilers of the three job kinds.
import { sql } from "slonik";
import { z } from "zod";
import { type JobKind, keys, runsUntil } from "../../schemas/job-kind.ts";
import type { DetectResult, EmbedResult, TrainResult } from "../../schemas/worker.ts";
import type { Db } from "../driver/page.ts";
import { storable } from "../driver/storable.ts";
import { finishJob, isOpen, type JobEnd, lockRun, tableOf } from "../job.ts";
import { addAudio } from "./run-pod.ts";

// Constants: making a schema for each statement costs more than validating its row.
const digestRow = z.object({ run_id: z.string(), digest: z.string() });
const shardRow = z.object({ shard: z.int() });
const idRow = z.object({ id: z.string() });
const typesRow = z.object({ artifact_types: z.array(z.string()) });
const durationRow = z.object({ duration_ms: z.number() });
const countsRow = z.object({ processed_files: z.int(), failed_files: z.int() });

export type ShardRef = { jobId: string; run: string; shard: number };
/** `fenced`: the job has ended or has a newer run. `differs`: a different result of this shard was ingested before. */
export type IngestOutcome = "ingested" | "duplicate" | "differs" | "fenced";

/** Writes a result and returns how many milliseconds of audio were processed. */
type Ingest = (tx: Db, tenantId: string) => Promise<number>;

async function ingestOnce(
  db: Db,
  kind: JobKind,
  ref: ShardRef,
  digest: string,
  ingest: Ingest,
): Promise<IngestOutcome> {
  return db.transaction(async (tx) => {
    const tenantId = await lockRun(tx, kind, ref.jobId, ref.run);
    if (tenantId === null) return "fenced";
    // lockRun holds the job's row: no other transaction ingests results of this job meanwhile.
    const old = await tx.maybeOne(sql.type(digestRow)`
      select run_id, digest from result_ingests
      where run_id = any(${runsOf(ref.run)}) and shard = ${ref.shard}`);
    // The result of an earlier run stays: clients may have seen it.
    if (old !== null) return old.run_id !== ref.run || old.digest === digest ? "duplicate" : "differs";
    await tx.query(sql.fragment`
      insert into result_ingests (run_id, shard, digest) values (${ref.run}, ${ref.shard}, ${digest})`);
    await addAudio(tx, kind, ref.jobId, await ingest(tx, tenantId));
    return "ingested";
  });
}

/** The names of this run and of all earlier ones of its job. */
export const runsOf = (run: string) => sql.array(runsUntil(run), "text");

/** Returns the shards whose results were ingested, from this run of the job or an earlier one. */
export async function manyIngestedShards(db: Db, run: string): Promise<readonly number[]> {
  return db.anyFirst(sql.type(shardRow)`
    select shard from result_ingests where run_id = any(${runsOf(run)})`);
}

/** Whether the result of one shard was ingested, from this run or an earlier one. */
export function isShardIngested(db: Db, run: string, shard: number): Promise<boolean> {
  return db.exists(sql.fragment`
    select from result_ingests where run_id = any(${runsOf(run)}) and shard = ${shard}`);
}

/** Deletes the records of a job that has ended, up to the run `last`: lockRun accepts no result of it any more. */
export async function dropIngests(db: Db, last: string): Promise<void> {
  await db.query(sql.fragment`delete from result_ingests where run_id = any(${runsOf(last)})`);
}

/** Ingests an embedding result: properties of each decoded file, or its error. Files missing from the result fail. */
export function ingestEmbeddings(
  db: Db,
  ref: ShardRef,
  digest: string,
  result: EmbedResult,
): Promise<IngestOutcome> {
  const { jobId, run, shard } = ref;
  return ingestOnce(db, "embedding", ref, digest, async (tx, tenantId) => {
    const own = new Set(
      await tx.anyFirst(sql.type(idRow)`
      select id from audio_files where embedding_job_id = ${jobId} and embedding_shard = ${shard}`),
    );
    // Results are untrusted input: ignore files that are not in this pod's shard.
    const items = result.items.filter((item) => own.has(item.id));
    const completed = items
      .filter((item) => item.status === "completed")
      .map(({ id, embedding, ...item }) => {
        const audio = [id, item.duration_ms, item.sample_rate_hz, item.channels, item.codec, item.sha256];
        const stored = [keys.embedding(tenantId, id, run), embedding.sha256, embedding.size_bytes];
        return [...audio, ...stored, keys.peaks(tenantId, id, run)];
      });
    const types = ["uuid", "int8", "int4", "int4", "text", "text", "text", "text", "int8", "text"];
    if (completed.length > 0) {
      await tx.query(sql.fragment`
        update audio_files set
          status = 'ready', embedding_status = 'completed', error_message = null,
          duration_ms = r.duration_ms, sample_rate_hz = r.sample_rate_hz, channels = r.channels, codec = r.codec,
          checksum_sha256 = r.sha256, embedding_model = ${result.feature_spec.id},
          embedding_spec_hash = ${result.feature_spec.hash}, embedding_key = r.embedding_key,
          embedding_sha256 = r.embedding_sha256, embedding_size_bytes = r.embedding_size_bytes,
          peaks_key = r.peaks_key, embedded_at = now(), updated_at = now()
        from ${sql.unnest(completed, types)} as r (id, duration_ms, sample_rate_hz, channels, codec, sha256,
          embedding_key, embedding_sha256, embedding_size_bytes, peaks_key)
        where audio_files.id = r.id and embedding_job_id = ${jobId} and embedding_shard = ${shard}`);
    }
    const failed = failuresOf(items);
    if (failed.length > 0)
      await tx.query(sql.fragment`
        update audio_files set status = ${statusAfterFailure}, embedding_status = 'failed', error_message = r.message,
          updated_at = now()
        from ${sql.unnest(failed, ["uuid", "text"])} as r (id, message)
        where audio_files.id = r.id and embedding_job_id = ${jobId}`);
    await tx.query(sql.fragment`
      update audio_files set status = ${statusAfterFailure}, embedding_status = 'failed', updated_at = now(),
        error_message = 'The embedding worker returned no result for this file.'
      where embedding_job_id = ${jobId} and embedding_shard = ${shard} and embedding_status = 'processing'`);
    return durationOf(items);
  });
}

/** Returns the milliseconds of audio in the completed items. */
const durationOf = (items: readonly { status: string; duration_ms?: number }[]) =>
  items.reduce((sum, { status, duration_ms = 0 }) => sum + (status === "completed" ? duration_ms : 0), 0);

/** Returns id and message of the failed items. */
const failuresOf = (items: readonly (EmbedResult | DetectResult)["items"][number][]) =>
  items.filter((item) => item.status === "failed").map((item) => [item.id, storable(item.error.message)]);

/** A file that was embedded before stays ready: only its new embedding failed. */
const statusAfterFailure = sql.fragment`case when embedded_at is null then 'failed' else status end`;

const detectionsPerStatement = 5_000;

/** Ingests an inference result: the detections of each file, or its error. Recomputes the job's counters. */
export function ingestDetections(
  db: Db,
  ref: ShardRef,
  digest: string,
  result: DetectResult,
): Promise<IngestOutcome> {
  const { jobId, shard } = ref;
  return ingestOnce(db, "inference", ref, digest, async (tx, tenantId) => {
    const own = new Set(
      await tx.anyFirst(sql.type(idRow)`
      select id from inference_files where inference_job_id = ${jobId} and shard = ${shard}`),
    );
    // Results are untrusted input: ignore files that are not in this pod's shard.
    const items = result.items.filter((item) => own.has(item.id));
    const completed = items.filter((item) => item.status === "completed");
    const failed = failuresOf(items);
    if (completed.length > 0) {
      const rows = completed.map((i) => [i.id, i.duration_ms, i.detections.length, i.sha256]);
      const ids = completed.map(({ id }) => id);
      await Promise.all([
        tx.query(sql.fragment`
          update inference_files set status = 'completed', error_message = null, duration_ms = r.duration_ms,
            detection_count = r.count, checksum_sha256 = r.sha256,
            started_at = coalesce(started_at, now()), completed_at = now()
          from ${sql.unnest(rows, ["uuid", "int8", "int4", "text"])} as r (id, duration_ms, count, sha256)
          where inference_files.id = r.id`),
        tx.query(sql.fragment`
          delete from detections where inference_file_id = any(${sql.array(ids, "uuid")})`),
      ]);
      const detections = completed.flatMap(({ id, detections }) =>
        detections.map((d, i) => [id, i, d.artifact_type, d.start_ms, d.end_ms, d.confidence]),
      );
      for (let at = 0; at < detections.length; at += detectionsPerStatement) {
        const batch = detections.slice(at, at + detectionsPerStatement);
        await tx.query(sql.fragment`
          insert into detections (id, tenant_id, inference_job_id, inference_file_id, ordinal, artifact_type, start_ms, end_ms, confidence)
          select gen_random_uuid(), ${tenantId}, ${jobId}, d.*
          from ${sql.unnest(batch, ["uuid", "int4", "text", "int8", "int8", "float8"])} as d (file, ordinal, type, start_ms, end_ms, confidence)`);
      }
    }
    if (failed.length > 0) {
      await tx.query(sql.fragment`
        update inference_files set status = 'failed', error_message = r.message,
          started_at = coalesce(started_at, now()), completed_at = now()
        from ${sql.unnest(failed, ["uuid", "text"])} as r (id, message) where inference_files.id = r.id`);
    }
    await Promise.all([
      tx.query(sql.fragment`
        update inference_files set status = 'failed', completed_at = now(),
          error_message = 'The detection worker returned no result for this file.'
        where inference_job_id = ${jobId} and shard = ${shard} and status in ('queued', 'processing')`),
      recountInference(tx, jobId),
    ]);
    return durationOf(completed);
  });
}

async function recountInference(tx: Db, jobId: string): Promise<void> {
  await tx.query(sql.fragment`
    update inference_jobs set processed_files = c.done, failed_files = c.failed, total_detections = c.detections
    from (
      select count(*) filter (where status in ('completed', 'failed')) as done,
             count(*) filter (where status = 'failed') as failed,
             coalesce(sum(detection_count) filter (where status = 'completed'), 0) as detections
      from inference_files where inference_job_id = ${jobId}
    ) as c where inference_jobs.id = ${jobId}`);
}

/** Returns the artifact types of an inference job's model. */
export const oneModelTypesOfInference = (db: Db, jobId: string) =>
  db.oneFirst(sql.type(typesRow)`
    select m.artifact_types from inference_jobs j join models m on m.tenant_id = j.tenant_id and m.id = j.model_id
    where j.id = ${jobId}`);

/** Ingests a training result: the model's row, and the metrics of the job. Throws if model or card is missing. */
export function ingestModel(
  db: Db,
  ref: ShardRef,
  digest: string,
  result: TrainResult,
  newModelId: string,
): Promise<IngestOutcome> {
  const { jobId, run } = ref;
  const artifact = (name: string) => result.artifacts.find((a) => a.name === name);
  const [model, card] = [artifact("model.onnx"), artifact("card.json")];
  if (model === undefined || card === undefined)
    throw new Error("the training result lacks the artifact model.onnx or card.json");
  return ingestOnce(db, "training", ref, digest, async (tx, tenantId) => {
    const key = (file: string) => keys.model(tenantId, jobId, run, file);
    await tx.query(sql.fragment`
      insert into models (id, tenant_id, installation, training_job_id, name, artifact_types, object_store_key, model_size_bytes,
        checksum_sha256, card_key, card_sha256, card_size_bytes, architecture, eval_metrics)
      select ${newModelId}, tenant_id, installation, id, left(dataset_name || ' v' || annotation_set_version, 255),
        ${sql.array(result.artifact_types, "text")}, ${key("model.onnx")}, ${model.size_bytes}, ${model.sha256},
        ${key("card.json")}, ${card.sha256}, ${card.size_bytes},
        ${JSON.stringify(result.architecture)}::jsonb, ${JSON.stringify(result.metrics)}::jsonb
      from training_jobs where id = ${jobId}
      on conflict (training_job_id) do nothing`);
    await tx.query(sql.fragment`
      update training_jobs set metrics = ${JSON.stringify(result.metrics)}::jsonb where id = ${jobId}`);
    return await tx.oneFirst(sql.type(durationRow)`
      select coalesce(sum(duration_ms), 0) as duration_ms from training_job_files where training_job_id = ${jobId}`);
  });
}

/** Fails the open files of a shard that has no result, with `message`. Training jobs have no files. */
export async function failShard(
  db: Db,
  kind: "inference" | "embedding",
  ref: ShardRef,
  message: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    if ((await lockRun(tx, kind, ref.jobId, ref.run)) === null) return;
    await failOpenFiles(tx, kind, ref.jobId, ref.shard, "failed", message);
  });
}

async function failOpenFiles(
  tx: Db,
  kind: "inference" | "embedding",
  jobId: string,
  shard: number | null,
  status: "failed" | "cancelled",
  why: string,
): Promise<void> {
  const message = storable(why);
  if (kind === "embedding") {
    await tx.query(sql.fragment`
      update audio_files set status = ${statusAfterFailure}, embedding_status = 'failed', error_message = ${message}, updated_at = now()
      where embedding_job_id = ${jobId} and embedding_status = 'processing'
        and (${shard}::int is null or embedding_shard = ${shard}::int)`);
    return;
  }
  await tx.query(sql.fragment`
    update inference_files set status = ${status}, completed_at = now(),
      error_message = case when ${status} = 'failed' then ${message} end
    where inference_job_id = ${jobId} and status in ('pending_upload', 'queued', 'processing')
      and (${shard}::int is null or shard = ${shard}::int)`);
  await recountInference(tx, jobId);
}

/** Numbers of files of a job: ended (`done`), all (`total`), ended with an error (`failed`). */
export type ItemCounts = { done: number; total: number; failed: number };
const itemCounts = z.object({ done: z.int(), total: z.int(), failed: z.int() });

/** Counts the files of a job from their rows. Files that were deleted meanwhile do not count. */
export function itemCountsOf(db: Db, kind: "inference" | "embedding", jobId: string): Promise<ItemCounts> {
  if (kind === "inference")
    return db.one(sql.type(itemCounts)`
      select count(*) filter (where status in ('completed', 'failed'))::int as done, count(*)::int as total,
        count(*) filter (where status = 'failed')::int as failed
      from inference_files where inference_job_id = ${jobId}`);
  return db.one(sql.type(itemCounts)`
    select count(*) filter (where embedding_status <> 'processing')::int as done, count(*)::int as total,
      count(*) filter (where embedding_status = 'failed')::int as failed
    from audio_files where embedding_job_id = ${jobId}`);
}

/**
 * Ends a job in one transaction; its open files fail or are cancelled. An inference job whose files all failed ends as
 * failed. No effect on a job that has already ended.
 */
export async function endJob(db: Db, kind: JobKind, jobId: string, end: JobEnd): Promise<void> {
  await db.transaction(async (tx) => {
    const open = await tx.query(sql.fragment`
      select from ${tableOf(kind)} where id = ${jobId} and ${isOpen} for update`);
    if (open.rowCount === 0) return;
    let final = end;
    if (kind !== "training" && end.status !== "completed") {
      const message = end.errorMessage ?? end.statusMessage ?? "The job was cancelled.";
      await failOpenFiles(tx, kind, jobId, null, end.status, message);
    }
    if (kind === "inference" && end.status === "completed") {
      const counts = await tx.one(sql.type(countsRow)`
        select processed_files, failed_files from inference_jobs where id = ${jobId}`);
      if (counts.processed_files > 0 && counts.failed_files === counts.processed_files) {
        const errorMessage =
          counts.failed_files === 1
            ? "The file could not be processed."
            : "None of the files could be processed.";
        final = { status: "failed", statusMessage: null, errorMessage };
      }
    }
    await finishJob(tx, kind, jobId, final);
  });
}

const modelRow = z.object({
  id: z.string(),
  tenantId: z.string(),
  trainingJobId: z.string(),
  artifactTypes: z.array(z.string()),
  objectStoreKey: z.string(),
  sha256: z.string(),
  sizeBytes: z.number(),
  archived: z.boolean(),
  evalMetrics: z.record(z.string(), z.unknown()),
});
export type ModelRow = z.infer<typeof modelRow>;

const modelColumns = sql.fragment`
  id, tenant_id as "tenantId", training_job_id as "trainingJobId", artifact_types as "artifactTypes",
  object_store_key as "objectStoreKey", checksum_sha256 as sha256, model_size_bytes as "sizeBytes",
  archived_at is not null as archived, eval_metrics as "evalMetrics"`;

/** Returns the model of a training job, for its custom resource; null if there is none. */
export function maybeOneModelOfJob(db: Db, trainingJobId: string): Promise<ModelRow | null> {
  return db.maybeOne(
    sql.type(modelRow)`select ${modelColumns} from models where training_job_id = ${trainingJobId}`,
  );
}

/** Returns a model of any tenant by id, or null. For the operator only. */
export function maybeOneModelRow(db: Db, id: string): Promise<ModelRow | null> {
  return db.maybeOne(sql.type(modelRow)`select ${modelColumns} from models where id = ${id}`);
}
