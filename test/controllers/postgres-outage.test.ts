// The StoreSynced condition while Postgres cannot be reached, and a pod whose reports are lost meanwhile. The test
// plays the kubelet and the worker; Postgres is behind a proxy that can be cut.
import { afterAll, beforeAll, expect, it } from "vitest";
import { inferenceJobs, jobs, pods } from "../../src/kube/kinds.ts";
import { useCluster } from "../support/kube.ts";
import { podOf, runOperator, startPod, type TestOperator, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
let postgres: TestProxy;
let operator: TestOperator;
let namespace: string;

beforeAll(async () => {
  const space = await cluster.namespace();
  namespace = space.name;
  postgres = await startProxy(database.urlOf("plosive_operator"));
  operator = await runOperator({
    cluster,
    namespace: space,
    databaseUrl: postgres.url,
    storage: store.config,
  });
  await operator.leading;
});
afterAll(async () => {
  await operator?.stop();
  await postgres?.stop();
});

/** A running job whose pod has just reported for the last time. */
async function silentJob(deadlineMs: number) {
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const { id } = await createResource(
    cluster.admin,
    namespace,
    database.pool,
    "inference",
    (tx) => insertInferenceJob(tx, tenant, model, 1),
    { progressDeadlineSeconds: deadlineMs / 1000 },
  );
  const ref = { namespace, name: `ij-${id}` };
  const synced = async () =>
    (await cluster.admin.get(inferenceJobs, ref)).status?.conditions?.find(
      ({ type }) => type === "StoreSynced",
    );
  const pod = await podOf(cluster.admin, namespace, `ij-${id}-1`);
  await startPod(cluster.admin, pod);
  const worker = new Worker(cluster, () => operator, pod);
  expect(await worker.report({ fraction: 0.1 })).toBe(204);
  const heard = Date.now();
  await poll("the records to be told", async () => (await synced())?.status === "True");
  let touches = 0;
  /** Makes the operator look at the job. */
  const touch = () =>
    cluster.admin.patch(
      jobs,
      { namespace, name: `ij-${id}-1` },
      { metadata: { labels: { "plosive.dev/touched": String(touches++) } } },
    );
  /** A pod that is on no node is gone at once. */
  const wasStopped = async () => {
    const found = await cluster.admin.find(pods, pod.metadata);
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  };
  return { ref, synced, pod, heard, touch, wasStopped };
}

async function cutUntilTold({ synced, touch }: Awaited<ReturnType<typeof silentJob>>) {
  postgres.cut();
  await touch();
  return poll("the resource to say that it may be behind", async () => {
    const now = await synced();
    return now?.status === "False" ? now : undefined;
  });
}

// The operator waits up to 30 s between its own tries. outages.test.ts shows that the operator recovers by itself.
async function healUntilTold({ synced, touch }: Awaited<ReturnType<typeof silentJob>>) {
  postgres.heal();
  await poll("the resource to be up to date", async () => {
    await touch();
    return (await synced())?.status === "True";
  });
}

it("a resource shows that it may be behind, and its pod is not stopped as stalled after the outage", async () => {
  const deadlineMs = 20_000;
  const job = await silentJob(deadlineMs);
  expect(await cutUntilTold(job)).toMatchObject({ reason: "RecordsBehind" });
  await poll("the deadline to be over", () => Date.now() > job.heard + deadlineMs + 1_000);
  await healUntilTold(job);
  expect(await job.wasStopped()).toBe(false);
  expect((await cluster.admin.get(inferenceJobs, job.ref)).status?.phase).toBe("Running");
});

it("a short outage does not begin the deadline of a silent pod anew", async () => {
  const deadlineMs = 30_000;
  const job = await silentJob(deadlineMs);
  await poll("most of the deadline to be over", () => Date.now() > job.heard + 0.7 * deadlineMs);
  await cutUntilTold(job);
  await healUntilTold(job);
  const healed = Date.now();
  // The outage took at least ten seconds, which do not count.
  expect(healed).toBeGreaterThan(job.heard + deadlineMs);
  expect(await job.wasStopped()).toBe(false);
  await poll("the pod to be stopped", job.wasStopped);
  // A deadline that begins anew would end a whole deadline after the outage.
  expect(Date.now()).toBeLessThan(healed + 0.7 * deadlineMs);
});
