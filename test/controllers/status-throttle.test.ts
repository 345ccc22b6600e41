// Tests which statuses are written at once, and how often the others are written.
import { describe, expect, it } from "vitest";
import { makeStatusThrottle } from "../../controllers/job/status-throttle.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";

const condition = (type: string, status: string, reason: string) =>
  ({ type, status, reason, message: "", observedGeneration: 1, lastTransitionTime: "t" }) as never;

function statusOf(percent: number, phase: JobStatus["phase"] = "Running", reason = "Reporting"): JobStatus {
  return {
    phase,
    progress: { percent, itemsDone: percent, itemsTotal: 100, itemsFailed: 0 },
    conditions: [
      condition("Started", "True", "PodsRunning"),
      condition("Progressing", reason === "Reporting" ? "True" : "False", reason),
      condition("Ready", "False", reason),
    ],
  };
}

describe("the status throttle", () => {
  it("passes important changes at once, and counters of one job every five seconds", () => {
    let now = 0;
    const throttle = makeStatusThrottle(() => now);
    expect(throttle.waitMs("a", undefined, statusOf(1))).toBe(0);
    throttle.written("a");
    now = 1_000;
    expect(throttle.waitMs("a", statusOf(1), statusOf(2))).toBe(4_000);
    expect(throttle.waitMs("a", statusOf(1), statusOf(2, "Waiting", "WaitingForPods"))).toBe(4_000);
    expect(throttle.waitMs("a", statusOf(1), statusOf(2, "Waiting", "Unschedulable"))).toBe(0);
    expect(throttle.waitMs("a", statusOf(1), statusOf(2, "Cancelling"))).toBe(0);
    now = 5_000;
    const resting = { ...statusOf(2), shards: { total: 1, active: 0, succeeded: 1, failed: 0 } };
    expect(throttle.waitMs("a", statusOf(1), resting)).toBe(5_000);
    expect(throttle.waitMs("a", statusOf(1), statusOf(2))).toBe(0);
  });

  it("passes the status of a job that has lost its pods once none has come for five seconds", () => {
    let now = 0;
    const throttle = makeStatusThrottle(() => now);
    const resting = { ...statusOf(2), shards: { total: 1, active: 0, succeeded: 0, failed: 0 } };
    throttle.written("a");
    now = 60_000;
    expect(throttle.waitMs("a", statusOf(1), resting)).toBe(5_000);
    now = 63_000;
    expect(throttle.waitMs("a", statusOf(1), resting)).toBe(2_000);
    now = 65_000;
    expect(throttle.waitMs("a", statusOf(1), resting)).toBe(0);
    throttle.written("a");
    now = 90_000;
    expect(throttle.waitMs("a", statusOf(1), resting)).toBe(5_000);
  });

  it("waits thirty seconds for the end of a job whose pods have all succeeded, and five for one that lost them", () => {
    let now = 60_000;
    const throttle = makeStatusThrottle(() => now);
    const shards = { total: 1, active: 0, succeeded: 0, failed: 0 };
    const lost = { ...statusOf(99, "Waiting", "WaitingForPods"), shards };
    expect(throttle.waitMs("b", statusOf(1), lost)).toBe(5_000);
    const reported = { ...statusOf(99), shards };
    expect(throttle.waitMs("a", statusOf(1), reported)).toBe(30_000);
    now = 80_000;
    expect(throttle.waitMs("a", statusOf(1), reported)).toBe(10_000);
    expect(throttle.waitMs("a", statusOf(1), statusOf(99, "Succeeded", "Succeeded"))).toBe(0);
    now = 90_000;
    expect(throttle.waitMs("a", statusOf(1), reported)).toBe(0);
  });

  it("passes a new message of the queue for a job without pods after five seconds", () => {
    const waiting = (message: string): JobStatus => ({
      phase: "Waiting",
      shards: { total: 1, active: 0, succeeded: 0, failed: 0 },
      conditions: [{ ...(condition("QuotaReserved", "False", "QueuePending") as object), message } as never],
    });
    let now = 0;
    const throttle = makeStatusThrottle(() => now);
    throttle.written("a");
    now = 1_000;
    expect(throttle.waitMs("a", waiting("not looked at yet"), waiting("no room"))).toBe(4_000);
    now = 5_000;
    expect(throttle.waitMs("a", waiting("not looked at yet"), waiting("no room"))).toBe(0);
  });

  it("passes the counters of a thousand jobs at twelve a second", () => {
    let now = 0;
    const throttle = makeStatusThrottle(() => now);
    let written = 0;
    for (; now < 10_000; now += 100) {
      for (let n = 0; n < 1_000; n++) {
        if (throttle.waitMs(`job ${n}`, statusOf(1), statusOf(2)) > 0) continue;
        throttle.written(`job ${n}`);
        written++;
      }
    }
    expect(written).toBeGreaterThan(110);
    expect(written).toBeLessThanOrEqual(12 + 120);
  });
});
