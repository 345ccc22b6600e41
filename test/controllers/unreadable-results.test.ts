// A job whose results cannot be read: it says so and waits for them, and ends without them only if it is to end and they have
// been unreadable for long. Real API server, Postgres and S3, which a proxy cuts off; the test plays kubelet and worker.
import { afterAll, beforeAll, expect, it } from "vitest";
import { inferenceJobs } from "../../src/kube/kinds.ts";
import type { DetectResult } from "../../src/schemas/worker.ts";
import { type TestNamespace, useCluster } from "../support/kube.ts";
import { endPod, podOf, put, runOperator, startPod, type TestOperator, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
let s3: TestProxy;
let space: TestNamespace;
let operator: TestOperator;
let aheadMs = 0;

beforeAll(async () => {
  s3 = await startProxy(store.config.PLOSIVE_S3_ENDPOINT);
  space = await cluster.namespace();
  operator = await runOperator({
    cluster,
    namespace: space,
    databaseUrl: database.url,
    storage: { ...store.config, PLOSIVE_S3_ENDPOINT: s3.url },
    now: () => Date.now() + aheadMs,
  });
  await operator.leading;
});
afterAll(async () => {
  await operator?.stop();
  await s3?.stop();
});

it("says so, keeps waiting when it is cancelled, and fails when they stay unreadable", async () => {
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const { id, files } = await insertInferenceJob(database.pool, tenant, model, 1);
  const ref = { namespace: space.name, name: `ij-${id}` };
  const statusOf = async () => (await cluster.admin.get(inferenceJobs, ref)).status;
  const pod = await podOf(cluster.admin, space.name, `ij-${id}-1`);
  await startPod(cluster.admin, pod);
  const { run, shard, result } = await new Worker(cluster, () => operator, pod).work();
  const item: DetectResult["items"][number] = {
    id: files[0]!,
    status: "completed",
    duration_ms: 1_000,
    sample_rate_hz: 8_000,
    channels: 1,
    sha256: "a".repeat(64),
    size_bytes: 10,
    detections: [],
  };
  await put(result, JSON.stringify({ version: 1, kind: "detect", run, shard, items: [item] }));
  s3.cut();
  await endPod(cluster.admin, pod, 0);
  const said = await poll("the failure to be shown", async () =>
    (await statusOf())?.conditions?.find(({ type, status }) => type === "StoreSynced" && status === "False"),
  );
  expect(said.reason).toBe("ReconcileFailed");
  expect(said.message).toMatch(/^The operator cannot bring this job forward, and tries again: /);
  await cluster.admin.patch(inferenceJobs, ref, { spec: { cancel: { reason: "enough" } } });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect((await statusOf())?.completionTime).toBeUndefined();
  aheadMs = 601_000;
  const end = await poll("the end", async () => {
    const status = await statusOf();
    return status?.completionTime === undefined ? undefined : status;
  });
  expect(end.phase).toBe("Failed");
  expect(end.failure).toMatchObject({ class: "System", code: "result_unreadable", retryable: true });
  s3.heal();
});
