// Results are ingested exactly once. Random sequences of deliveries (repeated, reordered, from several runs,
// concurrent, interrupted by crashes) must leave the rows, sums and events that each shard's first result alone leaves.
// PLOSIVE_TEST_SEED repeats a run.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { embeddingJobAdapter } from "../../controllers/embedding-job/adapter.ts";
import { ingestResults } from "../../controllers/job/results.ts";
import { dropIngests } from "../../src/db/operator/ingest.ts";
import { makeLog } from "../../src/log.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { type JobKind, keys, resourceName, runName } from "../../src/schemas/job-kind.ts";
import { useDatabase } from "../support/postgres.ts";
import { useStorage } from "../support/s3.ts";
import { rounds, seed } from "../support/trial.ts";
import {
  beginRun,
  complete,
  deliver,
  ingestedDeliveries,
  type Job,
  makeJob,
  playResults,
} from "./result-sequence.ts";
import { randomOf } from "./sequence.ts";

const database = useDatabase();
const count = rounds({ slice: 24, full: 80 });
const atOnce = 4;

/** Everything that a client can see of the job, without ids and times. */
async function pictureOf(job: Job): Promise<unknown> {
  const { id, tenant, kind } = job;
  const table = sql.identifier([`${kind}_jobs`]);
  const text = await database.pool.oneFirst(sql.type(z.object({ picture: z.string() }))`
    select jsonb_build_object(
      'job', (select to_jsonb(j) from ${table} j where id = ${id}),
      'inference', (select jsonb_agg(to_jsonb(f) || jsonb_build_object('found', (
          select jsonb_agg(to_jsonb(d) - 'id' order by ordinal) from detections d where d.inference_file_id = f.id))
        order by shard, array_position(${sql.array(job.shards.flat(), "uuid")}, f.id))
        from inference_files f where inference_job_id = ${id}),
      'audio', (select jsonb_agg(to_jsonb(f) order by array_position(${sql.array(job.shards.flat(), "uuid")}, f.id))
        from audio_files f where embedding_job_id = ${id}),
      'models', (select jsonb_agg(to_jsonb(m)) from models m where training_job_id = ${id}),
      'usage', (select to_jsonb(u) from tenant_usage u where tenant_id = ${tenant}),
      'events', (select jsonb_object_agg(type, count) from (
        select type, count(*) as count from (
          select tenant_id, type from event_inbox union all select tenant_id, type from events) e
        where tenant_id = ${tenant} group by type) t),
      'messages', (select jsonb_agg(message order by id) from job_events where job_id = ${id})
    )::text as picture`);
  const ids = [...text.matchAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g)].map(([found]) => found);
  const known = [...new Set(ids)];
  const named = text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (found) => `id ${known.indexOf(found)}`)
    .replace(/\d{4}-\d\d-\d\dT[\d:.+]+/g, "then")
    // The sum of the same seconds in another order differs in its last digits.
    .replace(/"audio_seconds": ([\d.]+)/g, (_, sum) => `"audio_seconds": ${Number(sum).toFixed(3)}`);
  const picture = JSON.parse(named);
  // The name of the last run is not part of its results.
  delete picture.job.platform_job_name;
  return picture;
}

