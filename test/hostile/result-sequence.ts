// One random sequence of result deliveries of a job: repeated, late, from earlier and later runs, concurrent, and by an
// operator that crashes in the middle. Called by result-sequences.test.ts.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { z } from "zod";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { advanceJob } from "../../src/db/job.ts";
import {
  endJob,
  type IngestOutcome,
  ingestDetections,
  ingestEmbeddings,
  ingestModel,
} from "../../src/db/operator/ingest.ts";
import { type JobKind, resourceName, runName } from "../../src/schemas/job-kind.ts";
import { result as resultSchema } from "../../src/schemas/worker.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertModel,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";
import { randomOf } from "./sequence.ts";

const nothing = z.object({});

export interface Job {
  readonly kind: JobKind;
  readonly id: string;
  readonly tenant: string;
  /** The files of each shard. */
  readonly shards: readonly (readonly string[])[];
}

/** Inserts a running job with these numbers of files in its shards. */
export async function makeJob(db: DatabasePool, kind: JobKind, sizes: readonly number[]): Promise<Job> {
  const tenant = await insertTenant(db);
  if (kind === "training") return { kind, tenant, id: await insertTrainingJob(db, tenant), shards: [[]] };
  const id = randomUUID();
  const shards: string[][] = [];
  if (kind === "inference") {
    const model = await insertModel(db, tenant);
    await db.query(sql.type(nothing)`
      insert into inference_jobs (id, tenant_id, model_id, config, total_files, shard_count, start_requested_at)
      values (${id}, ${tenant}, ${model}, '{}', ${sizes.reduce((a, b) => a + b)}, ${sizes.length}, now())`);
    for (const [shard, size] of sizes.entries()) {
      shards.push(Array.from({ length: size }, () => randomUUID()));
      await db.query(sql.type(nothing)`
        insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes, object_key,
          status, shard)
        select id, ${tenant}, ${id}, 'take.wav', 'audio/wav', 10, 'inference/' || id, 'queued', ${shard}
        from unnest(${sql.array(shards[shard]!, "uuid")}) as id`);
    }
    return { kind, tenant, id, shards };
  }
  const dataset = await insertDataset(db, tenant);
  await db.query(sql.type(nothing)`
    insert into embedding_jobs (id, tenant_id, shard_count) values (${id}, ${tenant}, ${sizes.length})`);
  for (const [shard, size] of sizes.entries()) {
    const files: string[] = [];
    for (let i = 0; i < size; i++) files.push(await insertConfirmedAudio(db, tenant, dataset));
    shards.push(files);
    await db.query(sql.type(nothing)`
      update audio_files set embedding_job_id = ${id}, embedding_shard = ${shard}, embedding_status = 'processing'
      where id = any(${sql.array(files, "uuid")})`);
  }
  return { kind, tenant, id, shards };
}

/** The result of one pod: equal for equal numbers. Variants of a shard contradict each other. */
export interface Delivery {
  readonly attempt: number;
  readonly shard: number;
  readonly variant: number;
}

const hex = (digit: number) => (digit % 16).toString(16).repeat(64);
const runOf = (job: Job, attempt: number) => runName(resourceName(job.kind, job.id), attempt);

function resultOf(job: Job, { attempt, shard, variant }: Delivery): object {
  const salt = attempt * 7 + shard * 3 + variant;
  const common = { version: 1, run: runOf(job, attempt), shard };
  if (job.kind === "training") {
    const artifact = (name: string) => ({ name, sha256: hex(salt), size_bytes: salt });
    return {
      ...common,
      kind: "train",
      artifact_types: ["click"],
      architecture: { family: "tcn" },
      metrics: { overall: { f1: salt / 100 } },
      artifacts: [artifact("model.onnx"), artifact("card.json")],
    };
  }
  // Some files fail, one may be missing, and a hostile pod also reports a file of another shard.
  const foreign = job.shards[(shard + 1) % job.shards.length]!.slice(0, 1);
  const own = job.shards[shard]!.filter((_, i) => (i + salt) % 5 !== 4);
  const items = [...new Set([...own, ...foreign])].map((id, i) => {
    if ((i + salt) % 4 === 3)
      return { id, status: "failed", error: { code: "undecodable", message: `Cut off at ${salt}.` } };
    const facts = {
      duration_ms: 1000 + salt,
      sample_rate_hz: 8000,
      channels: 1,
      sha256: hex(salt),
      size_bytes: 10,
    };
    const detections = Array.from({ length: (i + salt) % 6 }, (_, n) => ({
      artifact_type: "click",
      start_ms: n * 10,
      end_ms: n * 10 + salt,
      confidence: 0.5,
    }));
    return job.kind === "inference"
      ? { id, status: "completed", ...facts, detections }
      : {
          id,
          status: "completed",
          ...facts,
          codec: "pcm16",
          frames: 100,
          embedding: { sha256: hex(salt + 1), size_bytes: salt },
        };
  });
  if (job.kind === "inference") return { ...common, kind: "detect", items };
  return { ...common, kind: "embed", feature_spec: { id: "dsp", hash: "h", dims: 4, hop_ms: 10 }, items };
}

