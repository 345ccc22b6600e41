// kill -9 of the operator between any two statements of an ingest: the result is stored completely or not at all, and
// any number of further deliveries of the same result to the next process lead to the same rows.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, describe, expect, it } from "vitest";
import { execute } from "../support/api.ts";
import { startVictim } from "../support/faults.ts";
import { useDatabase } from "../support/postgres.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertInferenceJob,
  insertModel,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";
import { isFull, nextPoint } from "../support/trial.ts";
import { type Delivery, takeIn } from "./delivery.ts";
import { digestOfTables } from "./digest.ts";

const database = useDatabase();
const folder = mkdtempSync(join(tmpdir(), "plosive-ingest-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hex = (digit: string) => digit.repeat(64);
const facts = { duration_ms: 1000, sample_rate_hz: 16_000, channels: 1, sha256: hex("e"), size_bytes: 10 };
const artifact = (name: string) => ({ name, sha256: hex("f"), size_bytes: 7 });

async function running(table: string, id: string, run: string): Promise<void> {
  await execute(
    database.pool,
    sql.fragment`update ${sql.identifier([table])} set status = 'running', platform_job_name = ${run},
      submitted_at = now(), queued_at = now(), started_at = now() where id = ${id}`,
  );
}

const deliveries: Readonly<Record<string, () => Promise<Delivery>>> = {
  detections: async () => {
    const tenant = await insertTenant(database.pool);
    const job = await insertInferenceJob(database.pool, tenant, await insertModel(database.pool, tenant), 1);
    const run = `ij-${job.id}-1`;
    await running("inference_jobs", job.id, run);
    const detections = Array.from({ length: 6_000 }, (_, i) => ({
      artifact_type: "click",
      start_ms: i,
      end_ms: i + 1,
      confidence: 0.5,
    }));
    const items = [{ id: job.files[0]!, status: "completed", ...facts, detections }];
    return deliveryOf(job.id, run, { kind: "detect", items });
  },
  embeddings: async () => {
    const tenant = await insertTenant(database.pool);
    const dataset = await insertDataset(database.pool, tenant);
    const [done, failed, silent] = [
      await insertConfirmedAudio(database.pool, tenant, dataset),
      await insertConfirmedAudio(database.pool, tenant, dataset),
      await insertConfirmedAudio(database.pool, tenant, dataset),
    ];
    const id = randomUUID();
    const run = `ej-${id}-1`;
    await execute(
      database.pool,
      sql.fragment`insert into embedding_jobs (id, tenant_id, shard_count) values (${id}, ${tenant}, 1)`,
    );
    await execute(
      database.pool,
      sql.fragment`update audio_files set embedding_job_id = ${id}, embedding_shard = 0, embedding_status = 'processing'
        where id = any(${sql.array([done, failed, silent], "uuid")})`,
    );
    await running("embedding_jobs", id, run);
    return deliveryOf(id, run, {
      kind: "embed",
      feature_spec: { id: "dsp", hash: "h", dims: 4, hop_ms: 10 },
      items: [
        {
          id: done,
          status: "completed",
          ...facts,
          codec: "pcm16",
          frames: 100,
          embedding: { sha256: hex("a"), size_bytes: 5 },
        },
        { id: failed, status: "failed", error: { code: "undecodable", message: "The file is cut off." } },
      ],
    });
  },
  "a model": async () => {
    const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
    const run = `tj-${id}-1`;
    await running("training_jobs", id, run);
    return deliveryOf(id, run, {
      kind: "train",
      artifact_types: ["click"],
      architecture: { family: "tcn" },
      metrics: { overall: { f1: 0.9 } },
      artifacts: [artifact("model.onnx"), artifact("card.json")],
    });
  },
};

const deliveryOf = (jobId: string, run: string, result: object): Delivery => ({
  ref: { jobId, run, shard: 0 },
  digest: "d1",
  result: { version: 1, run, shard: 0, ...result },
  modelId: randomUUID(),
});

/** Delivers in one process; returns true if it was killed before it finished. */
async function deliver(delivery: Delivery, after: number): Promise<boolean> {
  // The test needs no S3 server, so the second proxy has no target.
  const servers = { databaseUrl: database.urlOf("plosive_operator"), storeUrl: "http://127.0.0.1:9" };
  const file = join(folder, "delivery.json");
  writeFileSync(file, JSON.stringify(delivery));
  const { faults, child, gone } = await startVictim(
    servers,
    [join(import.meta.dirname, "ingest-process.ts"), file],
    (proxies) => ({
      DATABASE_URL: proxies.databaseUrl,
    }),
  );
  faults.arm(after, () => child.kill("SIGKILL"));
  await gone();
  if (child.signalCode === null) expect(child.exitCode).toBe(0);
  return child.signalCode === "SIGKILL";
}

/** Delivers without a kill, as the operator does any number of times. */
async function deliverUndisturbed(delivery: Delivery): Promise<void> {
  await takeIn(database.pool, delivery);
}

describe("an operator that is killed between any two statements", () => {
  it.each(Object.entries(deliveries))(
    "of an ingest of %s leaves all or nothing",
    async (name, prepare) => {
      const states = new Set<string>();
      for (let after = nextPoint(3); ; after = nextPoint(3, after)) {
        // Empties the tables first: most of the time would go to digests of thousands of detections.
        await execute(database.pool, sql.fragment`truncate tenants, result_ingests cascade`);
        const delivery = await prepare();
        const before = JSON.stringify(await digestOfTables(database.pool));
        const killed = await deliver(delivery, after);
        const left = JSON.stringify(await digestOfTables(database.pool));
        const taken = await countTaken(delivery.ref.run);
        const ended = await statusOf(delivery);
        states.add(`${taken} ${ended}`);
        if (left === before) expect([taken, ended]).toEqual([0, "running"]);
        await deliverUndisturbed(delivery);
        const complete = JSON.stringify(await digestOfTables(database.pool));
        expect(await statusOf(delivery)).toBe("completed");
        if (ended === "completed") expect(left, `after ${after} statements`).toBe(complete);
        await checkRows(name, delivery);
        await deliverUndisturbed(delivery);
        expect(JSON.stringify(await digestOfTables(database.pool))).toBe(complete);
        if (!killed) {
          console.info(`${name}: killed at ${after} points, left as ${[...states].join(", ")}`);
          break;
        }
      }
      // Three states are possible: nothing, the result without the job's end, everything. A slice of the points may
      // reach only some of them.
      const possible = ["0 running", "1 completed", "1 running"];
      if (isFull) expect([...states].sort()).toEqual(possible);
      else expect(possible).toEqual(expect.arrayContaining([...states]));
    },
    300_000,
  );
});

async function one(statement: ReturnType<typeof sql.fragment>): Promise<Record<string, unknown>> {
  return (await database.pool.one(sql.unsafe`${statement}`)) as Record<string, unknown>;
}

async function countTaken(run: string): Promise<number> {
  return (await one(sql.fragment`select count(*)::int as n from result_ingests where run_id = ${run}`))
    .n as number;
}

async function statusOf({ ref }: Delivery): Promise<string> {
  return (
    await one(sql.fragment`
      select status from training_jobs where id = ${ref.jobId} union all
      select status from inference_jobs where id = ${ref.jobId} union all
      select status from embedding_jobs where id = ${ref.jobId}`)
  ).status as string;
}

async function checkRows(name: string, { ref }: Delivery): Promise<void> {
  if (name === "detections")
    expect(
      await one(sql.fragment`
        select total_detections::int as total, processed_files as files,
          (select count(*)::int from detections where inference_job_id = ${ref.jobId}) as rows
        from inference_jobs where id = ${ref.jobId}`),
    ).toEqual({ total: 6_000, files: 1, rows: 6_000 });
  if (name === "embeddings")
    expect(
      await one(sql.fragment`
        select array_agg(status order by status) as states from audio_files where embedding_job_id = ${ref.jobId}`),
    ).toEqual({ states: ["failed", "failed", "ready"] });
  if (name === "a model")
    expect(
      await one(
        sql.fragment`select count(*)::int as models from models where training_job_id = ${ref.jobId}`,
      ),
    ).toEqual({ models: 1 });
}
