// Authorization of the run endpoint, with tokens from the real TokenRequest API that are bound to real pods: a token
// is valid only for its own run, shard, audience and account.
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { finishJob } from "../../src/db/job.ts";
import { tokenOf } from "../support/kube.ts";
import { callRuns, type Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { audience } from "../support/runs.ts";
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
    ["a token of another pod with this pod's name", async () => renamed(await other.token()), 403],
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

describe("the work of a large training", () => {
  let large: Worker;
  const expected = z.object({ id: z.string(), reviewed: z.boolean(), annotations: z.unknown() });

  beforeAll(async () => {
    const job = await insertTrainingJob(database.pool, await insertTenant(database.pool));
    await database.pool.transaction(async (tx) => {
      const run = (statement: ReturnType<typeof sql.fragment>) =>
        tx.query(sql.type(z.object({}))`${statement}`);
      // Without triggers: the set is published.
      await run(sql.fragment`set local session_replication_role = replica`);
      await run(sql.fragment`
        insert into training_job_files
        select training_job_id, gen_random_uuid(), duration_ms, embedding_key, embedding_sha256, embedding_size_bytes,
          embedding_model, embedding_spec_hash, tenant_id
        from (select * from training_job_files where training_job_id = ${job} limit 1) one, generate_series(1, 120)`);
      await run(sql.fragment`
        insert into annotations
          (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms)
        select gen_random_uuid(), j.tenant_id, j.dataset_id, j.annotation_set_id, f.audio_file_id, repeat('t', 64),
          n % 7000, n % 7000 + 50
        from training_jobs j join training_job_files f on f.training_job_id = j.id,
          generate_series(1, case when f.audio_file_id in (
            select audio_file_id from training_job_files where training_job_id = ${job} order by audio_file_id offset 60 limit 1)
          then 150000 else hashtext(f.audio_file_id::text) & 7 end) n
        where j.id = ${job}`);
    });
    large = await workerOf(`tj-${job}-1`);
  }, 60_000);

  const open = async () => {
    const options = {
      ca: readFileSync(cluster.tls.caFile),
      agent: false,
      headers: { authorization: `Bearer ${await large.token()}` },
    };
    const url = `https://127.0.0.1:${stage.operator.runsPort}${workOf(large.run)}`;
    return new Promise<IncomingMessage>((resolve, reject) => {
      request(url, options, resolve).on("error", reject).end();
    });
  };

  it("has every label of every file", async () => {
    const work = await large.work();
    if (work.kind !== "train") throw new Error(`work of kind ${work.kind}`);
    const files = await database.pool.any(sql.type(expected)`
      select f.audio_file_id as id, count(a.id) > 0 as reviewed, coalesce(json_agg(json_build_object(
          'artifact_type', a.artifact_type, 'start_ms', a.start_ms, 'end_ms', least(a.end_ms, f.duration_ms))
          order by a.start_ms, a.id) filter (where a.start_ms <= f.duration_ms), '[]') as annotations
      from training_job_files f join training_jobs j on j.id = f.training_job_id
        left join annotations a on a.annotation_set_id = j.annotation_set_id and a.audio_file_id = f.audio_file_id
      where f.training_job_id = ${large.run.slice(3, 39)} group by f.audio_file_id, f.duration_ms order by f.audio_file_id`);
    expect(files).toHaveLength(122);
    // Comparing 150,000 objects would take seconds.
    const textOf = ({ id, reviewed, annotations }: z.infer<typeof expected>) => [
      id,
      reviewed,
      JSON.stringify(annotations),
    ];
    expect(work.files.map(textOf)).toEqual(files.map(textOf));
    expect(new URL(work.files[0]!.embedding.url).search).toContain("X-Amz-Signature");
  }, 60_000);

  it("is read from the database as the pod reads it, and has no end after a failure", async () => {
    const response = await open();
    expect(response.statusCode).toBe(200);
    await database.execute(sql.fragment`revoke select on annotations from plosive_operator`);
    try {
      await expect(text(response)).rejects.toThrow("aborted");
    } finally {
      await database.execute(sql.fragment`grant select on annotations to plosive_operator`);
    }
    await large.work();
  });

  it("is sent to two pods at a time", async () => {
    const small = await workerOf(`ij-${sharded.id}-1`);
    const [first, second] = [await open(), await open()];
    let isThirdAnswered = false;
    const third = open().finally(() => {
      isThirdAnswered = true;
    });
    for (let n = 0; n < 5; n++) await small.work();
    expect(isThirdAnswered).toBe(false);
    first.destroy();
    for (const response of [second, await third]) response.destroy();
  });
});

/** A valid token whose claims name another pod. */
function renamed(token: string): string {
  const [head, claims = "", signature] = token.split(".");
  const changed = Buffer.from(claims, "base64url")
    .toString()
    .replaceAll(other.pod.metadata.name, mine.pod.metadata.name)
    .replaceAll(other.pod.metadata.uid ?? "", mine.pod.metadata.uid ?? "");
  return [head, Buffer.from(changed).toString("base64url"), signature].join(".");
}

const podRef = (worker: Worker) => ({ name: worker.pod.metadata.name, uid: worker.pod.metadata.uid ?? "" });
