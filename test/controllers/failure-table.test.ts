// Each way in which a pod fails, against a real API server and its Job controller: what the custom resource, the row and
// the events say of it, and how often the shard is tried again. The test plays the kubelet and the scheduler.
import { describe, expect, it } from "vitest";
import { maybeOneJob } from "../../src/db/job.ts";
import { events, inferenceJobs, jobs, pods } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { bindPod, endPod, patchStatus, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator();
const { cluster, database } = stage;

type Made = { id: string; run: string; name: string };

/** A job whose resource has this in its spec, in place of what the service would say. */
async function makeJob(spec: object, shards = 1): Promise<Made> {
  // Of a tenant of its own: none waits for its turn.
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const { id } = await insertInferenceJob(database.pool, tenant, model, shards);
  await createResource(cluster.admin, stage.namespace, database.pool, { kind: "inference", id }, spec);
  return { id, run: `ij-${id}-1`, name: `ij-${id}` };
}

const statusOf = async ({ name }: Made) => (await cluster.admin.get(inferenceJobs, stage.ref(name))).status;

/** What the three places say of a failed job. */
async function failureOf(job: Made) {
  const status = await poll(
    "the job to fail",
    async () => {
      const now = await statusOf(job);
      return now?.phase === "Failed" ? now : undefined;
    },
    120_000,
  );
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

/** Another pod of the shard than those. */
const nextPod = (job: Made, old: readonly Pod[], shard = 0) =>
  poll(
    "the next pod",
    async () => {
      const pod = await stage.podOf(job.run, shard);
      return old.some(({ metadata }) => metadata.uid === pod.metadata.uid) ? undefined : pod;
    },
    60_000,
  );

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

// The Job controller waits longer and longer before it tries an index again.
describe.concurrent("a shard", { timeout: 150_000 }, () => {
  it("that runs out of memory is tried once more, then given up: the message names the limit", async () => {
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

  it("that fills its GPU twice is given up with the worker's words, and the others' results stay", async () => {
    const job = await makeJob({ retries: { perShard: 5, maxFailedShards: 1 } }, 2);
    const other = await stage.podOf(job.run, 1);
    const seen: Pod[] = [];
    for (let n = 0; n < 2; n++) {
      const pod = await nextPod(job, seen);
      seen.push(pod);
      await endPod(cluster.admin, pod, 71, saying("gpu_out_of_memory", "The GPU is full."));
    }
    // The Job would try five times; the third pod is deleted as soon as it is there.
    await poll(
      "the third pod to be deleted",
      async () => {
        const { items } = await cluster.admin.list(pods, stage.namespace, {
          labelSelector: `job-name=${job.run},batch.kubernetes.io/job-completion-index=0`,
        });
        const { status } = await cluster.admin.get(jobs, stage.ref(job.run));
        const isNew = ({ metadata }: Pod) => !seen.some((pod) => pod.metadata.uid === metadata.uid);
        const third = items.find(isNew);
        return third?.metadata.deletionTimestamp !== undefined || (status?.failed ?? 0) > 2;
      },
      60_000,
    );
    expect((await statusOf(job))?.phase).not.toBe("Failed");
    await endPod(cluster.admin, other, 65, saying("unusable_audio", "Noise."));
    expect(await failureOf(job)).toMatchObject({
      class: "Resources",
      code: "gpu_out_of_memory",
      message: expect.stringContaining("The GPU is full. Its profile requests 1 nvidia.com/gpu."),
    });
  });

  it("whose pods are taken away is tried again as often as its bound says, whatever perShard is", async () => {
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

  it("that says nothing gets another pod once, whatever perShard is, then is given up", async () => {
    const job = await makeJob({ progressDeadlineSeconds: 3, retries: { perShard: 0 } });
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
    await patchStatus(cluster.admin, first, "Failed", ended(143, "Error"));
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
      message: "The worker sent no report for 3 s. That happened 2 times to shard 0.",
    });
  });

  it("that says nothing loses its pod although a budget forbids its eviction", async () => {
    const job = await makeJob({ progressDeadlineSeconds: 1 });
    const pod = await stage.podOf(job.run);
    const path = `/apis/policy/v1/namespaces/${stage.namespace}/poddisruptionbudgets`;
    const selector = { matchLabels: { "job-name": job.run } };
    const budget = { metadata: { name: job.run }, spec: { minAvailable: 1, selector } };
    await cluster.admin.send({ method: "POST", path, body: budget });
    // What its controller says of it.
    const counts = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 1 };
    await cluster.admin.send({
      method: "PATCH",
      path: `${path}/${job.run}/status`,
      body: { status: { observedGeneration: 1, ...counts } },
      contentType: "application/merge-patch+json",
    });
    await startPod(cluster.admin, pod);
    await poll(
      "the silent pod to be deleted",
      async () => {
        const now = await cluster.admin.find(pods, pod.metadata);
        return now === undefined || now.metadata.deletionTimestamp !== undefined;
      },
      60_000,
    );
    await cluster.admin.patch(inferenceJobs, stage.ref(job.name), { spec: { suspend: true } });
  });

  it("that keeps reporting is left alone, however long it takes", async () => {
    const job = await makeJob({ progressDeadlineSeconds: 2 });
    const pod = await stage.podOf(job.run);
    await startPod(cluster.admin, pod);
    const worker = stage.worker(pod);
    const until = Date.now() + 7_000;
    await poll("seven seconds of reports", async () => {
      expect(await worker.report({ fraction: 0.5 })).toBe(204);
      return Date.now() > until;
    });
    expect((await cluster.admin.get(pods, pod.metadata)).metadata.deletionTimestamp).toBeUndefined();
    await cluster.admin.patch(inferenceJobs, stage.ref(job.name), { spec: { suspend: true } });
  });

  it.each([
    [75, "temporary", "Infra", "InfrastructureError", "The store is away."],
    [70, "internal", "System", "SystemError", "KeyError: 'x'"],
  ])(
    "that ends with %d is tried again as often as perShard says",
    async (exit, code, of, reason, message) => {
      const job = await makeJob({ retries: { perShard: 1 } });
      const first = await stage.podOf(job.run);
      await endPod(cluster.admin, first, exit, saying(code, message));
      const second = await nextPod(job, [first]);
      await poll("the event about the first pod", async () =>
        (await eventsOf(job)).some(
          (event) => event.reason === reason && event.note === `Shard 0: ${message}`,
        ),
      );
      await endPod(cluster.admin, second, exit, saying(code, message));
      expect(await failureOf(job)).toMatchObject({ class: of, code, reason, message, exitCode: exit });
    },
  );

  it("whose pods somebody deletes has used up tries: only what is taken away costs none", async () => {
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
  ])("that ends with %d fails the job at once", async (exit, code) => {
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
  ])("that ends with %d is not tried again", async (exit, code) => {
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
  ])("that waits with %s fails in the kubelet's words when its time is over", async (why, message) => {
    const job = await makeJob({ pendingDeadlineSeconds: 3 });
    const pod = await stage.podOf(job.run);
    await patchStatus(cluster.admin, pod, "Pending", { waiting: { reason: why, message } });
    expect(await failureOf(job)).toMatchObject({
      class: "System",
      code: "image_unavailable",
      reason: "PendingDeadlineExceeded",
      message: `No pod of the job could start within 3 s: ${why}: ${message}`,
    });
  });

  it("that no node fits says so in the scheduler's words, and fails with them when its time is over", async () => {
    const job = await makeJob({ pendingDeadlineSeconds: 6 });
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
      message: `No pod of the job could start within 6 s: ${message}`,
    });
  });

  it("whose node is silent does not pass for running: the node is named, and the job fails when nobody sees to it", async () => {
    const node = `silent-${stage.namespace}`;
    await cluster.admin.send({ method: "POST", path: "/api/v1/nodes", body: { metadata: { name: node } } });
    const job = await makeJob({ pendingDeadlineSeconds: 2 });
    const pod = await stage.podOf(job.run);
    await bindPod(cluster.admin, pod, node);
    await startPod(cluster.admin, pod);
    await poll("the job to run", async () => (await statusOf(job))?.phase === "Running");
    // As a taint's eviction does; no kubelet answers.
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
    expect((await cluster.admin.get(pods, pod.metadata)).metadata.deletionTimestamp).toBeDefined();
  });

  it("that runs too long fails the job", async () => {
    const job = await makeJob({ activeDeadlineSeconds: 2 });
    await startPod(cluster.admin, await stage.podOf(job.run));
    expect(await failureOf(job)).toMatchObject({
      class: "User",
      code: "deadline_exceeded",
      reason: "DeadlineExceeded",
    });
  });
});
