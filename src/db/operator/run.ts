// The work of a run's pods and their reports: files of a shard, progress, training curves. Called by controllers/runs
// (work, reports) and by the leader's reconcilers (sums).
import { sql } from "slonik";
import { z } from "zod";
import type { JobKind } from "../../schemas/job-kind.ts";
import { trainingConfig } from "../../schemas/training-config.ts";
import { detectConfig } from "../../schemas/worker.ts";
import type { Db } from "../driver/page.ts";
import { storable } from "../driver/storable.ts";
import { isOpen, tableOf } from "../job.ts";

const runMark = z.object({ run_id: z.string(), mark: z.string() });

const embedItem = z.object({
  id: z.string(),
  filename: z.string(),
  size_bytes: z.number(),
  checksum_sha256: z.string().nullable(),
});

/** Returns the audio files of a shard of an embedding job. */
export const manyEmbedItems = (db: Db, jobId: string, shard: number) =>
  db.any(sql.type(embedItem)`
    select id, filename, size_bytes, checksum_sha256 from audio_files
    where embedding_job_id = ${jobId} and embedding_shard = ${shard} order by uploaded_at, id`);

const detectItem = embedItem.extend({ object_key: z.string() });

/** Marks the files of a shard of an inference job as processing and returns them. */
export async function startDetectItems(db: Db, jobId: string, shard: number) {
  await db.query(sql.fragment`
    update inference_files set status = 'processing', started_at = now()
    where inference_job_id = ${jobId} and shard = ${shard} and status = 'queued'`);
  return db.any(sql.type(detectItem)`
    select id, filename, size_bytes, checksum_sha256, object_key from inference_files
    where inference_job_id = ${jobId} and shard = ${shard} and status <> 'pending_upload'
    order by created_at, id`);
}

const detectModel = z.object({
  config: detectConfig,
  onnx_key: z.string(),
  onnx_size_bytes: z.number(),
  onnx_sha256: z.string(),
  card_key: z.string(),
  card_size_bytes: z.number(),
  card_sha256: z.string(),
});

/** Returns the model and the configuration of an inference job. */
export const oneDetectSetup = (db: Db, jobId: string) =>
  db.one(sql.type(detectModel)`
    select j.config, m.object_store_key as onnx_key, m.model_size_bytes as onnx_size_bytes,
           m.checksum_sha256 as onnx_sha256, m.card_key, m.card_size_bytes, m.card_sha256
    from inference_jobs j join models m on m.tenant_id = j.tenant_id and m.id = j.model_id
    where j.id = ${jobId}`);

const labelPlace = z.object({ start_ms: z.number(), id: z.string() });
/** `labels`: JSON objects, separated by commas. `last`: the last label, if further ones may follow. */
const labelPiece = z.object({ labels: z.string(), last: labelPlace.nullable() });

const trainFile = z.object({
  id: z.string(),
  duration_ms: z.number(),
  embedding_key: z.string(),
  embedding_sha256: z.string(),
  embedding_size_bytes: z.number(),
  reviewed: z.boolean(),
});
export type TrainFile = z.infer<typeof trainFile>;

/** Returns the configuration of a training job. */
export const oneTrainSetup = (db: Db, jobId: string) =>
  db.oneFirst(sql.type(z.object({ config: trainingConfig }))`
    select config from training_jobs where id = ${jobId}`);

const featureSpec = z.object({ id: z.string(), hash: z.string() });

/** Returns the feature specifications of the embeddings of a training job, at most two. */
export const manyFeatureSpecs = (db: Db, jobId: string) =>
  db.any(sql.type(featureSpec)`
    select distinct embedding_model as id, embedding_spec_hash as hash
    from training_job_files where training_job_id = ${jobId} limit 2`);

/** A query for the next labels of file `f` of training job `j`, cut to the decoded duration. */
const labelsAfter = (last: z.infer<typeof labelPlace> | null, limit: number) => sql.fragment`
  select coalesce(string_agg(concat('{"artifact_type":', to_json(artifact_type), ',"start_ms":', start_ms, ',"end_ms":',
      least(end_ms, f.duration_ms), '}'), ','), '') as labels,
    case when count(*) = ${limit} then json_build_object('start_ms', (array_agg(start_ms))[count(*)],
      'id', (array_agg(id))[count(*)]) end as last
  from (
    select artifact_type, start_ms, end_ms, id from annotations a
    where a.tenant_id = j.tenant_id and a.annotation_set_id = j.annotation_set_id and a.audio_file_id = f.audio_file_id
      and a.start_ms <= f.duration_ms
      and ${last === null ? sql.fragment`true` : sql.fragment`(a.start_ms, a.id) > (${last.start_ms}, ${last.id})`}
    order by a.start_ms, a.id limit ${limit}
  ) lines`;

