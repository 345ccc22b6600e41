// Each way in which a pod can fail, against a real API server and its Job controller: the failure in the custom
// resource, the row and the events, and the number of retries. The test plays the kubelet and the scheduler.
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/db/driver/page.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { isNotFound } from "../../src/kube/errors.ts";
import { events, inferenceJobs, jobs, pods } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { bindPod, endPod, patchStatus, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { createResource } from "../support/resource.ts";
import { rfc3339 } from "../support/rfc3339.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator();
const { cluster, database } = stage;

type Made = { id: string; run: string; name: string };

/** A job whose resource has this in its spec, in place of the service's values. */
async function makeJob(spec: object, shards = 1): Promise<Made> {
  // Each job has its own tenant, so that no job waits for admission.
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const insert = (tx: Db) => insertInferenceJob(tx, tenant, model, shards);
  const { admin } = cluster;
  const { id } = await createResource(admin, stage.namespace, database.pool, "inference", insert, spec);
  return { id, run: `ij-${id}-1`, name: `ij-${id}` };
}

const statusOf = async ({ name }: Made) => (await cluster.admin.get(inferenceJobs, stage.ref(name))).status;

/** The failure of a job, once its resource, row and event agree. */
async function failureOf(job: Made) {
  const status = await poll("the job to fail", async () => {
    const now = await statusOf(job);
    return now?.phase === "Failed" ? now : undefined;
  });
  const row = await maybeOneJob(database.pool, "inference", job.id);
  expect(row).toMatchObject({ status: "failed", error_message: status.failure?.message });
  const reason = status.conditions?.find(({ type }) => type === "Failed")?.reason;
  const told = await poll("the event of the end", async () => {
    const all = await eventsOf(job);
    return all.find((event) => event.reason === reason && event.note === status.failure?.message);
  });
  expect(told.type).toBe("Warning");
  return { ...status.failure, reason };
}

const eventsOf = async ({ name }: Made) =>
  (await cluster.admin.list(events, stage.namespace)).items.filter(
    ({ regarding }) => regarding.name === name,
  );

/** A pod of the shard that is not one of `old`. */
const nextPod = (job: Made, old: readonly Pod[], shard = 0) =>
  poll("the next pod", async () => {
    const pod = await stage.podOf(job.run, shard);
    return old.some(({ metadata }) => metadata.uid === pod.metadata.uid) ? undefined : pod;
  });

const ended = (exitCode: number, reason: string, message?: string) => {
  const at = new Date().toISOString();
  return { terminated: { exitCode, reason, message, startedAt: at, finishedAt: at } };
};
const disruption = (message: string) => [
  { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler", message },
];
const saying = (code: string, message: string) =>
  JSON.stringify({
    code,
    message,
    hint: null,
    shard: 0,
    item: null,
    items_done: 0,
    items_total: 1,
    items_failed: 0,
  });

// The Job controller backs off exponentially before it retries an index.
describe.concurrent("a shard", () => {
  it("that runs out of memory is retried once and then given up with the memory limit in its message", async () => {
    const job = await makeJob({ retries: { perShard: 5 } });
    const first = await stage.podOf(job.run);
    await patchStatus(cluster.admin, first, "Failed", ended(137, "OOMKilled"));
    const second = await nextPod(job, [first]);
    expect((await statusOf(job))?.phase).not.toBe("Failed");
    await patchStatus(cluster.admin, second, "Failed", ended(137, "OOMKilled"));
    expect(await failureOf(job)).toMatchObject({
      class: "Resources",
      code: "out_of_memory",
      exitCode: 137,
      shard: 0,
      reason: "ResourceLimit",
      message: expect.stringContaining("limit of 1Gi that its profile sets"),
    });
    await poll("the Job to be gone", async () => {
      return (await cluster.admin.find(jobs, stage.ref(job.run))) === undefined;
    });
  });

  it("that fills its GPU twice is given up with the worker's message, while the other shard continues", async () => {
    const job = await makeJob({ retries: { perShard: 5, maxFailedShards: 1 } }, 2);
    const other = await stage.podOf(job.run, 1);
    const seen: Pod[] = [];
    for (let n = 0; n < 2; n++) {
      const pod = await nextPod(job, seen);
      seen.push(pod);
      await endPod(cluster.admin, pod, 71, saying("gpu_out_of_memory", "The GPU is full."));
    }
    // The Job would retry five times; the operator deletes the third pod as soon as it exists.
    await poll("the third pod to be deleted", async () => {
      const { items } = await cluster.admin.list(pods, stage.namespace, {
        labelSelector: `job-name=${job.run},batch.kubernetes.io/job-completion-index=0`,
      });
      const { status } = await cluster.admin.get(jobs, stage.ref(job.run));
      const isNew = ({ metadata }: Pod) => !seen.some((pod) => pod.metadata.uid === metadata.uid);
      const third = items.find(isNew);
      return third?.metadata.deletionTimestamp !== undefined || (status?.failed ?? 0) > 2;
    });
    expect((await statusOf(job))?.phase).not.toBe("Failed");
    await endPod(cluster.admin, other, 65, saying("unusable_audio", "Noise."));
    expect(await failureOf(job)).toMatchObject({
      class: "Resources",
      code: "gpu_out_of_memory",
      message: expect.stringContaining("The GPU is full. Its profile requests 1 nvidia.com/gpu."),
    });
  });

  it("whose pods are disrupted is retried infraPerShard times, whatever perShard is", async () => {
    const job = await makeJob({ retries: { perShard: 0, infraPerShard: 1 } });
    const first = await stage.podOf(job.run);
    await startPod(cluster.admin, first);
    await patchStatus(cluster.admin, first, "Failed", ended(143, "Error"), disruption("Preempted by a pod."));
    const second = await nextPod(job, [first]);
    await poll("the reason in the resource", async () => {
      const progressing = (await statusOf(job))?.conditions?.find(({ type }) => type === "Progressing");
      return progressing?.reason === "Preempted" && progressing.message === "Preempted by a pod.";
    });
    await patchStatus(cluster.admin, second, "Failed", ended(143, "Error"), disruption("The node is gone."));
    expect(await failureOf(job)).toMatchObject({
      class: "Infra",
      code: "disrupted",
      reason: "InfrastructureError",
      message: "The node is gone. That happened 2 times to shard 0.",
    });
  });

  it("that sends no report gets one more pod, whatever perShard is, and is then given up", async () => {
    const job = await makeJob({ progressDeadlineSeconds: 10, retries: { perShard: 0 } });
    const first = await stage.podOf(job.run);
    await startPod(cluster.admin, first);
    expect(await stage.worker(first).report({ fraction: 0.1 })).toBe(204);
    await poll("the silent pod to be deleted", async () => {
      const now = await cluster.admin.find(pods, first.metadata);
      return now === undefined || now.metadata.deletionTimestamp !== undefined;
    });
    await poll("the event", async () =>
      (await eventsOf(job)).some(({ reason, type }) => reason === "ProgressStalled" && type === "Warning"),
    );
    // The controllers may have removed the pod already, because it is on no node.
    await patchStatus(cluster.admin, first, "Failed", ended(143, "Error")).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    const second = await nextPod(job, [first]);
    expect((await cluster.admin.get(jobs, stage.ref(job.run))).status?.failed ?? 0).toBe(0);
    await poll("the reason in the resource", async () => {
      const progressing = (await statusOf(job))?.conditions?.find(({ type }) => type === "Progressing");
      return progressing?.reason === "ProgressStalled" && progressing.status === "False";
    });
    await startPod(cluster.admin, second);
    expect(await failureOf(job)).toMatchObject({
      class: "Infra",
      code: "stalled",
      reason: "InfrastructureError",
      message: "The worker sent no report for 10 s. That happened 2 times to shard 0.",
    });
  });

  it("that sends no report loses its pod although a PodDisruptionBudget forbids its eviction", async () => {
    const job = await makeJob({ progressDeadlineSeconds: 1 });
    const pod = await stage.podOf(job.run);
    const path = `/apis/policy/v1/namespaces/${stage.namespace}/poddisruptionbudgets`;
    const selector = { matchLabels: { "job-name": job.run } };
    const budget = { metadata: { name: job.run }, spec: { minAvailable: 1, selector } };
    await cluster.admin.send({ method: "POST", path, body: budget });
    // The status that the budget's controller would write.
    const counts = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 1 };
    await cluster.admin.send({
      method: "PATCH",
      path: `${path}/${job.run}/status`,
      body: { status: { observedGeneration: 1, ...counts } },
      contentType: "application/merge-patch+json",
    });
    await startPod(cluster.admin, pod);
    await poll("the silent pod to be deleted", async () => {
      const now = await cluster.admin.find(pods, pod.metadata);
      return now === undefined || now.metadata.deletionTimestamp !== undefined;
    });
    await cluster.admin.patch(inferenceJobs, stage.ref(job.name), { spec: { suspend: true } });
  });

  it("that keeps reporting keeps its pod beyond the progress deadline", async () => {
    const job = await makeJob({ progressDeadlineSeconds: 10 });
    const pod = await stage.podOf(job.run);
    await startPod(cluster.admin, pod);
    const worker = stage.worker(pod);
    const until = Date.now() + 20_000;
    await poll("twenty seconds of reports", async () => {
      expect(await worker.report({ fraction: 0.5 })).toBe(204);
      return Date.now() > until;
    });
    expect((await cluster.admin.get(pods, pod.metadata)).metadata.deletionTimestamp).toBeUndefined();
    await cluster.admin.patch(inferenceJobs, stage.ref(job.name), { spec: { suspend: true } });
  });

  it.each([
    [75, "temporary", "Infra", "InfrastructureError", "The store is away."],
    [70, "internal", "System", "SystemError", "KeyError: 'x'"],
  ])("that ends with exit code %d is retried perShard times", async (exit, code, of, reason, message) => {
    const job = await makeJob({ retries: { perShard: 1 } });
    const first = await stage.podOf(job.run);
    await endPod(cluster.admin, first, exit, saying(code, message));
    const second = await nextPod(job, [first]);
    await poll("the event about the first pod", async () =>
      (await eventsOf(job)).some((event) => event.reason === reason && event.note === `Shard 0: ${message}`),
    );
    await endPod(cluster.admin, second, exit, saying(code, message));
    expect(await failureOf(job)).toMatchObject({ class: of, code, reason, message, exitCode: exit });
  });

  it("whose pods are deleted by hand uses up its perShard retries, unlike one whose pods are disrupted", async () => {
    const job = await makeJob({ retries: { perShard: 1 } });
    const seen: Pod[] = [];
    for (let n = 0; n < 2; n++) {
      const pod = await nextPod(job, seen);
      seen.push(pod);
      await startPod(cluster.admin, pod);
      await cluster.admin.remove(pods, pod.metadata);
      await endPod(cluster.admin, pod, 75, saying("interrupted", "Ended by the cluster."));
    }
    const said = { class: "Infra", code: "interrupted", reason: "InfrastructureError", exitCode: 75 };
    expect(await failureOf(job)).toMatchObject(said);
  });

  it.each([
    [64, "bad_manifest"],
    [77, "forbidden"],
  ])("that ends with exit code %d fails the job at once", async (exit, code) => {
    const job = await makeJob({ retries: { perShard: 5, maxFailedShards: 1 } }, 2);
    const first = await stage.podOf(job.run);
    await stage.podOf(job.run, 1);
    await endPod(cluster.admin, first, exit, saying(code, "It cannot be."));
    const said = { class: "User", code, reason: "UserError", message: "It cannot be.", retryable: false };
    expect(await failureOf(job)).toMatchObject(said);
  });

  it.each([
    [65, "unusable_audio"],
    [66, "input_missing"],
  ])("that ends with exit code %d is not retried", async (exit, code) => {
    const job = await makeJob({ retries: { perShard: 5 } });
    const first = await stage.podOf(job.run);
    await endPod(cluster.admin, first, exit, saying(code, "There is nothing."));
    expect(await failureOf(job)).toMatchObject({ class: "User", code, message: "There is nothing." });
    const { items } = await cluster.admin.list(pods, stage.namespace, {
      labelSelector: `job-name=${job.run}`,
    });
    expect(items.length).toBeLessThanOrEqual(1);
  });

  it.each([
    ["ImagePullBackOff", "Back-off pulling image"],
    ["CreateContainerConfigError", "configmap not found"],
    ["InvalidImageName", "couldn't parse image name"],
  ])("that waits with %s fails with the kubelet's message at the pending deadline", async (why, message) => {
    const job = await makeJob({ pendingDeadlineSeconds: 15 });
    const pod = await stage.podOf(job.run);
    await patchStatus(cluster.admin, pod, "Pending", { waiting: { reason: why, message } });
    expect(await failureOf(job)).toMatchObject({
      class: "System",
      code: "image_unavailable",
      reason: "PendingDeadlineExceeded",
      message: `No pod of the job could start within 15 s: ${why}: ${message}`,
    });
  });

  it("that fits no node shows the scheduler's message, and fails with it at the pending deadline", async () => {
    const job = await makeJob({ pendingDeadlineSeconds: 20 });
    const pod = await stage.podOf(job.run);
    const message = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.";
    await patchStatus(cluster.admin, pod, "Pending", {}, [
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message },
    ]);
    await poll("the words in the row", async () => {
      return (await maybeOneJob(database.pool, "inference", job.id))?.status_message === message;
    });
    expect(await failureOf(job)).toMatchObject({
      class: "Quota",
      code: "unschedulable",
      reason: "PendingDeadlineExceeded",
      message: `No pod of the job could start within 20 s: ${message}`,
    });
  });

  it("whose node does not confirm a deletion fails the job at the pending deadline with the node in its message", async () => {
    const node = `silent-${stage.namespace}`;
    await cluster.admin.send({ method: "POST", path: "/api/v1/nodes", body: { metadata: { name: node } } });
    const job = await makeJob({ pendingDeadlineSeconds: 15 });
    const pod = await stage.podOf(job.run);
    await bindPod(cluster.admin, pod, node);
    await startPod(cluster.admin, pod);
    await poll("the job to run", async () => (await statusOf(job))?.phase === "Running");
    // As an eviction by a taint does; no kubelet confirms the deletion.
    await cluster.admin.send({
      method: "DELETE",
      path: `/api/v1/namespaces/${stage.namespace}/pods/${pod.metadata.name}`,
      body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 1 },
    });
    expect(await failureOf(job)).toMatchObject({
      class: "Infra",
      code: "node_unreachable",
      reason: "PendingDeadlineExceeded",
      message: expect.stringContaining(`Node ${node} does not confirm the end of pod ${pod.metadata.name}`),
    });
    expect((await cluster.admin.get(pods, pod.metadata)).metadata.deletionTimestamp).toMatch(rfc3339);
  });

  it("that runs too long fails the job at the active deadline", async () => {
    const job = await makeJob({ activeDeadlineSeconds: 2 });
    await startPod(cluster.admin, await stage.podOf(job.run));
    expect(await failureOf(job)).toMatchObject({
      class: "User",
      code: "deadline_exceeded",
      reason: "DeadlineExceeded",
    });
  });
});
