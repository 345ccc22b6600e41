// Edge cases: a profile named like an object's property, a namespace that rejects Jobs, an unusable result. Real API
// server and Job controller, Postgres and S3; the test plays the kubelet and the workers.
import { sql } from "slonik";
import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { maxResultBytes } from "../../controllers/job/results.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { inferenceJobs } from "../../src/kube/kinds.ts";
import { keys } from "../../src/schemas/job-kind.ts";
import type { DetectResult } from "../../src/schemas/worker.ts";
import { endPod, put, startPod, type Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator();
const { cluster, database, store } = stage;
let tenant: string;
let model: string;
beforeAll(async () => {
  tenant = await insertTenant(database.pool);
  model = await insertModel(database.pool, tenant);
});

const rowOf = (id: string) => maybeOneJob(database.pool, "inference", id);
const statusOf = async (id: string) => (await cluster.admin.get(inferenceJobs, stage.ref(`ij-${id}`))).status;
const filesOf = (id: string) =>
  database.pool.any(sql.type(z.object({ status: z.string(), error_message: z.string().nullable() }))`
    select status, error_message from inference_files where inference_job_id = ${id} order by shard`);
const phase = (id: string, wanted: string) =>
  poll(`the job to be ${wanted}`, async () => {
    const status = await statusOf(id);
    return status?.phase === wanted ? status : undefined;
  });

async function detect(worker: Worker, file: string, count = 0): Promise<void> {
  const { run, shard, result } = await worker.work();
  const item: DetectResult["items"][number] = {
    id: file,
    status: "completed",
    duration_ms: 1_000,
    sample_rate_hz: 8_000,
    channels: 1,
    sha256: "a".repeat(64),
    size_bytes: 10,
    detections: Array.from({ length: count }, () => click),
  };
  await put(result, JSON.stringify({ version: 1, kind: "detect", run, shard, items: [item] }));
}

const click = { artifact_type: "click", start_ms: 100, end_ms: 200, confidence: 0.5 };

it("a profile that is named like a property of every object is unknown", async () => {
  const { id } = await createResource(
    cluster.admin,
    stage.namespace,
    database.pool,
    "inference",
    (tx) => insertInferenceJob(tx, tenant, model, 1),
    { profile: "constructor" },
  );
  expect((await phase(id, "Failed")).failure).toMatchObject({ class: "User", code: "profile_unknown" });
});

it("a job whose Job a ResourceQuota rejects shows the reason, and continues once the quota is gone", async () => {
  const path = `/api/v1/namespaces/${stage.namespace}/resourcequotas`;
  const hard = { "count/jobs.batch": "0" };
  await cluster.admin.send({ method: "POST", path, body: { metadata: { name: "no-jobs" }, spec: { hard } } });
  await cluster.admin.send({
    method: "PATCH",
    path: `${path}/no-jobs/status`,
    body: { status: { hard, used: hard } },
    contentType: "application/merge-patch+json",
  });
  const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
  const said = await poll("the reason", async () => {
    const status = await statusOf(id);
    return status?.conditions?.find(({ type, status }) => type === "QuotaReserved" && status === "False");
  });
  expect(said.reason).toBe("WaitingForQuota");
  expect(said.message).toMatch(/^The cluster rejects the job's Kubernetes Job: .*no-jobs/);
  expect((await rowOf(id))?.status_message).toBe(said.message);
  await cluster.admin.send({ method: "DELETE", path: `${path}/no-jobs` });
  // Changes of the spec make the operator retry before its backoff ends.
  await cluster.admin.patch(inferenceJobs, stage.ref(`ij-${id}`), { spec: { suspend: true } });
  await phase(id, "Suspended");
  await cluster.admin.patch(inferenceJobs, stage.ref(`ij-${id}`), { spec: { suspend: false } });
  await stage.podOf(`ij-${id}-1`);
});

it("an unusable result is read once, and its files fail with its error", async () => {
  const { id, files } = await insertInferenceJob(database.pool, tenant, model, 2);
  const run = `ij-${id}-1`;
  const [first, second] = [await stage.podOf(run, 0), await stage.podOf(run, 1)];
  await startPod(cluster.admin, first);
  await startPod(cluster.admin, second);
  const { result } = await stage.worker(first).work();
  await put(result, "no JSON");
  await endPod(cluster.admin, first, 0);
  await poll("the first shard to be done", async () => (await statusOf(id))?.shards?.succeeded === 1);
  await store.storage.remove(keys.result(run, 0));
  await detect(stage.worker(second), files[1]!);
  await endPod(cluster.admin, second, 0);
  await phase(id, "Succeeded");
  const [bad, good] = await filesOf(id);
  expect(good?.status).toBe("completed");
  expect(bad).toEqual({
    status: "failed",
    error_message: "The worker wrote a result that does not match the schema.",
  });
});

it("a large result is ingested; a result that is too large fails only its own files", async () => {
  const { id, files } = await insertInferenceJob(database.pool, tenant, model, 2);
  const run = `ij-${id}-1`;
  const [first, second] = [await stage.podOf(run, 0), await stage.podOf(run, 1)];
  await startPod(cluster.admin, first);
  await startPod(cluster.admin, second);
  await detect(stage.worker(first), files[0]!, 5_000);
  const { result } = await stage.worker(second).work();
  await put(result, Buffer.alloc(maxResultBytes + 1, " "));
  await endPod(cluster.admin, first, 0);
  await endPod(cluster.admin, second, 0);
  await phase(id, "Succeeded");
  expect(await filesOf(id)).toEqual([
    { status: "completed", error_message: null },
    { status: "failed", error_message: "The worker wrote a result that is larger than 32 MiB." },
  ]);
  const found = await database.pool.oneFirst(sql.type(z.object({ total_detections: z.number() }))`
    select total_detections from inference_jobs where id = ${id}`);
  expect(found).toBe(5_000);
});
