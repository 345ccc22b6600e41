// Progress of many jobs in one statement: from the reports of their shards into their rows. Real Postgres.
import { sql } from "slonik";
import { beforeAll, expect, it, vi } from "vitest";
import { advanceJob, maybeOneJob } from "../../src/db/job.ts";
import { maybeOneJobState } from "../../src/db/operator/job-state.ts";
import { advanceReportedJobs, type ProgressLine, saveProgress } from "../../src/db/operator/run.ts";
import { execute, useDatabase } from "../support/postgres.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";

const database = useDatabase();
let tenant: string;
let model: string;
beforeAll(async () => {
  tenant = await insertTenant(database.pool);
  model = await insertModel(database.pool, tenant);
});

const line = (run: string, shard: number, fraction: number, message: string | null = null): ProgressLine => ({
  run,
  shard,
  podUid: `pod-${shard}`,
  seq: Math.round(fraction * 1_000),
  itemsDone: 0,
  itemsTotal: 10,
  itemsFailed: 0,
  fraction,
  message,
  checkpointStep: null,
});
const start = (kind: "training" | "inference", jobId: string, run: string) =>
  advanceJob(database.pool, kind, jobId, {
    status: "running",
    statusMessage: "Pods run.",
    progressPercent: 0,
    platformJobName: run,
  });
const shown = async (kind: "training" | "inference", id: string) => {
  const row = await maybeOneJob(database.pool, kind, id);
  return [row?.progress_percent, row?.status_message];
};

it("the mean of the shards and the newest message go into the row; the percentage never falls", async () => {
  const { id } = await insertInferenceJob(database.pool, tenant, model, 4);
  await execute(database.pool, sql.fragment`update inference_jobs set shard_count = 4 where id = ${id}`);
  const run = `ij-${id}-1`;
  await start("inference", id, run);
  await saveProgress(database.pool, [line(run, 0, 0.5, "older")]);
  await saveProgress(database.pool, [line(run, 1, 0.75, "newer")]);
  const report = () => advanceReportedJobs(database.pool, "inference", [{ jobId: id, run }]);
  await report();
  expect(await shown("inference", id)).toEqual([31, "newer"]);
  await saveProgress(database.pool, [{ ...line(run, 1, 0.1), podUid: "its replacement" }]);
  await report();
  expect(await shown("inference", id)).toEqual([31, "newer"]);
  await saveProgress(
    database.pool,
    [0, 1, 2, 3].map((shard) => ({ ...line(run, shard, 1), seq: 5_000 })),
  );
  await report();
  // Only the end of the job is 100 percent.
  expect((await shown("inference", id))[0]).toBe(99);
});

it("jobs that do not run, have ended or name another run keep what they have", async () => {
  const ids = await Promise.all([1, 2, 3].map(() => insertTrainingJob(database.pool, tenant)));
  const [queued, ended, newer] = ids as [string, string, string];
  const runs = ids.map((jobId) => ({ jobId, run: `tj-${jobId}-1` }));
  for (const { jobId, run } of runs.slice(1)) await start("training", jobId, run);
  await execute(
    database.pool,
    sql.fragment`update training_jobs set status = 'cancelled', completed_at = now(), status_message = 'enough' where id = ${ended}`,
  );
  await start("training", newer, `tj-${newer}-2`);
  await saveProgress(
    database.pool,
    runs.map(({ run }) => line(run, 0, 0.5, "epoch 3")),
  );
  const before = await Promise.all(ids.map((id) => shown("training", id)));
  await advanceReportedJobs(database.pool, "training", runs);
  expect(await Promise.all(ids.map((id) => shown("training", id)))).toEqual(before);
  await start("training", queued, `tj-${queued}-1`);
  await advanceReportedJobs(database.pool, "training", runs);
  expect(await shown("training", queued)).toEqual([50, "epoch 3"]);
});

it("the time of a report is by the clock of the reader, whatever that of the database says", async () => {
  const id = await insertTrainingJob(database.pool, tenant);
  const run = `tj-${id}-1`;
  await saveProgress(database.operatorPool, [line(run, 0, 0.5)]);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
  try {
    const state = await maybeOneJobState(database.operatorPool, "training", id, run);
    expect(Math.abs(Date.now() - (state?.progress[0]?.updated_at ?? 0))).toBeLessThan(60_000);
  } finally {
    vi.useRealTimers();
  }
});
