// Rows as the API inserts them, for the operator's tests: a tenant with embedded audio, a published set, and jobs in
// the state in which the operator finds them.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { z } from "zod";
import { type CallerRow, manyCallers } from "../../src/db/api-key.ts";
import type { Db } from "../../src/db/driver/page.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { effectiveConfig } from "../../src/schemas/inference-job.ts";

const none = z.object({});
const hex = (digit: string) => digit.repeat(64);

export async function insertTenant(db: Db): Promise<string> {
  const id = randomUUID();
  await db.query(sql.type(none)`insert into tenants (id, name) values (${id}, 'test')`);
  return id;
}

/** The owner of the key with this digest, for a request that no rate limit counts. */
export async function maybeOneCaller(db: Db, hash: Buffer): Promise<CallerRow | null> {
  const unlimited = { gap: 0, span: Number.POSITIVE_INFINITY };
  const [caller] = await manyCallers(db, hash, [{ rate: unlimited, policy: 1, policyRate: unlimited }]);
  return caller ?? null;
}

export async function insertDataset(db: Db, tenant: string): Promise<string> {
  const id = randomUUID();
  const types = JSON.stringify([{ name: "click", description: null }]);
  await db.query(sql.type(none)`
    insert into datasets (id, tenant_id, name, artifact_types) values (${id}, ${tenant}, 'voices', ${types}::jsonb)`);
  return id;
}

/** A confirmed upload without an embedding. */
export async function insertConfirmedAudio(db: Db, tenant: string, dataset: string): Promise<string> {
  const id = randomUUID();
  await db.query(sql.type(none)`
    insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, upload_expires_at, uploaded_at)
    values (${id}, ${tenant}, ${dataset}, 'take.wav', 'audio/wav', 10, 'processing', now(), now())`);
  return id;
}

export async function insertEmbeddedAudio(db: Db, tenant: string, dataset: string): Promise<string> {
  const id = randomUUID();
  await db.query(sql.type(none)`
    insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, upload_expires_at, uploaded_at,
      status, embedding_status, duration_ms, embedding_model, embedding_spec_hash, embedding_key, embedding_sha256,
      embedding_size_bytes)
    values (${id}, ${tenant}, ${dataset}, 'take.wav', 'audio/wav', 10, now(), now(), 'ready', 'completed', 400000, 'dsp',
      'h', ${`embeddings/${tenant}/${id}/x.safetensors`}, ${hex("a")}, 5)`);
  return id;
}

/** A dataset of one labelled and one unlabelled file, and its published set. */
export async function insertLabelledSet(db: Db, tenant: string): Promise<{ dataset: string; set: string }> {
  const dataset = await insertDataset(db, tenant);
  const files = [
    await insertEmbeddedAudio(db, tenant, dataset),
    await insertEmbeddedAudio(db, tenant, dataset),
  ];
  const set = randomUUID();
  await db.query(sql.type(none)`
    insert into annotation_sets (id, tenant_id, dataset_id, version) values (${set}, ${tenant}, ${dataset}, 1)`);
  await db.query(sql.type(none)`
    insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
    values (${randomUUID()}, ${tenant}, ${dataset}, ${set}, ${files[0]!}, 'click', 100, 150)`);
  await db.query(
    sql.type(none)`update annotation_sets set status = 'published', published_at = now() where id = ${set}`,
  );
  return { dataset, set };
}

/** A pending training job on one labelled and one unlabelled file. */
export async function insertTrainingJob(db: Db, tenant: string, id: string = randomUUID()): Promise<string> {
  const { dataset, set } = await insertLabelledSet(db, tenant);
  const config = JSON.stringify({
    artifact_types: ["click"],
    epochs: 3,
    validation_split: 0.2,
    learning_rate: 0.001,
    batch_size: 32,
    chunk_size_ms: 500,
    stride_ms: 250,
  });
  await db.query(sql.type(none)`
    insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version, config)
    values (${id}, ${tenant}, ${dataset}, ${set}, 'voices', 1, ${config}::jsonb)`);
  await db.query(sql.type(none)`
    insert into training_job_files (tenant_id, training_job_id, audio_file_id, duration_ms, embedding_key,
      embedding_sha256, embedding_size_bytes, embedding_model, embedding_spec_hash)
    select tenant_id, ${id}, id, duration_ms, embedding_key, embedding_sha256, embedding_size_bytes, embedding_model, embedding_spec_hash
    from audio_files where dataset_id = ${dataset}`);
  return id;
}

/** A model without a training in this test. */
export async function insertModel(db: DatabasePool, tenant: string): Promise<string> {
  const job = await insertTrainingJob(db, tenant);
  await db.query(sql.type(none)`
    update training_jobs set status = 'completed', submitted_at = now(), completed_at = now() where id = ${job}`);
  const id = randomUUID();
  await db.query(sql.type(none)`
    insert into models (id, tenant_id, training_job_id, name, artifact_types, object_store_key, model_size_bytes,
      checksum_sha256, card_key, card_sha256, card_size_bytes, architecture, eval_metrics)
    values (${id}, ${tenant}, ${job}, 'voices v1', array['click'], ${`models/${tenant}/x/model.onnx`}, 3, ${hex("b")},
      ${`models/${tenant}/x/card.json`}, ${hex("c")}, 2, '{}', '{}')`);
  return id;
}

/** A started inference job with one file per shard. */
export async function insertInferenceJob(
  db: Db,
  tenant: string,
  model: string,
  shards: number,
): Promise<{ id: string; files: string[] }> {
  const id = randomUUID();
  const config = JSON.stringify(effectiveConfig({}));
  await db.query(sql.type(none)`
    insert into inference_jobs (id, tenant_id, model_id, config, total_files, shard_count, start_requested_at)
    values (${id}, ${tenant}, ${model}, ${config}::jsonb, ${shards}, ${shards}, now())`);
  const files: string[] = [];
  for (let shard = 0; shard < shards; shard++) {
    const file = randomUUID();
    files.push(file);
    await db.query(sql.type(none)`
      insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes, object_key, status, shard)
      values (${file}, ${tenant}, ${id}, 'take.wav', 'audio/wav', 10, ${`inference/${tenant}/${file}`}, 'queued', ${shard})`);
  }
  return { id, files };
}
