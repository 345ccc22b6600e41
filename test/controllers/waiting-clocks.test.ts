// The clocks of a waiting job are times in its status: since when it is held (suspended, queued or refused), and since when its
// pods may run and none does. No time that a job was held counts towards a deadline. The decisions are pure.
import { describe, expect, it } from "vitest";
import { isWorkedOn } from "../../controllers/job/deadlines.ts";
import { decide, type Verdict } from "../../controllers/job/decide.ts";
import type { Facts } from "../../controllers/job/facts.ts";
import { nextReconcileMs } from "../../controllers/job/reconcile.ts";
import { endStatus, openStatus } from "../../controllers/job/status.ts";
import { ago, child, facts, now, pod, resource, running } from "../support/facts.ts";

const wait: Verdict = { kind: "wait" };
const refused: Verdict = { kind: "refuse", reason: "PreconditionFailed", message: "The set is a draft." };
const queued = { admission: { admitted: false, reason: "WaitingForQuota", message: "Full." } } as const;
const pending = [pod(0, { phase: "Pending" })];

/** The status after each of these reconciles, one after the other: seconds from now, facts, verdict. */
function statusAfter(...steps: readonly [number, Partial<Facts>, Verdict?][]) {
  let cr = resource();
  for (const [seconds, more, verdict = wait] of steps)
    cr = { ...cr, status: openStatus(facts({ cr, ...more, now: now + seconds * 1000 }), verdict) };
  return cr.status ?? {};
}
const clocks = ({ heldSince, pendingSince }: ReturnType<typeof statusAfter>) => ({ heldSince, pendingSince });

/** Its container ended this many seconds ago. */
const succeeded = (shard: number, secondsAgo: number) =>
  pod(shard, {
    phase: "Succeeded",
    containerStatuses: [
      { name: "worker", state: { terminated: { exitCode: 0, finishedAt: ago(secondsAgo) } } },
    ],
  });

describe("a job of three shards", () => {
  const first = [succeeded(0, 5)];
  it.each<[string, boolean, Partial<Facts>]>([
    ["is worked on while a pod runs", true, { pods: [succeeded(0, 900), running(1)] }],
    ["is worked on for a moment after a pod has succeeded", true, { pods: first }],
    ["is not, once no next pod has come for a minute", false, { pods: [succeeded(0, 61)] }],
    ["is worked on until its Job completes", true, { pods: [0, 1, 2].map((n) => succeeded(n, 900)) }],
    [
      "is worked on until its Job completes, also without the pods of earlier shards",
      true,
      { child: child({ completedIndexes: "0,1" }), pods: [succeeded(2, 900)] },
    ],
    ["is not while a pod waits", false, { pods: [...first, pod(1, { phase: "Pending" })] }],
    ["is not while a pod is lost", false, { pods: first, lostPods: [running(1)] }],
    ["is not without pods", false, { pods: [] }],
    ["is not while it is suspended", false, { pods: first, cr: resource({ suspend: true }) }],
    ["is not while it waits for admission", false, { pods: first, ...queued }],
  ])("%s", (_name, expected, more) => {
    expect(isWorkedOn(facts({ child: child(), ...more }))).toBe(expected);
  });

  it("whose next pod is refused says that it waits, and ends at its pending deadline", () => {
    const job = { child: child(), pods: [succeeded(0, 0)] };
    const status = statusAfter([0, job], [60, job]);
    expect(status).toMatchObject({ phase: "Waiting", pendingSince: ago(-60) });
    const at = (seconds: number) => facts({ cr: resource({}, status), ...job, now: now + seconds * 1000 });
    expect(nextReconcileMs(facts(job), wait)).toBe(60_000);
    expect(decide(at(159))).toEqual(wait);
    expect(decide(at(161))).toMatchObject({ kind: "end", reason: "PendingDeadlineExceeded" });
  });
});

describe("a waiting job", () => {
  it("that was refused for longer than its pending deadline has all of it once it is accepted", () => {
    const status = statusAfter([0, { row: null }, refused], [5_000, { row: null }, refused]);
    expect(clocks(status)).toEqual({ heldSince: ago(0), pendingSince: undefined });
    // The Job was created, and the reconcile returned without a status.
    const later = { child: child(), pods: pending, now: now + 5_001_000 };
    expect(decide(facts({ ...later, cr: resource({}, status) }))).toEqual(wait);
    const next = statusAfter([0, { row: null }, refused], [5_001, { child: child(), pods: pending }]);
    expect(clocks(next)).toEqual({ heldSince: undefined, pendingSince: ago(-5_001) });
    const at = (seconds: number) =>
      facts({ cr: resource({}, next), child: child(), pods: pending, now: now + seconds * 1000 });
    expect(decide(at(5_100))).toEqual(wait);
    expect(decide(at(5_102))).toMatchObject({ kind: "end", reason: "PendingDeadlineExceeded" });
  });

  it("is held from the first of several reasons to the last", () => {
    const suspended = { cr: resource({ suspend: true }) };
    const first = openStatus(facts({ ...suspended, ...queued }), wait);
    expect(clocks(first)).toEqual({ heldSince: ago(0), pendingSince: undefined });
    const resumed = openStatus(facts({ cr: resource({}, first), ...queued, now: now + 9_000 }), wait);
    expect(clocks(resumed)).toEqual({ heldSince: ago(0), pendingSince: undefined });
  });

  it("waits for pods from its admission on, and anew after each loss of all its pods", () => {
    const job = { child: child() };
    expect(clocks(statusAfter([0, { ...job, pods: pending }], [60, { ...job, pods: pending }]))).toEqual({
      heldSince: undefined,
      pendingSince: ago(0),
    });
    const runs = statusAfter([0, { ...job, pods: pending }], [60, { ...job, pods: [running(0)] }]);
    expect(clocks(runs)).toEqual({ heldSince: undefined, pendingSince: undefined });
    const lost = statusAfter([0, job], [60, { ...job, pods: [running(0)] }], [90, { ...job, pods: pending }]);
    expect(clocks(lost)).toEqual({ heldSince: undefined, pendingSince: ago(-90) });
  });

  it("has no clock any more when it has ended", () => {
    const cr = resource({}, statusAfter([0, queued]));
    const end = { kind: "end", end: "Cancelled", reason: "CancelRequested", message: "" } as const;
    const status = endStatus(facts({ cr, ...queued }), { ...end, failedShards: new Map() }, {});
    expect(clocks(status)).toEqual({ heldSince: undefined, pendingSince: undefined });
  });

  it.each([
    ["just now", 0, 30],
    ["for ten minutes", 600, 75],
    ["for two hours", 7_200, 900],
    ["for a week", 604_800, 900],
  ])("that has been refused %s (%s s) is looked at again after %s s", (_, seconds, expected) => {
    const cr = resource({}, statusAfter([0, { row: null }, refused]));
    expect(nextReconcileMs(facts({ cr, row: null, now: now + seconds * 1000 }), refused)).toBe(
      expected * 1000,
    );
  });
});
