// Kueue on the full cluster with real workers: the operator detects it, its quota makes a training wait, and an urgent
// training preempts another one, which resumes later and produces the same model. Kueue runs for this file only. Last
// of the files that need the operator, because the upgrade reverts what other tests changed in its configuration.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repoDir, tool } from "../../tools/cache.ts";
import { buildKueue, type Kueue, startKueue } from "../../tools/kueue.ts";
import { queueName, queueObjects, urgent as urgentClass } from "../support/kueue-queue.ts";
import { type Account, sharedAccount } from "./accounts.ts";
import { clusterPlace, create, kubectl, namespace, until } from "./cluster.ts";
import {
  cancel,
  conditionOf,
  digestsOf,
  endOf,
  holdAfter,
  runningPod,
  statusOf,
  toldToEnd,
  train,
  waitsFor,
} from "./jobs.ts";
import { once } from "./shared.ts";
import { referenceConfig, sharedTrainable, type Trainable } from "./takes.ts";

const run = Date.now().toString(36);
const dir = mkdtempSync(join(tmpdir(), "plosive-kueue-"));
let kueue: Kueue;
let account: Account;
let data: Trainable;

beforeAll(async () => {
  buildKueue();
  account = await sharedAccount();
  [data] = await Promise.all([sharedTrainable(account), installKueue()]);
});
afterAll(async () => {
  await kueue?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Its queue has room for the pod of one training at a time. */
async function installKueue(): Promise<void> {
  const { kubeconfig, addresses } = clusterPlace();
  kueue = await startKueue({ kubeconfig, dir, address: addresses.hostAddress });
  for (const object of queueObjects(namespace, 1)) {
    await create(object).catch((error) => {
      // An earlier run on the same cluster may have created it.
      if (!String(error).includes("AlreadyExists")) throw error;
    });
  }
  // The test sets no value for Kueue: the operator detects it.
  const place = ["--kubeconfig", kubeconfig, "--namespace", namespace];
  const args = ["upgrade", "plosive", join(repoDir, "charts/plosive"), ...place, "--reuse-values", "--wait"];
  await promisify(execFile)(tool("helm"), [...args, "--timeout", "10m"]);
  await until("the operator to start anew with Kueue", 300_000, async () => {
    const log = await kubectl("logs", "deployment/plosive-operator").catch(() => "");
    return log.includes("Kueue is installed and admits jobs") ? true : undefined;
  });
}

/** The model of an undisturbed training: that of resume.test.ts, or of a new training if that file did not run. */
const reference = () =>
  once("reference", async () => {
    const undisturbed = await train(account, `undisturbed-${run}`, data, { config: referenceConfig });
    await endOf(undisturbed, "Succeeded");
    return digestsOf(undisturbed);
  });

test("a training waits for Kueue's quota; a preempted one resumes from its checkpoint and produces the same model", async () => {
  const config = referenceConfig;
  const spec = { config, queueName, retries: { perShard: 0 } };
  const modest = await train(account, `modest-${run}`, data, spec);
  const first = await runningPod(modest);
  const resume = await holdAfter(first, "the first training to have learned something", async () => {
    const { progress_percent } = await account.user.getTrainingJob(modest.id);
    return progress_percent > 0;
  });
  expect(conditionOf(await statusOf(modest), "QuotaReserved")).toMatchObject({ status: "True" });
  const other = await train(account, `other-${run}`, data, spec);
  await waitsFor(other, "QueuePending", /insufficient unused quota for pods/);
  await cancel(other);
  await endOf(other, "Cancelled");

  const urgent = await train(account, `urgent-${run}`, data, {
    ...spec,
    config: { ...config, epochs: 1 },
    priorityClassName: urgentClass,
  });
  await toldToEnd(modest, first);
  resume();
  const words = /^Preempted to accommodate a workload .* due to prioritization/;
  await waitsFor(modest, "Preempted", words);
  const { step } = await until("the checkpoint", 180_000, async () => (await statusOf(modest)).checkpoint);
  expect(conditionOf(await statusOf(modest), "QuotaReserved")).toMatchObject({
    status: "False",
    reason: "Preempted",
    message: expect.stringMatching(words),
  });

  expect((await endOf(urgent, "Succeeded")).pods).toBe(1);
  const second = await runningPod(modest, first);
  const { status, pods } = await endOf(modest, "Succeeded");
  expect(pods).toBe(2);
  expect(status.attempt).toBe(1);
  expect(conditionOf(status, "QuotaReserved")).toMatchObject({ status: "True", reason: "Admitted" });
  expect(await kubectl("logs", second.metadata.name)).toContain(`resuming at step ${step}`);
  // Each epoch once: the training repeated none.
  const { series } = await account.user.getTrainingMetrics(modest.id);
  expect(series.map(({ name }) => name).sort()).toEqual([
    "learning_rate",
    "train_loss",
    "val_f1",
    "val_loss",
  ]);
  for (const { points } of series)
    expect(points.map(([epoch]) => epoch)).toEqual(Array.from({ length: config.epochs }, (_, n) => n + 1));
  expect(await digestsOf(modest)).toEqual(await reference());
}, 1_200_000);
