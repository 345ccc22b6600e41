// One of every resource of a tenant. Data that only the operator produces (embeddings, models, results) are written to
// the database directly. Called by the tests of the API.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "../../src/db/driver/page.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import type { Answer } from "./api.ts";

const nothing = z.object({});

/** The methods of a client that this file needs; test/support/api.ts has more. */
export interface Poster {
  readonly tenantId: string;
  post(path: string, body?: unknown): Promise<Pick<Answer, "body">>;
}

export interface World {
  readonly datasetId: string;
  readonly audioFileId: string;
  readonly annotationSetId: string;
  readonly annotationId: string;
  readonly trainingJobId: string;
  readonly modelId: string;
  readonly inferenceJobId: string;
  readonly inferenceFileId: string;
  readonly keyId: string;
}

/**
 * A dataset with 6 minutes of embedded audio, a draft with one annotation, and the resources that follow from a
 * training.
 */
export async function makeWorld(client: Poster, db: DatabasePool): Promise<World> {
  const datasetId = await makeDataset(client);
  const audioFileId = await addReadyAudio(db, client.tenantId, datasetId, { durationMs: 360_000 });
  const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
  const annotationSetId: string = (await client.post(sets)).body.id;
  const annotation = { audio_file_id: audioFileId, artifact_type: "click", start_ms: 10, end_ms: 20 };
  const annotationId = (await client.post(`${sets}/${annotationSetId}/annotations`, annotation)).body.id;
  const trainingJobId = await addTrainingJob(db, client.tenantId, datasetId, annotationSetId);
  const modelId = await addModel(db, client.tenantId, trainingJobId);
  const job = await client.post("/api/v1/inference-jobs", { model_id: modelId });
  const file = await client.post(`/api/v1/inference-jobs/${job.body.id}/files/upload-url`, {
    filename: "x.wav",
    content_type: "audio/wav",
    size_bytes: 100,
  });
  const key = await client.post("/api/v1/auth/api-keys", { name: "second" });
  return {
    datasetId,
    audioFileId,
    annotationSetId,
    annotationId,
    trainingJobId,
    modelId,
    inferenceJobId: job.body.id,
    inferenceFileId: file.body.inference_file_id,
    keyId: key.body.id,
  };
}

/** A draft with one annotation: the paths of both, and the body of the annotation's creation. */
export async function makeDraft(client: Poster, db: DatabasePool) {
  const dataset = await makeDataset(client);
  const audio = await addReadyAudio(db, client.tenantId, dataset);
  const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
  const set = `${sets}/${(await client.post(sets)).body.id}`;
  const label = { audio_file_id: audio, artifact_type: "click", start_ms: 1, end_ms: 2 };
  const annotation = `${set}/annotations/${(await client.post(`${set}/annotations`, label)).body.id}`;
  return { dataset, audio, set, label, annotation };
}

export async function makeDataset(client: Poster, types = ["click", "hum"]): Promise<string> {
  const body = { name: "takes", artifact_types: types.map((name) => ({ name })) };
  return (await client.post("/api/v1/datasets", body)).body.id;
}

/** Makes all that a training needs, and returns the body of the request for it. */
export async function makeTrainable(client: Poster, db: DatabasePool) {
  const dataset = await makeDataset(client);
  const audio = await addReadyAudio(db, client.tenantId, dataset, { durationMs: 300_000 });
  const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
  const set: string = (await client.post(sets)).body.id;
  const label = { audio_file_id: audio, artifact_type: "click", start_ms: 1, end_ms: 2 };
  await client.post(`${sets}/${set}/annotations`, label);
  await client.post(`${sets}/${set}/publish`);
  return { dataset_id: dataset, annotation_set_id: set, config: { artifact_types: ["click"] } };
}

/** An audio file as the operator leaves it after its embedding. */
export async function addReadyAudio(
  db: Db,
  tenantId: string,
  datasetId: string,
  options: { durationMs?: number; status?: string; embeddingStatus?: string; peaksKey?: string } = {},
): Promise<string> {
  const id = randomUUID();
  const { durationMs = 60_000, status = "ready", embeddingStatus = "completed", peaksKey = null } = options;
  await db.query(sql.type(nothing)`
    insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, checksum_sha256, status,
      duration_ms, sample_rate_hz, channels, codec, embedding_status, embedding_model, embedding_spec_hash,
      embedding_key, embedding_sha256, embedding_size_bytes, peaks_key, embedded_at, uploaded_at, upload_expires_at)
    values (${id}, ${tenantId}, ${datasetId}, 'take.wav', 'audio/wav', 1000, ${"a".repeat(64)}, ${status},
      ${durationMs}, 16000, 1, 'pcm16', ${embeddingStatus}, 'dsp-mr1', 'hash', ${`embeddings/${id}`},
      ${"b".repeat(64)}, 1000, ${peaksKey}, now(), now(), now() + interval '1 day')`);
  return id;
}

