// What the queue's word does to a job and its Job: nothing is made or runs before it, and what Kueue decides about is
// steered by its Workload alone. Pure.
import { expect, it } from "vitest";
import { decide } from "../../../controllers/job/decide.ts";
import type { Facts } from "../../../controllers/job/facts.ts";
import { openStatus } from "../../../controllers/job/status.ts";
import { ago, child, facts, now, resource } from "../../support/facts.ts";

const waits: Facts["admission"] = { admitted: false, reason: "WaitingForQuota", message: "Not yet." };
const stopped = child({}, { suspend: true });
const wasSuspended = {
  conditions: [
    {
      type: "Suspended" as const,
      status: "True" as const,
      reason: "SuspendRequested" as const,
      message: "",
      observedGeneration: 1,
      lastTransitionTime: ago(10),
    },
  ],
};
const suspended = resource({ suspend: true });
const active = { active: true };

it.each<[string, Partial<Facts>, object]>([
  ["waits for its turn before it has a Job", { admission: waits }, { kind: "wait" }],
  ["gets its Job at once where Kueue decides", { admission: waits, kueue: active }, { kind: "create" }],
  [
    "gets none, not even for Kueue, while it is suspended",
    { cr: suspended, kueue: active },
    { kind: "wait" },
  ],
  ["is stopped while it waits", { admission: waits, child: child() }, { kind: "patch", suspend: true }],
  ["waits on when it is stopped", { admission: waits, child: stopped }, { kind: "wait" }],
  ["runs when its turn has come", { child: stopped }, { kind: "patch", suspend: false, parallelism: 2 }],
  ["is not started in Kueue's stead", { child: stopped, kueue: active }, { kind: "wait" }],
  ["is not stopped in Kueue's stead", { admission: waits, child: child(), kueue: active }, { kind: "wait" }],
  [
    "is suspended by its Workload where Kueue decides",
    { cr: suspended, child: child(), kueue: active },
    { kind: "activate", active: false },
  ],
  ["is not suspended twice", { cr: suspended, child: stopped, kueue: { active: false } }, { kind: "wait" }],
  [
    "is resumed by its Workload",
    { cr: resource({}, wasSuspended), child: stopped, kueue: { active: false } },
    { kind: "activate", active: true },
  ],
  [
    "is resumed by its Workload too when a crash came before its status said that it was suspended",
    { child: stopped, kueue: { active: false, suspended: true } },
    { kind: "activate", active: true },
  ],
  [
    "is left alone when somebody else made its Workload inactive",
    { child: stopped, kueue: { active: false } },
    { kind: "wait" },
  ],
  [
    "waits for a Workload that is not there yet",
    { cr: suspended, child: stopped, kueue: { active: undefined } },
    { kind: "wait" },
  ],
  [
    "moves to another queue",
    { admission: waits, child: stopped, kueue: { ...active, queue: "other" } },
    { kind: "move", queue: "other" },
  ],
])("a job %s", (_, given, expected) => {
  expect(decide(facts(given))).toMatchObject(expected);
});

it("patches the parallelism of Kueue's Jobs and nothing else of them", () => {
  const wide = resource({ shards: { count: 3, parallelism: 3 } });
  const verdict = decide(facts({ cr: wide, child: stopped, kueue: active }));
  expect(verdict).toEqual({ kind: "patch", parallelism: 3 });
});

it("counts neither a deadline while it waits nor the wait as running", () => {
  const reserved = {
    type: "QuotaReserved" as const,
    status: "False" as const,
    reason: "Preempted" as const,
    message: "Preempted.",
    observedGeneration: 1,
    lastTransitionTime: ago(5_000),
  };
  const cr = resource({}, { startTime: ago(5_500), conditions: [reserved] });
  const preempted = facts({
    cr,
    child: stopped,
    kueue: active,
    admission: { ...waits, reason: "Preempted" },
  });
  // Its limits are 1000 s to run and 100 s to wait for a node.
  expect(decide(preempted)).toEqual({ kind: "wait" });
  const back = facts({ cr, child: child(), kueue: active, admission: { admitted: true } });
  expect(decide(back)).toEqual({ kind: "wait" });
  const status = openStatus(back, { kind: "wait" });
  expect(status.suspendedSeconds).toBe(5_000);
  expect(decide({ ...back, cr: { ...cr, status }, now: now + 400_000 })).toMatchObject({ kind: "end" });
});