it.each<JobKind>(["inference", "embedding", "training"])(
  `${count} random sequences of results of %s jobs leave the same state as one delivery per shard`,
  async (kind) => {
    const sums = { deliveries: 0, crashes: 0, newerRuns: 0 };
    const play = async (i: number) => {
      const random = randomOf(seed + i);
      const sizes = Array.from({ length: 1 + Math.floor(random() * 3) }, () => 1 + Math.floor(random() * 4));
      const [job, twin] = [
        await makeJob(database.pool, kind, sizes),
        await makeJob(database.pool, kind, sizes),
      ];
      const summary = await playResults(database.pool, job, seed + i);
      const taken = await ingestedDeliveries(database.pool, job);
      const label = `seed ${seed}, sequence ${i}`;
      // Each shard is ingested once, and no other delivery was reported as the first.
      expect(taken.map(({ shard }) => shard).sort(), label).toEqual(job.shards.map((_, shard) => shard));
      for (const delivery of summary.ingested) expect(taken, label).toContainEqual(delivery);
      expect(new Set(summary.ingested.map(({ shard }) => shard)).size, label).toBe(summary.ingested.length);
      await beginRun(database.pool, twin, 1);
      for (const delivery of taken) {
        await beginRun(database.pool, twin, delivery.attempt);
        expect(await deliver(database.pool, twin, delivery), label).toBe("ingested");
      }
      await complete(database.pool, twin);
      expect(await pictureOf(job), label).toEqual(await pictureOf(twin));
      sums.deliveries += summary.deliveries;
      sums.crashes += summary.crashes;
      sums.newerRuns += summary.newerRuns;
    };
    const waiting = Array.from({ length: count }, (_, i) => i);
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let i = waiting.shift(); i !== undefined; i = waiting.shift()) await play(i);
      }),
    );
    console.info(`seed ${seed}: ${JSON.stringify(sums)}`);
    // The sequences contained crashes and newer runs.
    expect(sums.crashes).toBeGreaterThan(count / 4);
    expect(sums.newerRuns).toBeGreaterThan(0);
  },
  240_000,
);

it.each<JobKind>(["inference", "embedding", "training"])(
  "results of %s jobs that arrive after the records of their ingests were deleted change nothing",
  async (kind) => {
    const job = await makeJob(database.pool, kind, [2, 2]);
    await beginRun(database.pool, job, 2);
    const all = job.shards.map((_, shard) => ({ attempt: 2, shard, variant: 0 }));
    for (const delivery of all) expect(await deliver(database.pool, job, delivery)).toBe("ingested");
    await complete(database.pool, job);
    const before = await pictureOf(job);
    expect(await ingestedDeliveries(database.pool, job)).toHaveLength(all.length);
    await dropIngests(database.operatorPool, runName(resourceName(kind, job.id), 20));
    expect(await ingestedDeliveries(database.pool, job)).toEqual([]);
    for (const delivery of all)
      for (const variant of [0, 1])
        expect(await deliver(database.pool, job, { ...delivery, variant })).toBe("fenced");
    expect(await pictureOf(job)).toEqual(before);
  },
);

describe("a result that cannot be stored", () => {
  const store = useStorage();
  const poisons: [string, (item: Record<string, unknown>) => unknown[], RegExp][] = [
    ["a file twice", (item) => [item, item], /two results for the same file/],
    ["a number beyond its column", (item) => [{ ...item, sample_rate_hz: 2 ** 40 }], /cannot be stored/],
    ["a text with a zero byte", (item) => [{ ...item, codec: "a\u0000b" }], /cannot be stored/],
  ];
  it.each(poisons)(
    "is rejected as invalid instead of being retried forever (%s)",
    async (_name, itemsOf, message) => {
      const job = await makeJob(database.pool, "embedding", [1]);
      await beginRun(database.pool, job, 1);
      const run = `ej-${job.id}-1`;
      const item = {
        id: job.shards[0]![0]!,
        status: "completed",
        duration_ms: 1000,
        sample_rate_hz: 8000,
        channels: 1,
        sha256: "a".repeat(64),
        size_bytes: 10,
        codec: "pcm16",
        frames: 100,
        embedding: { sha256: "b".repeat(64), size_bytes: 5 },
      };
      const spec = { id: "dsp", hash: "h", dims: 4, hop_ms: 10 };
      const result = { version: 1, kind: "embed", run, shard: 0, feature_spec: spec, items: itemsOf(item) };
      await store.storage.write(keys.result(run, 0), JSON.stringify(result));
      const log = makeLog("test", "error");
      const adapter = embeddingJobAdapter({ db: database.pool, installation: defaultInstallation });
      const taken = await ingestResults({ storage: store.storage, log }, adapter, job.id, run, [0]);
      expect(taken.ingested).toEqual([]);
      expect(taken.bad.get(0)).toMatchObject({
        code: "result_invalid",
        message: expect.stringMatching(message),
      });
      expect(await ingestedDeliveries(database.pool, job)).toEqual([]);
    },
  );
});