export async function addTrainingJob(
  db: DatabasePool,
  tenantId: string,
  datasetId: string,
  annotationSetId: string,
  status = "completed",
): Promise<string> {
  const id = randomUUID();
  // Creates the dataset and the set if the test names none, since a job cannot refer to rows that do not exist.
  await db.query(sql.type(nothing)`
    insert into datasets (id, tenant_id, name) values (${datasetId}, ${tenantId}, 'takes') on conflict do nothing`);
  await db.query(sql.type(nothing)`
    insert into annotation_sets (id, tenant_id, dataset_id, version)
    select ${annotationSetId}, ${tenantId}, ${datasetId}, coalesce(max(version), 0) + 1000
    from annotation_sets where dataset_id = ${datasetId} on conflict (id) do nothing`);
  await db.query(sql.type(nothing)`
    insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version,
      config, status, progress_percent)
    values (${id}, ${tenantId}, ${datasetId}, ${annotationSetId}, 'takes', 1, '{"artifact_types": ["click"]}', ${status},
      ${status === "completed" ? 100 : 0})`);
  return id;
}

export async function addModel(db: DatabasePool, tenantId: string, trainingJobId: string): Promise<string> {
  const id = randomUUID();
  await db.query(sql.type(nothing)`
    insert into models (id, tenant_id, training_job_id, name, artifact_types, object_store_key, model_size_bytes,
      checksum_sha256, card_key, card_sha256, card_size_bytes, architecture, eval_metrics)
    values (${id}, ${tenantId}, ${trainingJobId}, 'takes v1', ${sql.array(["click", "hum"], "text")},
      ${`models/${tenantId}/${trainingJobId}/run/model.onnx`}, 1234, ${"c".repeat(64)}, 'card', ${"d".repeat(64)}, 10,
      '{"family":"tcn"}', '{"f1":0.9}')`);
  return id;
}

/** An ended job on two new files of the dataset, with as many detections in all; returns its path. */
export async function addEndedInference(
  db: DatabasePool,
  client: Poster,
  datasetId: string,
  detections: number,
): Promise<string> {
  const { tenantId } = client;
  const model_id = await addModel(db, tenantId, await addTrainingJob(db, tenantId, datasetId, randomUUID()));
  for (let i = 0; i < 2; i++) await addReadyAudio(db, tenantId, datasetId, { durationMs: 36_000_000 });
  const job = (await client.post("/api/v1/inference-jobs", { model_id, dataset_id: datasetId })).body.id;
  const files = await db.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from inference_files where inference_job_id = ${job}`);
  for (const file of files) await addDetections(db, tenantId, job, file, detections / files.length);
  await db.query(sql.type(nothing)`
    update inference_jobs set status = 'completed', total_detections = ${detections} where id = ${job}`);
  return `/api/v1/inference-jobs/${job}`;
}

/** Returns how many rows of the table the tenant has. */
export const countRows = (db: DatabasePool, table: string, tenantId: string) =>
  db.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from ${sql.identifier([table])} where tenant_id = ${tenantId}`);

export async function addDetections(
  db: DatabasePool,
  tenantId: string,
  jobId: string,
  fileId: string,
  count: number,
): Promise<void> {
  await db.query(sql.type(nothing)`
    with added as (
      insert into detections (id, tenant_id, inference_job_id, inference_file_id, ordinal, artifact_type, start_ms, end_ms,
        confidence)
      select gen_random_uuid(), ${tenantId}, ${jobId}, ${fileId}, n, case when n % 2 = 0 then 'click' else 'hum' end,
        n * 100, n * 100 + 50, 0.5 + n % 500 * 0.001
      from generate_series(0, ${count - 1}::int) n
    )
    update inference_jobs set total_detections = total_detections + ${count}::int where id = ${jobId}`);
}
