// The data of the benchmark's jobs: a database with one tenant and one model, and for each job its row, its files and
// the results of its workers. Called by main.ts.
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sql } from "slonik";
import { z } from "zod";
import { migrate } from "../../../src/db/driver/migrate.ts";
import { type DatabasePool, makeDatabase } from "../../../src/db/driver/pool.ts";
import { effectiveConfig } from "../../../src/schemas/inference-job.ts";
import { keys, resourceName, runName } from "../../../src/schemas/job-kind.ts";
import type { DetectResult } from "../../../src/schemas/worker.ts";
import { insertModel, insertTenant } from "../../support/rows.ts";

export interface BenchJob {
  readonly id: string;
  /** Name of the custom resource. */
  readonly name: string;
  /** Name of its first Kubernetes Job. */
  readonly run: string;
  /** Files by shard. */
  readonly files: readonly (readonly string[])[];
}

export interface World {
  readonly databaseUrl: string;
  readonly pool: DatabasePool;
  readonly tenant: string;
  readonly model: string;
  /** New jobs that are in no table yet. */
  jobs(count: number, shards: number, filesPerShard: number): BenchJob[];
  /** Inserts their rows, as the API leaves them after their submission. */
  insert(jobs: readonly BenchJob[]): Promise<void>;
  /** Ids of the completed jobs among the given ones. */
  completed(ids: readonly string[]): Promise<readonly string[]>;
  end(): Promise<void>;
}

const none = z.object({});
const config = JSON.stringify(effectiveConfig({}));

export async function makeWorld(adminUrl: string): Promise<World> {
  const admin = await makeDatabase({ PLOSIVE_DATABASE_URL: adminUrl, PLOSIVE_DATABASE_POOL: 1 });
  await admin.query(sql.type(none)`create database bench`);
  await admin.end();
  const url = new URL(adminUrl);
  url.pathname = "/bench";
  const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: url.href, PLOSIVE_DATABASE_POOL: 4 }, 60_000);
  await migrate(pool);
  const tenant = await insertTenant(pool);
  const model = await insertModel(pool, tenant);
  return {
    databaseUrl: url.href,
    pool,
    tenant,
    model,
    jobs: (count, shards, filesPerShard) =>
      Array.from({ length: count }, () => {
        const id = randomUUID();
        const name = resourceName("inference", id);
        const files = Array.from({ length: shards }, () => Array.from({ length: filesPerShard }, randomUUID));
        return { id, name, run: runName(name, 1), files };
      }),
    async insert(jobs) {
      const rows = jobs.map(({ id, files }) => [id, files.flat().length, files.length]);
      await pool.query(sql.type(none)`
        insert into inference_jobs (id, tenant_id, model_id, config, total_files, shard_count, start_requested_at, submitted_at)
        select id, ${tenant}, ${model}, ${config}::jsonb, files, shards, now(), now()
        from ${sql.unnest(rows, ["uuid", "int4", "int4"])} as r (id, files, shards)`);
      const files = jobs.flatMap(({ id, files }) =>
        files.flatMap((own, shard) => own.map((file) => [file, id, shard])),
      );
      await pool.query(sql.type(none)`
        insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes, object_key, status, shard)
        select file, ${tenant}, job, 'take.wav', 'audio/wav', 10, 'inference/' || file, 'queued', shard
        from ${sql.unnest(files, ["uuid", "uuid", "int4"])} as r (file, job, shard)`);
    },
    completed: (ids) =>
      pool.anyFirst(sql.type(z.object({ id: z.string() }))`
        select id from inference_jobs where status = 'completed' and id = any(${sql.array(ids, "uuid")})`),
    end: () => pool.end(),
  };
}

const facts = {
  duration_ms: 60_000,
  sample_rate_hz: 48_000,
  channels: 1,
  size_bytes: 10,
  sha256: "a".repeat(64),
};
const detections = [10, 20, 30].map((at) => ({
  artifact_type: "click",
  start_ms: at * 1000,
  end_ms: at * 1000 + 40,
  confidence: 0.9,
}));

/** The result of a shard's worker. */
export function resultOf(job: BenchJob, shard: number): DetectResult {
  const items = (job.files[shard] ?? []).map((id) => ({
    id,
    status: "completed" as const,
    ...facts,
    detections,
  }));
  return { version: 1, kind: "detect", run: job.run, shard, items };
}

/** Writes the results of all shards into the S3 server's directory, where it serves them like any other object. */
export function layResults(bucketFolder: string, jobs: readonly BenchJob[]): void {
  for (const job of jobs)
    for (let shard = 0; shard < job.files.length; shard++) {
      const file = join(bucketFolder, keys.result(job.run, shard));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(resultOf(job, shard)));
    }
}