/** `file`: null when these are further labels of the previous file. */
export type TrainPiece = { file: TrainFile | null; labels: string };

/**
 * Yields the files that were in the dataset when the training job was created, with their labels of the published set. A
 * file counts as reviewed when it is marked so or has a label; in other files a missing label does not mean that there is
 * no artifact. There may be 100,000 files and a million labels, also of one file: each statement reads at most 25,000
 * labels.
 */
export async function* eachTrainFile(
  db: Db,
  jobId: string,
  { files = 50, labels = 500 } = {},
): AsyncGenerator<TrainPiece> {
  for (let after: string | null = null; ; ) {
    const batch: readonly (TrainFile & z.infer<typeof labelPiece>)[] = await db.any(sql.type(
      trainFile.extend(labelPiece.shape),
    )`
      select f.audio_file_id as id, f.duration_ms, f.embedding_key, f.embedding_sha256, f.embedding_size_bytes, found.*,
        found.labels <> '' or exists (
          select from reviewed_files r
          where r.annotation_set_id = j.annotation_set_id and r.audio_file_id = f.audio_file_id) as reviewed
      from (
        select * from training_job_files
        where training_job_id = ${jobId}
          and ${after === null ? sql.fragment`true` : sql.fragment`audio_file_id > ${after}`}
        order by audio_file_id limit ${files}
      ) f join training_jobs j on j.id = f.training_job_id cross join lateral (${labelsAfter(null, labels)}) found
      order by f.audio_file_id`);
    for (const { labels: text, last: place, ...file } of batch) {
      yield { file, labels: text };
      for (let last = place; last !== null; ) {
        const piece: z.infer<typeof labelPiece> = await db.one(sql.type(labelPiece)`
          select found.* from training_job_files f join training_jobs j on j.id = f.training_job_id
            cross join lateral (${labelsAfter(last, 10 * labels)}) found
          where f.training_job_id = ${jobId} and f.audio_file_id = ${file.id}`);
        if (piece.labels !== "") yield { file: null, labels: piece.labels };
        last = piece.last;
      }
    }
    if (batch.length < files) return;
    after = batch.at(-1)?.id ?? null;
  }
}

export type ProgressLine = {
  run: string;
  shard: number;
  podUid: string;
  seq: number;
  itemsDone: number;
  itemsTotal: number;
  itemsFailed: number;
  fraction: number;
  message: string | null;
  /** Number of training steps in this pod's last checkpoint; null when it has written none. */
  checkpointStep: number | null;
};

/** Stores the newest report of each shard. Ignores reports that are older than the stored one of the same pod. */
export async function saveProgress(db: Db, lines: readonly ProgressLine[]): Promise<void> {
  if (lines.length === 0) return;
  const rows = lines.map((l) => [
    l.run,
    l.shard,
    l.podUid,
    l.seq,
    l.itemsDone,
    l.itemsTotal,
    l.itemsFailed,
    l.fraction,
    storable(l.message),
    l.checkpointStep,
  ]);
  const types = ["text", "int4", "text", "int8", "int4", "int4", "int4", "float8", "text", "int4"];
  await db.query(sql.fragment`
    insert into shard_progress as old
      (run_id, shard, pod_uid, seq, items_done, items_total, items_failed, fraction, message, checkpoint_step,
       checkpoint_at)
    select line.*, case when step is not null then now() end
    from ${sql.unnest(rows, types)} as line (run, shard, pod, seq, done, total, failed, fraction, message, step)
    on conflict (run_id, shard) do update set
      pod_uid = excluded.pod_uid, seq = excluded.seq, items_done = excluded.items_done,
      items_total = excluded.items_total, items_failed = excluded.items_failed, fraction = excluded.fraction,
      message = excluded.message, updated_at = now(),
      checkpoint_step = coalesce(excluded.checkpoint_step, old.checkpoint_step),
      checkpoint_at = case when excluded.checkpoint_step is distinct from old.checkpoint_step
        then coalesce(excluded.checkpoint_at, old.checkpoint_at) else old.checkpoint_at end
    where old.pod_uid <> excluded.pod_uid or old.seq < excluded.seq`);
}

