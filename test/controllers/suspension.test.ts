// Deadlines of a suspended job: the time of a suspension counts as neither waiting nor running, also in the reconcile
// that ends it, while the status still shows the suspension. The decisions are pure, so no server is needed.
import { describe, expect, it } from "vitest";
import { decide } from "../../controllers/job/decide.ts";
import { openStatus } from "../../controllers/job/status.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { ago, child, facts, now, resource, running } from "../support/facts.ts";

/** A job with 1000 s to run and 100 s to wait, whose Job is there. */
const jobOf = (status: JobStatus, { suspend = false, jobSuspended = false, pods = [] as Pod[] } = {}) =>
  facts({ cr: resource({ suspend }, status), child: child({}, { suspend: jobSuspended }), pods });

describe("a job that is being resumed", () => {
  it("gets a new pending deadline, however long it was suspended", () => {
    const status = openStatus(jobOf({ heldSince: ago(5000) }, { jobSuspended: true }), { kind: "wait" });
    expect([status.heldSince, status.pendingSince]).toEqual([undefined, ago(0)]);
    expect(decide(jobOf({ heldSince: ago(5000) }, { jobSuspended: true }))).toMatchObject({
      kind: "patch",
      suspend: false,
    });
  });

  it("keeps the running time that it had left", () => {
    const status = { startTime: ago(5900), heldSince: ago(5000) };
    expect(decide(jobOf(status, { jobSuspended: true }))).toMatchObject({ kind: "patch", suspend: false });
  });
});

describe("suspended time", () => {
  const status = {
    startTime: ago(1500),
    suspendedSeconds: 100,
    heldSince: ago(600),
  };

  it("is added once, when the suspension ends", () => {
    expect(openStatus(jobOf(status, { suspend: true }), { kind: "wait" }).suspendedSeconds).toBe(100);
    const resumed = openStatus(jobOf(status), { kind: "wait" });
    expect(resumed.suspendedSeconds).toBe(700);
    const later = { ...jobOf(resumed), now: now + 60_000 };
    expect(openStatus(later, { kind: "wait" }).suspendedSeconds).toBe(700);
  });

  it("does not count before the first pod ran", () => {
    const { startTime: _, suspendedSeconds: __, ...unstarted } = status;
    expect(openStatus(jobOf(unstarted), { kind: "wait" }).suspendedSeconds ?? 0).toBe(0);
  });

  it.each([
    [1699, "wait"],
    [1701, "end"],
  ])("extends the active deadline: after %d s the verdict is %s", (seconds, kind) => {
    const over = { startTime: ago(seconds), suspendedSeconds: 700 };
    expect(decide(jobOf(over, { pods: [running(0)] })).kind).toBe(kind);
  });
});
