// The operator with the real Kueue and a real control plane: Kueue's quota makes a job wait, its messages reach the
// custom resource and REST, a job of higher priority preempts a training, which resumes later and succeeds, and a
// user's suspension goes through the Workload.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kueueClusterRules, kueueRules } from "../../../controllers/rbac.ts";
import type { Db } from "../../../src/db/driver/page.ts";
import { jobs, trainingJobs } from "../../../src/kube/kinds.ts";
import { buildKueue, type Kueue, startKueue } from "../../../tools/kueue.ts";
import { type Client, makeTenant, type ServedApi, serveApi, testDeps } from "../../support/api.ts";
import { rightsOf } from "../../support/audit.ts";
import { type TestNamespace, useOwnCluster } from "../../support/kube.ts";
import { createQueue, queueName, urgent as urgentClass } from "../../support/kueue-queue.ts";
import { podOf, put, runOperator, startPod, type TestOperator, Worker } from "../../support/operator.ts";
import { poll } from "../../support/poll.ts";
import { useDatabase } from "../../support/postgres.ts";
import { createResource } from "../../support/resource.ts";
import { insertTrainingJob } from "../../support/rows.ts";
import { useStorage } from "../../support/s3.ts";
import { finishTraining } from "../../support/training.ts";

const cluster = useOwnCluster({ audit: true, watchList: false });
const database = useDatabase();
const store = useStorage();
const dir = mkdtempSync(join(tmpdir(), "plosive-kueue-"));
let kueue: Kueue;
let namespace: TestNamespace;
let operator: TestOperator;
let api: ServedApi;
let client: Client;

beforeAll(async () => {
  buildKueue();
  kueue = await startKueue({ kubeconfig: cluster.plane.kubeconfigPath, dir });
  namespace = await cluster.namespace({ kueue: true });
  await createQueue(cluster.admin, namespace.name, 1);
  await startOperator();
  api = await serveApi(testDeps(database.apiPool, store.storage));
  client = await makeTenant(database.pool, api.url);
}, 1_200_000);