/** Whether a pod of the run has reported. */
export const hasReported = (db: Db, run: string) =>
  db.exists(sql.fragment`select from shard_progress where run_id = ${run}`);

/**
 * Returns runs that reported within the last `seconds`, each with a `mark` that changes when the reported values do.
 */
export const manyReportingRuns = (db: Db, seconds: number) =>
  db.any(sql.type(runMark)`
    select run_id, concat_ws(' ', count(*), sum(items_done), sum(items_total), sum(items_failed), sum(fraction),
                             md5(string_agg(message, ' ' order by shard))) as mark
    from shard_progress
    where run_id in (
      select run_id from shard_progress
      where updated_at > now() - make_interval(secs => ${seconds}::double precision))
    group by run_id`);

export type ReportedRun = { jobId: string; run: string };

/**
 * Writes what the pods of these runs have reported into the rows of their jobs: the percentage, which never falls, and the newest
 * message. Only jobs that run, and whose row names the run.
 */
export async function advanceReportedJobs(
  db: Db,
  kind: JobKind,
  runs: readonly ReportedRun[],
): Promise<void> {
  if (runs.length === 0) return;
  const shards = kind === "training" ? sql.fragment`1` : sql.fragment`coalesce(job.shard_count, 1)`;
  const percent = sql.fragment`least(99, floor(100 * reported.fraction / ${shards} + 1e-9))::int`;
  const rows = runs.map(({ jobId, run }) => [jobId, run]);
  await db.query(sql.fragment`
    update ${tableOf(kind)} as job set
      progress_percent = greatest(job.progress_percent, ${percent}),
      status_message = coalesce(reported.message, job.status_message)
    from (
      select chosen.id, chosen.run, sum(fraction) as fraction,
             (array_agg(message order by updated_at desc, shard))[1] as message
      from ${sql.unnest(rows, ["uuid", "text"])} as chosen (id, run)
        join shard_progress on run_id = chosen.run
      group by chosen.id, chosen.run
    ) as reported
    where job.id = reported.id and job.platform_job_name = reported.run and job.status = 'running'
      and (job.progress_percent < ${percent}
        or job.status_message is distinct from coalesce(reported.message, job.status_message))`);
}

/** Deletes the reports of a job that has ended, and the records of its pods; its usage stays. */
export async function dropReports(db: Db, jobId: string, run: string): Promise<void> {
  await db.query(sql.fragment`
    with pods as (delete from run_pods where job_id = ${jobId})
    delete from shard_progress where run_id = ${run}`);
}

/**
 * Deletes, after a day, reports that arrived after the end of their run and pod records that dropReports did not delete.
 */
export async function dropOldProgress(db: Db): Promise<void> {
  const isNeeded = (kind: JobKind) => sql.fragment`exists (
    select from ${tableOf(kind)} where id = job_id and (${isOpen} or completed_at > now() - interval '1 day'))`;
  await db.query(sql.fragment`
    delete from run_pods where job_id in (
      select job_id from (select distinct job_id from run_pods) as held
      where not ${isNeeded("training")} and not ${isNeeded("inference")} and not ${isNeeded("embedding")})`);
  await db.query(sql.fragment`delete from shard_progress where updated_at < now() - interval '1 day'`);
}

export type MetricPoint = { trainingJobId: string; name: string; step: number; value: number };

/** Adds points to the training curves. If a resumed pod computes a point again, it replaces the old one. */
export async function saveMetrics(db: Db, points: readonly MetricPoint[]): Promise<void> {
  if (points.length === 0) return;
  // Postgres rejects the same point twice in one statement; the last one counts.
  const unique = new Map(points.map((p) => [`${p.trainingJobId} ${p.name} ${p.step}`, p]));
  const rows = [...unique.values()].map((p) => [p.trainingJobId, p.name, p.step, p.value]);
  await db.query(sql.fragment`
    insert into training_metrics (tenant_id, training_job_id, name, step, value)
    select j.tenant_id, points.*
    from ${sql.unnest(rows, ["uuid", "text", "int4", "float8"])} as points (id, name, step, value)
      join training_jobs j on j.id = points.id
    on conflict (training_job_id, name, step) do update set value = excluded.value`);
}

/** Records the key and size of the job's last checkpoint, for diagnosis. */
export async function recordCheckpoint(db: Db, jobId: string, key: string, sizeBytes: number): Promise<void> {
  await db.query(sql.fragment`
    update training_jobs set checkpoint_key = ${key}, checkpoint_size_bytes = ${sizeBytes} where id = ${jobId}`);
}
