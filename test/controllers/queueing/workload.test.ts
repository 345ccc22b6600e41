// The admission that follows from the conditions of a Kueue Workload, and the changes of Kueue's message that cause a
// write.
import { describe, expect, it } from "vitest";
import { admissionOf, trimWorkload, type Workload } from "../../../controllers/queueing/workload.ts";
import type { Condition } from "../../../src/schemas/condition.ts";

type Said = [type: string, status: string, reason: string, message: string];
const workload = (spec: Workload["spec"], ...said: Said[]): Workload => ({
  metadata: { name: "w", namespace: "n" },
  spec,
  status: { conditions: said.map(([type, status, reason, message]) => ({ type, status, reason, message })) },
});
const told = (message: string): Condition => ({
  type: "QuotaReserved",
  status: "False",
  reason: "QueuePending",
  message,
  observedGeneration: 1,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const needs = (more: string) => `insufficient unused quota for cpu in flavor default, ${more} more needed`;
const pending: Said = ["QuotaReserved", "False", "Pending", needs("500m")];
const reserved: Said = ["QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue voices"];
const admitted: Said = ["Admitted", "True", "Admitted", "The workload is admitted"];
const preempted: Said = ["Evicted", "True", "Preempted", "Preempted to accommodate a workload"];

describe("the admission by Kueue", () => {
  it.each<[string, Workload | undefined, string | true]>([
    [
      "before Kueue has seen the job",
      undefined,
      "Kueue has not picked up the job yet. The job's queue is voices.",
    ],
    ["before it has a condition", workload({}), "The job waits in its queue."],
    ["while the quota is used", workload({}, pending), needs("500m")],
    [
      "while admission checks go on",
      workload({}, reserved),
      "Kueue has reserved the quota. Its admission checks are not finished.",
    ],
    ["when the job may run", workload({}, reserved, admitted), true],
    [
      "when the job is over",
      workload(
        {},
        ["QuotaReserved", "False", "Pending", "Workload has finished"],
        ["Finished", "True", "Succeeded", ""],
      ),
      true,
    ],
    [
      "when the job's pods were not ready in time",
      workload({}, pending, ["Evicted", "True", "PodsReadyTimeout", "Exceeded the timeout"]),
      needs("500m"),
    ],
    [
      "when another client made it inactive",
      workload({ active: false }, pending, ["Evicted", "True", "Deactivated", "The workload is deactivated"]),
      "The workload is deactivated",
    ],
  ])("follows from the Workload %s", (_, seen, expected) => {
    const answer = admissionOf("voices", seen, undefined);
    if (expected === true) expect(answer).toEqual({ admitted: true });
    else expect(answer).toEqual({ admitted: false, reason: "QueuePending", message: expected });
  });

  it("shows a preemption from its start, while the pods still end, to the next admission", () => {
    const expected = { admitted: false, reason: "Preempted", message: "Preempted to accommodate a workload" };
    expect(admissionOf("voices", workload({}, reserved, admitted, preempted), undefined)).toEqual(expected);
    expect(admissionOf("voices", workload({}, pending, preempted), undefined)).toEqual(expected);
    const over: Said = ["Evicted", "False", "QuotaReserved", "Previously: Preempted to accommodate"];
    expect(admissionOf("voices", workload({}, reserved, admitted, over), undefined)).toEqual({
      admitted: true,
    });
  });

  it("keeps its message when only a number changed, and changes it with the reason", () => {
    const before = told(needs("500m"));
    const answer = (message: string) =>
      admissionOf("voices", workload({}, ["QuotaReserved", "False", "Pending", message]), before);
    expect(answer(needs("1250m"))).toMatchObject({ message: before.message });
    expect(answer(needs("2Gi"))).toMatchObject({ message: before.message });
    expect(answer("LocalQueue voices doesn't exist")).toMatchObject({
      message: "LocalQueue voices doesn't exist",
    });
  });
});

it("the cache keeps only the fields of a Workload that the operator reads", () => {
  const kept = workload({}, pending) as Workload & { spec: object; status: object };
  Object.assign(kept.spec, { podSets: [{ template: {} }], queueName: "voices" });
  Object.assign(kept.status, { admission: { clusterQueue: "voices" } });
  trimWorkload(kept);
  expect(JSON.stringify(kept)).not.toMatch(/podSets|admission"/);
  expect(kept.status.conditions).toHaveLength(1);
});
