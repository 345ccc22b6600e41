// Kueue on the full cluster: the chart finds it, its quota lets a training wait, and a training that another preempts goes
// on later with what it had learned. The workers are real.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repoDir, tool } from "../../tools/cache.ts";
import { buildKueue, type Kueue, startKueue } from "../../tools/kueue.ts";
import { queueName, queueObjects, urgent } from "../support/kueue-queue.ts";
import { type Account, openAccount } from "./accounts.ts";
import { clusterPlace, create, kubectl, namespace, until } from "./cluster.ts";
import { conditionOf, endOf, runningPod, statusOf, train, waitsFor } from "./jobs.ts";
import { makeTrainable, type Trainable, types } from "./takes.ts";

const run = Date.now().toString(36);
const dir = mkdtempSync(join(tmpdir(), "plosive-kueue-"));
let kueue: Kueue;
let account: Account;
let data: Trainable;

beforeAll(async () => {
  buildKueue();
  const { kubeconfig, addresses } = clusterPlace();
  kueue = await startKueue({ kubeconfig, dir, address: addresses.hostAddress });
  for (const object of queueObjects(namespace, 1)) await create(object).catch(isThere);
  // The chart looks whether Kueue is there; nothing is set for it.
  await upgrade("operator.queueing.kueue=auto");
  account = await openAccount("kueue");
  data = await makeTrainable(account.user, "kueue");
});
afterAll(async () => {
  await upgrade("operator.queueing.kueue=never");
  await kueue?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** As after an earlier run on the same cluster. */
function isThere(error: unknown): void {
  if (!String(error).includes("AlreadyExists")) throw error;
}

/** Changes values of the chart; all others stay. */
async function upgrade(...values: string[]): Promise<void> {
  const chart = join(repoDir, "charts/plosive");
  const place = ["--kubeconfig", clusterPlace().kubeconfig, "--namespace", namespace];
  const settings = values.flatMap((value) => ["--set-string", value]);
  const args = [
    "upgrade",
    "plosive",
    chart,
    ...place,
    "--reuse-values",
    ...settings,
    "--wait",
    "--timeout",
    "5m",
  ];
  await promisify(execFile)(tool("helm"), args);
}

test("a training waits for Kueue's quota; one that is preempted goes on from its checkpoint and ends well", async () => {
  const config = { artifact_types: types, epochs: 8 };
  const slow = await train(account, `slow-${run}`, data, { config, queueName });
  const first = await runningPod(slow);
  const second = await train(account, `second-${run}`, data, { queueName });
  await waitsFor(second, "QueuePending", /insufficient unused quota for pods/);
  const before = await until("a checkpoint", 180_000, async () => (await statusOf(slow)).checkpoint);

  const important = await train(account, `important-${run}`, data, { queueName, priorityClassName: urgent });
  await waitsFor(slow, "Preempted", /^Preempted to accommodate a workload/);
  await until("the preempted pod to be gone", 90_000, async () => {
    const names = await kubectl("get", "pods", "-o", "name");
    return names.includes(first.metadata.name) ? undefined : true;
  });
  await endOf(important, "Succeeded");
  const { status, pods } = await endOf(slow, "Succeeded");
  await endOf(second, "Succeeded");

  // The one that was preempted, and its successor.
  expect(pods).toBe(2);
  expect(status.attempt).toBe(1);
  expect(status.checkpoint?.step).toBeGreaterThan(before.step);
  expect(conditionOf(status, "QuotaReserved")).toMatchObject({ status: "True", reason: "Admitted" });
  const { series } = await account.user.getTrainingMetrics(slow.id);
  // Each epoch once: none was worked on again.
  for (const { points } of series)
    expect(points.map(([step]) => step)).toEqual(Array.from(points, (_, n) => n + 1));
  expect(await account.user.listModels(slow.id)).toHaveLength(1);
});