export async function deliver(db: DatabasePool, job: Job, delivery: Delivery): Promise<IngestOutcome> {
  const ref = { jobId: job.id, run: runOf(job, delivery.attempt), shard: delivery.shard };
  const result = resultSchema.parse(resultOf(job, delivery));
  const digest = JSON.stringify(delivery);
  if (result.kind === "detect") return await ingestDetections(db, ref, digest, result);
  if (result.kind === "embed") return await ingestEmbeddings(db, ref, digest, result);
  return await ingestModel(db, ref, digest, result, randomUUID());
}

/** Makes this run the current run of the row. */
export async function beginRun(db: DatabasePool, job: Job, attempt: number): Promise<void> {
  await advanceJob(db, job.kind, job.id, {
    status: "running",
    statusMessage: null,
    progressPercent: 0,
    platformJobName: runOf(job, attempt),
  });
}

export const complete = (db: DatabasePool, job: Job) =>
  endJob(db, job.kind, job.id, { status: "completed", statusMessage: null, errorMessage: null });

class Crash extends Error {}

/**
 * A database for an operator that crashes before its n-th statement, or after its commit when there are fewer
 * statements.
 */
function dyingAfter(db: DatabasePool, statements: number): DatabasePool {
  const transaction = async (handler: (tx: object) => Promise<unknown>) => {
    let left = statements;
    const result = await db.transaction((tx) => {
      const dying = Object.fromEntries(
        Object.entries(tx).map(([name, act]) => [
          name,
          async (...args: unknown[]) => {
            if (left-- === 0) throw new Crash();
            return await (act as (...args: unknown[]) => unknown)(...args);
          },
        ]),
      );
      return handler(dying);
    });
    throw new Crash(`after the commit of ${JSON.stringify(result)}`);
  };
  return { ...db, transaction } as unknown as DatabasePool;
}

export interface Summary {
  /** Deliveries whose ingest reported that they were the first of their shard. */
  readonly ingested: Delivery[];
  crashes: number;
  deliveries: number;
  /** How often a newer run began. */
  newerRuns: number;
}

/** Makes random deliveries, then all missing ones, ends the job, and then makes a few late deliveries. */
export async function playResults(db: DatabasePool, job: Job, seed: number): Promise<Summary> {
  const random = randomOf(seed);
  const below = (n: number) => Math.floor(random() * n);
  const summary: Summary = { ingested: [], crashes: 0, deliveries: 0, newerRuns: 0 };
  let attempt = 1;
  await beginRun(db, job, attempt);

  const deliverOne = async (delivery: Delivery, statements: number | undefined) => {
    summary.deliveries += 1;
    try {
      const by = statements === undefined ? db : dyingAfter(db, statements);
      const outcome = await deliver(by, job, delivery);
      if (outcome === "ingested") summary.ingested.push(delivery);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      summary.crashes += 1;
    }
  };
  const deliverSome = () =>
    Promise.all(
      Array.from({ length: 1 + below(3) }, () =>
        deliverOne(
          {
            attempt: Math.max(1, attempt + [0, 0, 0, -1, 1][below(5)]!),
            shard: below(job.shards.length),
            variant: random() < 0.8 ? 0 : 1,
          },
          random() < 0.4 ? below(14) : undefined,
        ),
      ),
    );

  for (let steps = 3 + below(12); steps > 0; steps--) {
    if (random() < 0.15 && attempt < 4) {
      await beginRun(db, job, ++attempt);
      summary.newerRuns += 1;
    }
    await deliverSome();
  }
  const rest = job.shards.map((_, shard) => ({ attempt, shard, variant: 0 }));
  for (const delivery of [...rest, ...rest].sort(() => random() - 0.5)) await deliverOne(delivery, undefined);
  await complete(db, job);
  for (let late = 0; late < 2; late++) await deliverSome();
  return summary;
}

/** The deliveries that the tables record as ingested, in a possible order of their arrival. */
export async function ingestedDeliveries(db: DatabasePool, job: Job): Promise<Delivery[]> {
  const rows = await db.any(sql.type(z.object({ digest: z.string() }))`
    select digest from result_ingests where run_id like ${`${resourceName(job.kind, job.id)}-%`}`);
  return rows
    .map(({ digest }) => JSON.parse(digest) as Delivery)
    .sort((a, b) => a.attempt - b.attempt || a.shard - b.shard);
}
