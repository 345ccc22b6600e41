// Effects of admission on a job and its Job: without it no Job is created or runs, and a job that Kueue decides about
// is steered only through its Workload. Pure.
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
  ["waits for admission before it gets a Job", { admission: waits }, { kind: "wait" }],
  ["gets its Job at once where Kueue decides", { admission: waits, kueue: active }, { kind: "create" }],
  ["gets no Job while it is suspended, even with Kueue", { cr: suspended, kueue: active }, { kind: "wait" }],
  [
    "is stopped while it is not admitted",
    { admission: waits, child: child() },
    { kind: "patch", suspend: true },
  ],
  ["keeps waiting when it is already stopped", { admission: waits, child: stopped }, { kind: "wait" }],
  ["runs when it is admitted", { child: stopped }, { kind: "patch", suspend: false, parallelism: 2 }],
  ["is not started by the operator where Kueue decides", { child: stopped, kueue: active }, { kind: "wait" }],
  [
    "is not stopped by the operator where Kueue decides",
    { admission: waits, child: child(), kueue: active },
    { kind: "wait" },
  ],
  [
    "is suspended through its Workload where Kueue decides",
    { cr: suspended, child: child(), kueue: active },
    { kind: "activate", active: false },
  ],
  ["is not suspended twice", { cr: suspended, child: stopped, kueue: { active: false } }, { kind: "wait" }],
  [
    "is resumed through its Workload",
    { cr: resource({}, wasSuspended), child: stopped, kueue: { active: false } },
    { kind: "activate", active: true },
  ],
  [
    "is resumed through its Workload even after a crash before its status showed the suspension",
    { child: stopped, kueue: { active: false, suspended: true } },
    { kind: "activate", active: true },
  ],
  [
    "is left alone when another client made its Workload inactive",
    { child: stopped, kueue: { active: false } },
    { kind: "wait" },
  ],
  [
    "waits for a Workload that does not exist yet",
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

it("the operator patches only the parallelism of a Job that Kueue decides about", () => {
  const wide = resource({ shards: { count: 3, parallelism: 3 } });
  const verdict = decide(facts({ cr: wide, child: stopped, kueue: active }));
  expect(verdict).toEqual({ kind: "patch", parallelism: 3 });
});

it("no deadline of a preempted job passes while it waits, and the wait does not count as running time", () => {
  const cr = resource({}, { startTime: ago(5_500), heldSince: ago(5_000) });
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
