// Authorization of the run endpoint, with tokens from the real TokenRequest API that are bound to real pods: a token
// is valid only for its own run, shard, audience and account.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { finishJob } from "../../src/db/job.ts";
import { tokenOf } from "../support/kube.ts";
import { audience, callRuns, type Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator();
const { cluster, database } = stage;
let mine: Worker;
let other: Worker;
let sharded: { id: string };

beforeAll(async () => {
  const [one, two] = [await insertTenant(database.pool), await insertTenant(database.pool)];
  const [first, second] = [
    await insertTrainingJob(database.pool, one),
    await insertTrainingJob(database.pool, two),
  ];
  sharded = await insertInferenceJob(database.pool, one, await insertModel(database.pool, one), 2);
  [mine, other] = [await workerOf(`tj-${first}-1`), await workerOf(`tj-${second}-1`)];
});

const workerOf = async (run: string, shard?: number) => stage.worker(await stage.podOf(run, shard));
const workOf = (run: string, shard = 0) => `/v1/runs/${run}/shards/${shard}/work`;

describe("the run endpoint", () => {
  it("gives a pod its own work", async () => {
    expect((await mine.work()).run).toBe(mine.run);
  });

  it("answers 403 to a token of another run, for work and for progress", async () => {
    await mine.work();
    const token = await other.token();
    expect((await mine.call("GET", workOf(mine.run), { token })).status).toBe(403);
    const body = {
      seq: 1,
      items_done: 1,
      items_total: 1,
      items_failed: 0,
      fraction: 1,
      message: null,
      metrics: [],
    };
    const path = `/v1/runs/${mine.run}/shards/0/progress`;
    expect((await mine.call("PUT", path, { token, body })).status).toBe(403);
    const lines = await database.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
      select count(*)::int as count from shard_progress where run_id = ${mine.run}`);
    expect(lines).toBe(0);
  });

  it("answers 403 to a token of another shard of the same run", async () => {
    const run = `ij-${sharded.id}-1`;
    const first = await workerOf(run, 0);
    expect((await first.work()).shard).toBe(0);
    expect((await first.call("GET", workOf(run, 1))).status).toBe(403);
  });

  it.each([
    ["no token", async () => null, 401],
    ["a token without a signature", async () => "x.y.z", 403],
    [
      "a token for the API server instead of this endpoint",
      () => tokenOf(cluster.admin, stage.namespace, "plosive-worker", { pod: podRef(mine) }),
      403,
    ],
    [
      "a token of the right account that is bound to no pod",
      () => tokenOf(cluster.admin, stage.namespace, "plosive-worker", { audience }),
      403,
    ],
    [
      "a token of another service account",
      () => tokenOf(cluster.admin, stage.namespace, "plosive-operator", { audience }),
      403,
    ],
  ])("refuses %s", async (_name, token, status) => {
    const answer = await callRuns(cluster, stage.operator.runsPort, "GET", workOf(mine.run), await token());
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain("http");
  });

  it.each([
    ["a path that does not exist", "GET", "/v1/runs", 404],
    ["a method that the path does not support", "DELETE", "work", 405],
    ["a report that does not match the schema", "PUT", "progress", 422],
  ])("refuses %s", async (_name, method, end, status) => {
    const path = end.startsWith("/") ? end : `/v1/runs/${mine.run}/shards/0/${end}`;
    const body = method === "PUT" ? { seq: "one" } : undefined;
    expect((await mine.call(method, path, { body })).status).toBe(status);
  });

  it("ignores a report that is older than the stored one", async () => {
    const run = `ij-${sharded.id}-1`;
    const worker = await workerOf(run, 1);
    await worker.work();
    expect(await worker.report({ seq: 5, fraction: 0.5 })).toBe(204);
    expect(await worker.report({ seq: 4, fraction: 0.1 })).toBe(204);
    const line = await poll("the report", () =>
      database.pool.maybeOne(sql.type(z.object({ seq: z.number(), fraction: z.number() }))`
        select seq, fraction from shard_progress where run_id = ${run} and shard = 1`),
    );
    expect(line).toEqual({ seq: 5, fraction: 0.5 });
  });

  it("stores only a limited number of metric points of a training, and keeps storing its progress", async () => {
    await mine.work();
    const token = await mine.token();
    const report = (seq: number, points: { step: number; name: string; value: number }[]) =>
      mine.call("PUT", `/v1/runs/${mine.run}/shards/0/progress`, {
        token,
        body: {
          ...{ seq, items_done: seq, items_total: 1_000, items_failed: 0, fraction: 0, message: null },
          metrics: points,
        },
      });
    const stored = (seq: number) =>
      poll("the report", () =>
        database.pool.maybeOneFirst(sql.type(z.object({ seq: z.number() }))`
          select seq from shard_progress where run_id = ${mine.run} and seq = ${seq}`),
      );
    const flood = (seq: number) =>
      Array.from({ length: 256 }, (_, n) => ({ step: seq * 256 + n, name: "flood", value: 1 }));
    for (let seq = 1; seq <= 195; seq++) expect((await report(seq, flood(seq))).status).toBe(204);
    await stored(195);
    expect((await report(196, [{ step: 1, name: "within", value: 1 }])).status).toBe(204);
    for (let seq = 197; seq <= 198; seq++) expect((await report(seq, flood(seq))).status).toBe(204);
    expect((await report(199, [{ step: 1, name: "beyond", value: 1 }])).status).toBe(204);
    await stored(199);
    // Points are written after the progress of the same report: the next report is written after both.
    expect((await report(200, [])).status).toBe(204);
    await stored(200);
    const names = await database.pool.anyFirst(sql.type(z.object({ name: z.string() }))`
      select distinct name from training_metrics where training_job_id = ${mine.run.slice(3, 39)} order by name`);
    expect(names).toEqual(["flood", "within"]);
  });

  it("answers 410 once the job has ended", async () => {
    await other.work();
    const id = other.run.slice(3, 39);
    await finishJob(database.pool, "training", id, {
      status: "cancelled",
      statusMessage: null,
      errorMessage: null,
    });
    expect((await other.call("GET", workOf(other.run))).status).toBe(410);
  });
});

const podRef = (worker: Worker) => ({ name: worker.pod.metadata.name, uid: worker.pod.metadata.uid ?? "" });
