// The life of a custom resource against a real API server: the number of writes, the usage of job and tenant, a run
// that is lost half-way, and the deletion after its TTL. The test plays the kubelet and the workers.
import { createHash, randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { maybeOneJob } from "../../src/db/job.ts";
import { computeOf } from "../../src/db/quota.ts";
import { events, inferenceJobs, jobs, pods } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { DetectResult } from "../../src/schemas/worker.ts";
import { untilIdle } from "../support/idle.ts";
import { bindPod, buryPod, endPod, patchStatus, put, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ driftMs: 500 });
const { cluster, database } = stage;
const hex = (text: string) => createHash("sha256").update(text).digest("hex");
let tenant: string;
let model: string;

beforeAll(async () => {
  tenant = await insertTenant(database.pool);
  model = await insertModel(database.pool, tenant);
});

const rowOf = (id: string) => maybeOneJob(database.pool, "inference", id);
const resource = (id: string) => cluster.admin.get(inferenceJobs, stage.ref(`ij-${id}`));
/** The number of write requests, without renewals of the lease. */
const writes = () => stage.operator.requests.filter((line) => /^(POST|PATCH|DELETE) /.test(line)).length;

/** One detection in a file of a second, by a presigned URL, as the worker does it. */
async function detect(pod: Pod, file: string): Promise<void> {
  const work = await stage.worker(pod).work();
  const item: DetectResult["items"][number] = {
    id: file,
    status: "completed",
    duration_ms: 90_000,
    sample_rate_hz: 8000,
    channels: 1,
    sha256: hex("x"),
    size_bytes: 10,
    detections: [{ artifact_type: "click", start_ms: 1, end_ms: 2, confidence: 0.9 }],
  };
  const { run, shard } = work;
  const result: DetectResult = { version: 1, kind: "detect", run, shard, items: [item] };
  await put(work.result, JSON.stringify(result));
}

/** The container has run so many seconds and ended. */
const endAfter = (pod: Pod, seconds: number, exitCode = 0, reason = "Completed") => {
  const at = Math.floor(Date.now() / 1000) * 1000;
  const [startedAt, finishedAt] = [at - seconds * 1000, at].map((ms) => new Date(ms).toISOString());
  const terminated = { exitCode, reason, startedAt, finishedAt };
  return patchStatus(cluster.admin, pod, exitCode === 0 ? "Succeeded" : "Failed", { terminated });
};

const bind = (pod: Pod) => bindPod(cluster.admin, pod);
const bury = (pod: Pod) => buryPod(cluster.admin, pod);

const isCompleted = (id: string) =>
  poll("the resource to succeed", async () => {
    const now = await resource(id);
    return now.status?.phase === "Succeeded" ? now : undefined;
  });

describe("a job's life", () => {
  it("costs at most six writes, events included, and no request after its end", async () => {
    await untilIdle(stage.operator);
    const { id, files } = await insertInferenceJob(database.pool, tenant, model, 1);
    const before = writes();
    const run = `ij-${id}-1`;
    const pod = await stage.podOf(run);
    await startPod(cluster.admin, pod);
    await poll("the row to be running", async () => (await rowOf(id))?.status === "running");
    await detect(pod, files[0]!);
    await endPod(cluster.admin, pod, 0);
    await isCompleted(id);
    await untilIdle(stage.operator);
    // The creation of the resource does not count: it is the API's task.
    expect(writes() - before - 1).toBeLessThanOrEqual(6);

    const quiet = reads();
    const ref = stage.ref(`ij-${id}`);
    await cluster.admin.patch(inferenceJobs, ref, { metadata: { labels: { touched: "yes" } } });
    await cluster.admin.patch(jobs, { ...ref, name: run }, { metadata: { labels: { touched: "yes" } } });
    await untilIdle(stage.operator);
    expect(reads()).toBe(quiet);
  });

  it("is charged for each pod once, also for the failed one, and for its audio", async () => {
    const owner = await insertTenant(database.pool);
    const { id, files } = await insertInferenceJob(
      database.pool,
      owner,
      await insertModel(database.pool, owner),
      1,
    );
    const run = `ij-${id}-1`;
    const first = await stage.podOf(run);
    await startPod(cluster.admin, first);
    await endAfter(first, 100, 75, "Error");
    await poll("the usage of the first pod", async () => (await rowOf(id))?.pod_seconds === 100);
    const second = await poll("the second pod", async () => {
      const pod = await stage.podOf(run);
      return pod.metadata.uid === first.metadata.uid ? undefined : pod;
    });
    await startPod(cluster.admin, second);
    await detect(second, files[0]!);
    await endAfter(second, 20);
    const { status } = await isCompleted(id);
    const used = { podSeconds: 120, cpuSeconds: 60, gpuSeconds: 120, audioSeconds: 90 };
    expect(status?.usage).toEqual(used);
    const sums = { pod_seconds: 120, cpu_seconds: 60, gpu_seconds: 120, audio_seconds: 90 };
    expect(await rowOf(id)).toMatchObject(sums);
    expect(await computeOf(database.pool, owner)).toEqual(sums);
    // The operator drops them after it wrote the end.
    await poll("what was kept of its pods to go", async () => {
      const left = await database.pool.any(sql.type(z.object({}))`select from run_pods where job_id = ${id}`);
      return left.length === 0;
    });
  });
});

