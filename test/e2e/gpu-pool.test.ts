// A pool of GPU nodes with the real scheduler: the node offers one simulated GPU and has a taint, and the operator
// counts the GPU seconds of a job. The taint blocks every other job, too, so the test removes it at the end.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Account, sharedAccount } from "./accounts.ts";
import { clusterName, kubectl, until } from "./cluster.ts";
import { cancel, endOf, podsOf, runningPod, train, waitsFor } from "./jobs.ts";
import { offer } from "./node.ts";
import { addProfiles, gpu, pool } from "./profiles.ts";
import { sharedTrainable, type Trainable } from "./takes.ts";

let account: Account;
let data: Trainable;
const run = Date.now().toString(36);
const clear = () =>
  kubectl("taint", "--overwrite", "node", clusterName, `${gpu}:NoSchedule-`).catch(() => undefined);

beforeAll(async () => {
  await addProfiles();
  account = await sharedAccount();
  data = await sharedTrainable(account);
});
afterAll(async () => {
  await clear();
  await offer(gpu, 0);
});

test("one job at a time gets the GPU, a job without the toleration waits, and GPU seconds are counted", async () => {
  await offer(gpu, 1);
  await kubectl("label", "--overwrite", "node", clusterName, `${pool}=gpu`);
  await kubectl("taint", "--overwrite", "node", clusterName, `${gpu}=present:NoSchedule`);

  const first = await train(account, `gpu-first-${run}`, data, { profile: "gpu-pool" });
  const pod = await runningPod(first);
  expect(pod.spec.nodeName).toBe(clusterName);
  const [second, outside] = await Promise.all([
    train(account, `gpu-second-${run}`, data, { profile: "gpu-pool" }),
    train(account, `gpu-outside-${run}`, data, { profile: "silent" }),
  ]);
  await Promise.all([
    waitsFor(second, "Unschedulable", /Insufficient nvidia\.com\/gpu/),
    waitsFor(outside, "Unschedulable", /untolerated taint/),
  ]);

  const { status } = await endOf(first, "Succeeded");
  expect(status.usage?.gpuSeconds).toBeGreaterThan(0);
  expect(status.usage?.gpuSeconds).toBe(status.usage?.podSeconds);
  await runningPod(second);
  await cancel(second);
  await endOf(second, "Cancelled");
  expect((await podsOf(outside)).map(({ status }) => status.phase)).toEqual(["Pending"]);
  await clear();
  await until("the job outside of the pool to run", 180_000, async () =>
    (await podsOf(outside)).some(({ status }) => status.phase === "Running") ? true : undefined,
  );
  await cancel(outside);
  const ended = await endOf(outside, "Cancelled");
  expect(ended.status.usage?.gpuSeconds).toBe(0);
});
