// A preempted training resumes from its checkpoint and produces the same model as without the preemption: real
// scheduler, real kubelet, real trainer. The scarce resource is a "seat", of which the node has only one.
import { beforeAll, expect, test } from "vitest";
import { type Account, sharedAccount } from "./accounts.ts";
import { create, kubectl, until } from "./cluster.ts";
import {
  cancel,
  conditionOf,
  digestsOf,
  endOf,
  eventsOf,
  holdAfter,
  runningPod,
  statusOf,
  toldToEnd,
  train,
} from "./jobs.ts";
import { offer } from "./node.ts";
import { addProfiles, seat } from "./profiles.ts";
import { once } from "./shared.ts";
import { referenceConfig, sharedTrainable, type Trainable } from "./takes.ts";

let account: Account;
let data: Trainable;
const run = Date.now().toString(36);
const urgent = `urgent-${run}`;

beforeAll(async () => {
  await Promise.all([addProfiles(), offer(seat, 1)]);
  await create({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: urgent },
    value: 1000,
  });
  account = await sharedAccount();
  data = await sharedTrainable(account);
});

test("a preempted training resumes from its checkpoint, and produces the same model", async () => {
  const config = referenceConfig;
  const undisturbed = await train(account, `undisturbed-${run}`, data, { config });
  const job = await train(account, `preempted-${run}`, data, {
    config,
    profile: "seat",
    retries: { perShard: 0 },
  });
  const first = await runningPod(job);
  const resume = await holdAfter(first, "the first epoch", async () => {
    const { progress } = await statusOf(job);
    return (progress?.itemsDone ?? 0) > 0;
  });
  const other = await train(account, `urgent-${run}`, data, {
    profile: "silent-seat",
    priorityClassName: urgent,
  });
  await toldToEnd(job, first);
  resume();
  await runningPod(other);
  const waiting = await until("the preempted job to wait for the seat", 180_000, async () => {
    const status = await statusOf(job);
    expect(status.phase).not.toBe("Succeeded");
    // On a busy machine the scheduler's message arrives before the last report of the pod.
    const isKept = conditionOf(status, "Checkpointed")?.status === "True";
    return isKept && conditionOf(status, "Progressing")?.reason === "Unschedulable" ? status : undefined;
  });
  expect(conditionOf(waiting, "Progressing")?.message).toMatch(/Insufficient plosive\.dev\/seat/);
  const step = waiting.checkpoint?.step ?? 0;
  expect(step).toBeGreaterThan(0);
  await cancel(other);

  const second = await runningPod(job, first);
  const [{ status, pods }] = await Promise.all([endOf(job, "Succeeded"), endOf(undisturbed, "Succeeded")]);
  expect(pods).toBe(2);
  expect(await kubectl("logs", second.metadata.name)).toContain(`resuming at step ${step}`);
  const lost = (await eventsOf(job)).filter(({ reason }) => reason === "InfrastructureError");
  expect(lost.map(({ message }) => message)).toEqual([expect.stringMatching(/preempt/i)]);
  // One run throughout: the Job created the second pod, not a new attempt.
  expect(status.attempt).toBe(1);
  expect(await digestsOf(job)).toEqual(await once("reference", () => digestsOf(undisturbed)));
});