afterAll(async () => {
  await operator?.stop();
  await api?.stop();
  await kueue?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function startOperator(): Promise<void> {
  const { config: storage } = store;
  const config = { PLOSIVE_KUEUE: "auto", PLOSIVE_QUEUE_NAME: queueName } as const;
  operator = await runOperator({ cluster, namespace, databaseUrl: database.url, storage, config });
  await operator.leading;
}

const named = (id: string) => ({ namespace: namespace.name, name: `tj-${id}` });
const resource = (id: string) => cluster.admin.get(trainingJobs, named(id));
const jobOf = (id: string) => cluster.admin.get(jobs, { namespace: namespace.name, name: `tj-${id}-1` });
const reserved = (id: string, reason: string) =>
  poll(`${id} to say ${reason}`, async () => {
    const { status } = await resource(id);
    const found = status?.conditions?.find(({ type }) => type === "QuotaReserved");
    return found?.reason === reason && found;
  });
const shown = (id: string, message: string) =>
  poll(`GET to show "${message}"`, async () => {
    const { body } = await client.get(`/api/v1/training-jobs/${id}`);
    return body.status_message === message && body;
  });
const insert = () => insertTrainingJob(database.pool, client.tenantId);
const podFor = (id: string) => podOf(cluster.admin, namespace.name, `tj-${id}-1`);
const suspend = (id: string, value: boolean) =>
  cluster.admin.patch(trainingJobs, named(id), { spec: { suspend: value } });

/** A training whose custom resource has fields that the API does not set. */
async function insertWith(spec: { priorityClassName?: string; queueName?: string }): Promise<string> {
  const row = async (tx: Db) => ({ id: await insertTrainingJob(tx, client.tenantId) });
  return (await createResource(cluster.admin, namespace.name, database.pool, "training", row, spec)).id;
}

async function begin(id: string): Promise<Worker> {
  const pod = await podFor(id);
  await startPod(cluster.admin, pod);
  await poll("the job to run", async () => (await resource(id)).status?.phase === "Running");
  return new Worker(cluster, () => operator, pod);
}
async function start(id: string): Promise<() => Promise<void>> {
  const worker = await begin(id);
  return () => finishTraining(cluster.admin, worker.pod, worker);
}
const succeeded = (id: string) =>
  poll(`${id} to succeed`, async () => (await resource(id)).status?.phase === "Succeeded");

it("a job waits for quota with Kueue's message, and runs when there is room", async () => {
  const first = await insert();
  const finish = await start(first);
  expect((await jobOf(first)).metadata.labels).toMatchObject({ "kueue.x-k8s.io/queue-name": "voices" });
  expect(await reserved(first, "Admitted")).toMatchObject({ status: "True" });

  const second = await insert();
  const waiting = await poll("Kueue's words", async () => {
    const found = await reserved(second, "QueuePending");
    return found.message.includes("insufficient unused quota") && found;
  });
  expect(waiting.status).toBe("False");
  const cr = await resource(second);
  expect(cr.status?.phase).toBe("Waiting");
  expect(cr.status?.admittedTime).toBeUndefined();
  expect((await jobOf(second)).spec.suspend).toBe(true);
  expect(await shown(second, waiting.message)).toMatchObject({ status: "queued" });

  await finish();
  await succeeded(first);
  expect(await reserved(first, "Admitted")).toMatchObject({ status: "True" });
  await (await start(second))();
  await succeeded(second);
});

it("a job of higher priority preempts a training, which resumes from its checkpoint and succeeds", async () => {
  const modest = await insert();
  const worker = await begin(modest);
  const work = await worker.work();
  if (work.kind !== "train") throw new Error("not the work of a training");
  expect(work.checkpoint).toBeNull();
  await put(work.outputs.checkpoint, "two epochs");
  await worker.report({ items_done: 2, items_total: 3, fraction: 2 / 3, checkpoint_step: 2 });
  await poll("the checkpoint to be told", async () => (await resource(modest)).status?.checkpoint);
  const urgent = await insertWith({ priorityClassName: urgentClass });
  const preempted = await reserved(modest, "Preempted");
  expect(preempted.message).toMatch(/^Preempted to accommodate a workload .* due to prioritization/);
  await shown(modest, preempted.message);
  await poll("the training to wait", async () => (await resource(modest)).status?.phase === "Waiting");
  await (await start(urgent))();
  await succeeded(urgent);

  await reserved(modest, "Admitted");
  const again = await begin(modest);
  expect(again.pod.metadata.uid).not.toBe(worker.pod.metadata.uid);
  const resumed = await again.work();
  if (resumed.kind !== "train" || resumed.checkpoint === null) throw new Error("no work with a checkpoint");
  expect(await (await fetch(resumed.checkpoint.url)).text()).toBe("two epochs");
  await finishTraining(cluster.admin, again.pod, again);
  await succeeded(modest);
  const { status } = await resource(modest);
  expect(status?.checkpoint).toMatchObject({ step: 2 });
  expect(status?.attempt).toBe(1);
  expect(status?.suspendedSeconds).toBeGreaterThan(0);
});

it("the operator suspends and resumes a job through its Workload, and leaves the Job's suspension to Kueue", async () => {
  const first = await insert();
  await start(first);
  await suspend(first, true);
  await reserved(first, "SuspendRequested");
  await poll("Kueue to stop the Job", async () => (await jobOf(first)).spec.suspend);
  const second = await insert();
  const finish = await start(second);
  await suspend(first, false);
  await reserved(first, "QueuePending");
  expect((await jobOf(first)).spec.suspend).toBe(true);
  await finish();
  await (await start(first))();
  await succeeded(first);
});

it("a waiting job moves to the queue that its resource names; an admitted job cannot move", async () => {
  const id = await insertWith({ queueName: "nowhere" });
  await poll("Kueue's words", async () =>
    (await reserved(id, "QueuePending")).message.includes("nowhere doesn't exist"),
  );
  const moveTo = (queueName: string) => cluster.admin.patch(trainingJobs, named(id), { spec: { queueName } });
  await moveTo("voices");
  await (await start(id))();
  await expect(moveTo("nowhere")).rejects.toThrow(/queueName cannot be changed after admission/);
  await succeeded(id);
});

it("an operator that starts while Kueue is down leads, keeps a job's admission, and ends the job", async () => {
  const id = await insert();
  const worker = await begin(id);
  await reserved(id, "Admitted");
  await kueue.stop();
  await operator.stop();
  await startOperator();
  await worker.report({ items_done: 1, items_total: 3, fraction: 1 / 3 });
  await poll(
    "the report in the resource",
    async () => (await resource(id)).status?.progress?.itemsDone === 1,
  );
  expect((await resource(id)).status?.phase).toBe("Running");
  await reserved(id, "Admitted");
  await finishTraining(cluster.admin, worker.pod, worker);
  await succeeded(id);
});

// Last, because it checks the requests that the operator sent in all other tests.
it("the operator uses each of its rights for Kueue, and no request is refused", () => {
  const { allowed, refused } = cluster.asked(namespace, "operator");
  const ofKueue = allowed.filter((right) => right.includes(" kueue.x-k8s.io/"));
  expect(ofKueue).toEqual(rightsOf([...kueueRules, ...kueueClusterRules]));
  expect(refused).toEqual([]);
});
