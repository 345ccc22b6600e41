// All that the operator reads about an open job, in one statement. Real Postgres.
import { sql } from "slonik";
import { expect, it } from "vitest";
import { maybeOneJob } from "../../src/db/job.ts";
import { maybeOneJobState } from "../../src/db/operator/job-state.ts";
import { saveMetrics, saveProgress } from "../../src/db/operator/run.ts";
import { type PodEnd, recordPods } from "../../src/db/operator/run-pod.ts";
import { execute, useDatabase } from "../support/postgres.ts";
import { insertTenant, insertTrainingJob } from "../support/rows.ts";

const database = useDatabase();

const report = { podUid: "pod", seq: 1, itemsDone: 1, itemsTotal: 2, itemsFailed: 0, fraction: 0.5 };
const podEnd = (podUid: string, runId: string, endedAt: number, message?: string): PodEnd => ({
  podUid,
  runId,
  shard: 0,
  startedAt: endedAt - 10_000,
  endedAt,
  cpu: 2,
  gpu: 1,
  failure: message === undefined ? undefined : { class: "Infra", code: "evicted", message, retryable: true },
});

it("is the row with the reports of the run, ingested shards, failed pods and the ends of the curves", async () => {
  const db = database.operatorPool;
  const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
  const [first, second] = [`tj-${id}-1`, `tj-${id}-2`];
  const before = Date.now();
  await saveProgress(db, [
    { ...report, run: first, shard: 0, message: "the run before", checkpointStep: null },
    { ...report, run: second, shard: 1, message: null, checkpointStep: null },
    { ...report, run: second, shard: 0, message: 'épreuve "2"', checkpointStep: 7 },
  ]);
  await saveMetrics(db, [
    { trainingJobId: id, name: "loss", step: 1, value: 0.9 },
    { trainingJobId: id, name: "loss", step: 2, value: 0.1 },
    { trainingJobId: id, name: "f1", step: 1, value: 0.5 },
  ]);
  const ended = [podEnd("late", second, before, "late"), podEnd("early", first, before - 1, "early")];
  expect(await recordPods(db, "training", id, [...ended, podEnd("well", second, before)])).toHaveLength(3);
  expect(await recordPods(db, "training", id, ended)).toEqual([]);
  await execute(
    database.pool,
    sql.fragment`insert into result_ingests (run_id, shard, digest) values (${first}, 3, 'd'), (${second}, 1, 'd')`,
  );

  const state = await maybeOneJobState(db, "training", id, second);
  expect(state?.row).toEqual(await maybeOneJob(db, "training", id));
  expect(state?.row).toMatchObject({ pod_seconds: 30, cpu_seconds: 60, gpu_seconds: 30 });
  expect(state?.progress).toMatchObject([
    { shard: 0, pod_uid: "pod", items_done: 1, fraction: 0.5, message: 'épreuve "2"', checkpoint_step: 7 },
    { shard: 1, message: null, checkpoint_step: null, checkpoint_at: null },
  ]);
  for (const time of [state?.progress[0]?.checkpoint_at, state?.progress[1]?.updated_at])
    expect(Math.abs((time ?? 0) - before)).toBeLessThan(60_000);
  expect(state?.failedPods.map(({ pod_uid, run_id, failure }) => [pod_uid, run_id, failure.message])).toEqual(
    [
      ["early", first, "early"],
      ["late", second, "late"],
    ],
  );
  expect([...(state?.ingested ?? [])].sort()).toEqual([1, 3]);
  expect(state?.metrics).toEqual([
    { name: "f1", value: 0.5 },
    { name: "loss", value: 0.1 },
  ]);
  expect((await maybeOneJobState(db, "training", id, first))?.ingested).toEqual([3]);
});

it("has no reports before the first run, and is null for a job that does not exist", async () => {
  const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
  const empty = { progress: [], ingested: [], failedPods: [], metrics: [] };
  expect(await maybeOneJobState(database.operatorPool, "training", id, undefined)).toMatchObject(empty);
  expect(await maybeOneJobState(database.operatorPool, "inference", id, undefined)).toBeNull();
});