describe("the usage records of a job's pods", () => {
  it("are deleted a day after the end of their job or without a job, and stay for other jobs", async () => {
    const [old, fresh, open] = await Promise.all(
      [1, 2, 3].map(async () => (await insertInferenceJob(database.pool, tenant, model, 1)).id),
    );
    const ended = (id: string, ago: string) =>
      database.execute(sql.fragment`
        update inference_jobs set status = 'failed', submitted_at = now(), completed_at = now() - ${ago}::interval
        where id = ${id}`);
    await ended(old!, "25 hours");
    await ended(fresh!, "1 minute");
    const gone = randomUUID();
    for (const id of [old!, fresh!, open!, gone]) {
      await database.execute(sql.fragment`
        insert into run_pods (job_id, pod_uid, run_id, shard, ended_at, cpu, gpu)
        values (${id}, 'pod', 'run', 0, now(), 1, 0)`);
    }
    const left = () =>
      database.pool.anyFirst(sql.type(z.object({ job_id: z.string() }))`
        select job_id from run_pods where pod_uid = 'pod'`);
    await poll("two of them to go", async () => (await left()).length === 2);
    expect([...(await left())].sort()).toEqual([fresh, open].sort());
    await database.execute(sql.fragment`delete from run_pods where pod_uid = 'pod'`);
    await database.execute(sql.fragment`delete from inference_jobs where id = ${open!}`);
  });
});

describe("a run that is lost half-way", () => {
  it("keeps its ingested shards, and after a database restore the results of both runs are ingested again", async () => {
    const { id, files } = await insertInferenceJob(database.pool, tenant, model, 3);
    const first = await stage.podOf(`ij-${id}-1`, 0);
    await startPod(cluster.admin, first);
    await detect(first, files[0]!);
    await endPod(cluster.admin, first, 0);
    const found = () =>
      database.pool.oneFirst(sql.type(z.object({ total_detections: z.number() }))`
        select total_detections from inference_jobs where id = ${id}`);
    await poll("the first shard's detections", async () => (await found()) === 1);

    await cluster.admin.remove(jobs, stage.ref(`ij-${id}-1`));
    const again = await stage.podOf(`ij-${id}-2`, 0);
    await startPod(cluster.admin, again);
    const work = await poll("the work of the new run", () => stage.worker(again).anyWork());
    expect(work).toEqual({ version: 1, kind: "done", run: `ij-${id}-2`, shard: 0, items: 1 });
    await endPod(cluster.admin, again, 0);
    const other = await stage.podOf(`ij-${id}-2`, 1);
    await startPod(cluster.admin, other);
    await detect(other, files[1]!);
    await endPod(cluster.admin, other, 0);
    const lost = await stage.podOf(`ij-${id}-2`, 2);
    await endPod(cluster.admin, lost, 66);
    const { status } = await isCompleted(id);
    expect(status).toMatchObject({ attempt: 2, shards: { total: 3, succeeded: 2, failed: 1 } });
    expect(await found()).toBe(2);
    const runs = await database.pool.anyFirst(sql.type(z.object({ run_id: z.string() }))`
      select run_id from result_ingests where run_id like ${`ij-${id}-%`} order by shard`);
    expect(runs).toEqual([`ij-${id}-1`, `ij-${id}-2`]);

    // As after a restore of the database to before any result: the operator ingests the results of both runs again.
    await database.execute(sql.fragment`delete from result_ingests where run_id like ${`ij-${id}-%`}`);
    await database.execute(sql.fragment`delete from detections where inference_job_id = ${id}`);
    await database.execute(sql.fragment`
      update inference_files set status = 'queued', error_message = null where inference_job_id = ${id}`);
    await database.execute(sql.fragment`
      update inference_jobs set status = 'running', total_detections = 0, processed_files = 0, completed_at = null,
        submitted_at = now() - interval '1 hour' where id = ${id}`);
    await poll("the repair", async () => (await rowOf(id))?.status === "completed");
    expect(await found()).toBe(2);
    const states = await database.pool.anyFirst(sql.type(z.object({ status: z.string() }))`
      select status from inference_files where inference_job_id = ${id} order by shard`);
    expect(states).toEqual(["completed", "completed", "failed"]);
  });
});

