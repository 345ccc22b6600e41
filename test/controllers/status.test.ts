// Tests the status of a job's custom resource and its row for given facts and verdicts. Pure, no server.
import { describe, expect, it } from "vitest";
import { decide } from "../../controllers/job/decide.ts";
import { lostAt } from "../../controllers/job/pods.ts";
import { endStatus, openStatus, rowChange, statusDiffers } from "../../controllers/job/status.ts";
import type { ShardProgress } from "../../src/db/operator/job-state.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { ago, bad, child, ended, facts, name, now, pod, resource, running, said } from "../support/facts.ts";

const line = (shard: number, fraction: number, done: number): ShardProgress => ({
  shard,
  pod_uid: `uid-${shard}`,
  items_done: done,
  items_total: 10,
  items_failed: 1,
  fraction,
  message: `shard ${shard}`,
  checkpoint_step: null,
  checkpoint_at: null,
  updated_at: now - 1000 + shard,
});
const words = (status: JobStatus) =>
  status.conditions?.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`);

describe("the status", () => {
  it("of a new run shows the reason for its wait", () => {
    const status = openStatus(facts({}), { kind: "create", attempt: 1 });
    expect(status).toMatchObject({ phase: "Waiting", attempt: 1, runId: `${name}-1`, observedGeneration: 2 });
    expect(words(status)).toEqual([
      "Accepted=True/Accepted",
      "StoreSynced=True/RecordsUpdated",
      "QuotaReserved=True/Admitted",
      "Started=False/WaitingForPods",
      "Progressing=False/WaitingForPods",
      "Ready=False/WaitingForPods",
    ]);
    expect(rowChange(facts({}), status)).toEqual({
      status: "queued",
      statusMessage: "Waiting for a pod to start.",
      progressPercent: 0,
      platformJobName: `${name}-1`,
    });
  });

  it("of a job whose pod ended before the first reconcile shows that it has run", () => {
    const done = ended(0, 75);
    done.status!.containerStatuses![0]!.state!.terminated!.startedAt = ago(5);
    const given = facts({ child: child(), pods: [done, pod(1, { phase: "Pending" })] });
    const status = openStatus(given, { kind: "wait" });
    expect(words(status)).toContain("Started=True/PodsRunning");
    expect(words(status)).toContain("Progressing=False/WaitingForPods");
    expect(status.startTime).toBe(new Date(now).toISOString());
    expect(rowChange(given, status).status).toBe("running");
  });

  it("of waiting pods has the scheduler's message", () => {
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: "0/1 nodes are available.",
    };
    const given = facts({ child: child(), pods: [pod(0, { phase: "Pending", conditions: [condition] })] });
    const status = openStatus(given, decide(given));
    expect(words(status)).toContain("Started=False/Unschedulable");
    expect(rowChange(given, status).statusMessage).toBe("0/1 nodes are available.");
  });

  it("adds up the shards, counts completed ones in full, and stays below 100 percent before the end", () => {
    const given = facts({
      child: child({ completedIndexes: "0" }),
      ingested: new Set([0]),
      pods: [running(1), running(2)],
      progress: [line(0, 0.9, 9), line(1, 0.5, 5), line(2, 1, 10)],
    });
    const status = openStatus(given, decide(given));
    expect(status.progress).toMatchObject({
      percent: 83,
      itemsDone: 25,
      itemsTotal: 30,
      itemsFailed: 3,
      message: "shard 2",
    });
    expect(status.shards).toEqual({ total: 3, active: 2, succeeded: 1, failed: 0 });
    const all = facts({ child: child({ completedIndexes: "0-2" }), ingested: new Set([0, 1, 2]) });
    expect(openStatus(all, { kind: "wait" }).progress?.percent).toBe(99);
  });

  it("keeps its percent when a pod starts again, and starts from 0 with a new run", () => {
    const old = {
      attempt: 1,
      runId: `${name}-1`,
      progress: { percent: 60, itemsDone: 6, itemsTotal: 10, itemsFailed: 0 },
    };
    const given = facts({
      cr: resource({}, old),
      child: child(),
      pods: [running(0)],
      progress: [line(0, 0.3, 3)],
    });
    expect(openStatus(given, { kind: "wait" }).progress).toMatchObject({ percent: 60, itemsDone: 3 });
    expect(
      openStatus(facts({ cr: resource({}, old) }), { kind: "create", attempt: 2 }).progress?.percent,
    ).toBe(0);
  });

  it("of a preempted job is Waiting, and its row stays running", () => {
    const old = openStatus(facts({ child: child(), pods: [running(0)] }), { kind: "wait" });
    const given = facts({ cr: resource({}, old), child: child() });
    const status = openStatus(given, { kind: "wait" });
    expect(status.phase).toBe("Waiting");
    expect(rowChange(given, status)).toMatchObject({
      status: "running",
      statusMessage: "Waiting for a pod to start.",
    });
  });

  it("has 100 percent after a success, and keeps its percent after a failure", () => {
    const given = facts({ child: child(), progress: [line(0, 0.5, 5)] });
    const end = { kind: "end", reason: "Completed", message: "Done.", failedShards: new Map() } as const;
    expect(endStatus(given, { ...end, end: "Succeeded" }, {}).progress).toMatchObject({
      percent: 100,
      itemsDone: 10,
    });
    const status = endStatus(given, { ...end, end: "Failed", reason: "SystemError", failure: bad }, {});
    expect(status).toMatchObject({
      phase: "Failed",
      completionTime: new Date(now).toISOString(),
      failure: bad,
    });
    expect(status.progress?.percent).toBe(16);
    expect(words(status)).toContain("Failed=True/SystemError");
  });

  it("of an ended job counts shards and files as the rows do, also of shards that never reported", () => {
    const given = facts({
      child: child({ completedIndexes: "0,1" }),
      ingested: new Set([0]),
      bad: new Map([[1, bad]]),
      progress: [line(0, 1, 10)],
    });
    const end = { kind: "end", reason: "Completed", message: "Done." } as const;
    const lost = new Map([
      [1, bad],
      [2, bad],
    ]);
    const items = { done: 30, total: 30, failed: 21 };
    const done = endStatus(given, { ...end, end: "Succeeded", failedShards: lost }, {}, items);
    expect(done.shards).toEqual({ total: 3, active: 0, succeeded: 1, failed: 2 });
    expect(done.progress).toMatchObject({ percent: 100, itemsDone: 30, itemsTotal: 30, itemsFailed: 21 });
    const failed = endStatus(given, { ...end, end: "Failed", failure: bad, failedShards: new Map() }, {});
    expect(failed.shards).toEqual({ total: 3, active: 0, succeeded: 1, failed: 1 });
    const gone = facts({ ingested: new Set([0, 1, 2]) });
    const whole = endStatus(gone, { ...end, end: "Succeeded", failedShards: new Map() }, {});
    expect(whole.shards).toEqual({ total: 3, active: 0, succeeded: 3, failed: 0 });
  });

  it("of a job that was refused and then cancelled does not claim that it has a row", () => {
    const cr = resource({ cancel: { reason: "enough" } }, { conditions: [said("Accepted", "False", 9)] });
    const given = facts({ cr, row: null });
    const verdict = decide(given);
    const end = verdict.kind === "end" ? endStatus(given, verdict, {}) : undefined;
    expect(end?.conditions?.find(({ type }) => type === "Accepted")?.status).toBe("False");
    expect(end?.conditions?.some(({ type }) => type === "StoreSynced")).toBe(false);
  });

  it("of a job whose pod is not confirmed as deleted names the node", () => {
    const silent = running(0);
    silent.metadata.deletionTimestamp = ago(61);
    silent.spec = { nodeName: "node-7" };
    expect(lostAt(silent)).toBe(now - 1_000);
    expect(lostAt(running(0))).toBeUndefined();
    const given = facts({ child: child(), pods: [pod(1, { phase: "Succeeded" })], lostPods: [silent] });
    const status = openStatus(given, { kind: "wait" });
    expect(words(status)).toContain("Progressing=False/NodeUnreachable");
    expect(rowChange(given, status).statusMessage).toContain("node-7");
  });

  it("is not written when only the time of the last report changed", () => {
    const a = openStatus(facts({ child: child(), progress: [line(0, 0.5, 5)] }), { kind: "wait" });
    const later = { ...line(0, 0.5, 5), updated_at: now };
    const b = openStatus(facts({ now: now + 5000, cr: resource({}, a), child: child(), progress: [later] }), {
      kind: "wait",
    });
    expect(statusDiffers(a, b)).toBe(false);
    expect(statusDiffers(a, { ...b, phase: "Running" })).toBe(true);
  });
});