describe("a job that is suspended repeatedly", () => {
  it("uses up no retries by that, and succeeds", async () => {
    const { id, files } = await insertInferenceJob(database.pool, tenant, model, 1);
    const ref = stage.ref(`ij-${id}`);
    const run = `ij-${id}-1`;
    const suspend = (suspended: boolean) =>
      cluster.admin.patch(inferenceJobs, ref, { spec: { suspend: suspended } });
    // One round more than a shard has attempts.
    for (let round = 0; round < 4; round++) {
      const pod = await stage.podOf(run);
      await bind(pod);
      await startPod(cluster.admin, pod);
      await suspend(true);
      await poll("the pod to be stopped", async () => {
        return (await cluster.admin.get(pods, pod.metadata)).metadata.deletionTimestamp !== undefined;
      });
      // As the worker does on SIGTERM, and then the kubelet.
      await endAfter(pod, 5, 75, "Error");
      await poll("the Job to have counted it", async () => {
        return (await cluster.admin.get(pods, pod.metadata)).metadata.finalizers === undefined;
      });
      await bury(pod);
      await poll("the phase", async () => (await resource(id)).status?.phase === "Suspended");
      await suspend(false);
    }
    const pod = await stage.podOf(run);
    await startPod(cluster.admin, pod);
    await detect(pod, files[0]!);
    await endPod(cluster.admin, pod, 0);
    expect((await isCompleted(id)).status?.attempt).toBe(1);
    expect((await rowOf(id))?.pod_seconds).toBeGreaterThanOrEqual(20);
    const { items } = await cluster.admin.list(events, stage.namespace);
    const warnings = items.filter(({ regarding, type }) => regarding.name === ref.name && type === "Warning");
    expect(warnings).toEqual([]);
  });
});

describe("the resource of an ended job", () => {
  it("is deleted with its Job when its TTL is over; its row stays", async () => {
    const { id } = await createResource(
      cluster.admin,
      stage.namespace,
      database.pool,
      "inference",
      (tx) => insertInferenceJob(tx, tenant, model, 1),
      { ttlSecondsAfterFinished: 10 },
    );
    const ref = stage.ref(`ij-${id}`);
    await stage.podOf(`ij-${id}-1`);
    await cluster.admin.patch(inferenceJobs, ref, { spec: { cancel: { reason: "enough" } } });
    const ended = await poll("the end", async () => {
      const now = await cluster.admin.get(inferenceJobs, ref);
      return now.status?.phase === "Cancelled" ? now : undefined;
    });
    await poll("the resource to be gone", async () => {
      return (await cluster.admin.find(inferenceJobs, ref)) === undefined;
    });
    expect(Date.now() - Date.parse(ended.status?.completionTime ?? "")).toBeGreaterThanOrEqual(10_000);
    expect(await rowOf(id)).toMatchObject({ status: "cancelled", status_message: "enough" });
    await poll("the Job to be gone", async () => {
      return (await cluster.admin.find(jobs, { ...ref, name: `ij-${id}-1` })) === undefined;
    });
    await untilIdle(stage.operator);
    expect(await rowOf(id)).toMatchObject({ status: "cancelled", status_message: "enough" });
  });
});

/** All requests but the renewals of the lease. */
const reads = () => stage.operator.requests.filter((line) => !line.startsWith("PUT")).length;
