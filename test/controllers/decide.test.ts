// The decisions of the job engine as tables: facts in, verdict out. No server is needed, because decide() is pure.
import { describe, expect, it } from "vitest";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { decide, type Facts, type Verdict } from "../../controllers/job/decide.ts";
import { endStatus, openStatus, rowChange, statusDiffers } from "../../controllers/job/status.ts";
import type { JobRow } from "../../src/db/job.ts";
import type { ShardProgress } from "../../src/db/run.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
const tenant = "00000000-0000-4000-8000-0000000000aa";
const name = "ij-00000000-0000-4000-8000-000000000001";

function resource(spec: object = {}, status?: Partial<JobStatus>): JobResource {
  return {
    metadata: { name, namespace: "n", uid: "u", generation: 2 },
    spec: {
      tenantId: tenant,
      suspend: false,
      shards: { count: 3, parallelism: 2 },
      retries: { perShard: 2, maxFailedShards: 2 },
      activeDeadlineSeconds: 1000,
      pendingDeadlineSeconds: 100,
      profile: "default",
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

const row = (more: Partial<JobRow> = {}): JobRow => ({
  id: name.slice(3),
  tenant_id: tenant,
  status: "queued",
  status_message: null,
  error_message: null,
  progress_percent: 0,
  platform_job_name: null,
  submitted: true,
  ...more,
});

function child(status: Job["status"] = {}, spec: object = {}): Job {
  return {
    metadata: { name: `${name}-1`, namespace: "n", uid: "j" },
    spec: { parallelism: 2, suspend: false, template: { spec: {} }, ...spec },
    status,
  };
}
const conditions = (type: string) => [
  { type, status: "True", reason: "Because", message: "The Job says so." },
];

function pod(shard: number, status: Pod["status"]): Pod {
  const annotations = { "batch.kubernetes.io/job-completion-index": String(shard) };
  return { metadata: { name: `p${shard}`, namespace: "n", annotations }, status };
}
const running = (shard: number) =>
  pod(shard, { phase: "Running", containerStatuses: [{ name: "worker", state: { running: {} } }] });
const ended = (shard: number, exitCode: number, message?: string, reason = "Error") =>
  pod(shard, {
    phase: "Failed",
    containerStatuses: [{ name: "worker", state: { terminated: { exitCode, reason, message } } }],
  });
const waitingFor = (reason: string, message: string) =>
  pod(0, {
    phase: "Pending",
    containerStatuses: [{ name: "worker", state: { waiting: { reason, message } } }],
  });

const facts = (more: Partial<Facts>): Facts => ({
  now,
  cr: resource(),
  row: row(),
  child: undefined,
  pods: [],
  progress: [],
  ingested: new Set(),
  bad: new Map(),
  metrics: [],
  profileKnown: true,
  ...more,
});

const said = (type: string, status: string, seconds: number) =>
  ({
    type,
    status,
    reason: "WaitingForPods",
    message: "",
    observedGeneration: 1,
    lastTransitionTime: ago(seconds),
  }) as never;
const bad = { class: "System", code: "result_missing", message: "No result.", retryable: true } as const;
const cancelled = resource({ cancel: { reason: "enough" } });

const verdicts: [string, Partial<Facts>, Partial<Verdict> & Record<string, unknown>][] = [
  ["a new job gets its first Job", {}, { kind: "create", attempt: 1 }],
  [
    "a job that has ended gets nothing, whatever else is true",
    { cr: resource({ cancel: { reason: "x" } }, { conditions: [said("Succeeded", "True", 1)] }), row: null },
    { kind: "settled" },
  ],
  ["a job without a row is refused", { row: null }, { kind: "refuse", reason: "RowMissing" }],
  [
    "a job of another tenant is refused",
    { row: row({ tenant_id: "other" }) },
    { kind: "refuse", reason: "PreconditionFailed" },
  ],
  [
    "an unknown profile fails the job",
    { profileKnown: false },
    { kind: "end", end: "Failed", reason: "UserError" },
  ],
  ["a suspended job gets no Job", { cr: resource({ suspend: true }) }, { kind: "wait" }],
  [
    "a suspension reaches the Job",
    { cr: resource({ suspend: true }), child: child() },
    { kind: "patch", suspend: true, parallelism: 2 },
  ],
  [
    "a resumption reaches the Job",
    { child: child({}, { suspend: true }) },
    { kind: "patch", suspend: false },
  ],
  [
    "a new parallelism reaches the Job",
    { child: child({}, { parallelism: 1 }) },
    { kind: "patch", parallelism: 2 },
  ],
  ["a Job that runs is left alone", { child: child({ active: 2 }) }, { kind: "wait" }],
  [
    "a Job that was deleted becomes a new attempt",
    { cr: resource({}, { attempt: 1, runId: `${name}-1` }) },
    { kind: "create", attempt: 2 },
  ],
  [
    "but not for ever",
    { cr: resource({}, { attempt: 20, runId: `${name}-20` }) },
    { kind: "end", end: "Failed" },
  ],
  [
    "a cancel before anything ran ends the job",
    { cr: cancelled },
    { kind: "end", end: "Cancelled", message: "enough" },
  ],
  [
    "a cancel ends a running job",
    { cr: cancelled, child: child({ active: 1 }) },
    { kind: "end", end: "Cancelled" },
  ],
  [
    "results that are there come before a cancel",
    { cr: cancelled, child: child({ completedIndexes: "0" }) },
    { kind: "ingest", shards: [0] },
  ],
  [
    "a complete job completes although it was cancelled",
    {
      cr: cancelled,
      child: child({ completedIndexes: "0-2", conditions: conditions("Complete") }),
      ingested: new Set([0, 1, 2]),
    },
    { kind: "end", end: "Succeeded" },
  ],
  [
    "only results that are not yet taken in are taken in",
    { child: child({ completedIndexes: "0-1,2" }), ingested: new Set([1]), bad: new Map([[2, bad]]) },
    { kind: "ingest", shards: [0] },
  ],
  [
    "a job with failed shards completes while they are few enough",
    {
      child: child({ completedIndexes: "1", failedIndexes: "0,2", conditions: conditions("Failed") }),
      ingested: new Set([1]),
    },
    { kind: "end", end: "Succeeded", message: "The job is complete without 2 failed shards." },
  ],
  [
    "a job with too many failed shards fails",
    {
      cr: resource({ retries: { perShard: 0, maxFailedShards: 1 } }),
      child: child({ completedIndexes: "1", failedIndexes: "0,2", conditions: conditions("Failed") }),
      ingested: new Set([1]),
      pods: [
        ended(
          0,
          65,
          '{"code":"unusable_audio","message":"Noise.","hint":null,"shard":0,"item":null,"items_done":0,"items_total":1,"items_failed":0}',
        ),
      ],
    },
    { kind: "end", end: "Failed", reason: "UserError", message: "Noise." },
  ],
  [
    "a job of which no shard is left fails",
    { child: child({ failedIndexes: "0-2", conditions: conditions("Failed") }), pods: [ended(0, 75)] },
    { kind: "end", end: "Failed", reason: "InfrastructureError" },
  ],
  [
    "a complete Job without usable results fails",
    {
      child: child({ completedIndexes: "0-2", conditions: conditions("Complete") }),
      bad: new Map([0, 1, 2].map((n) => [n, bad])),
    },
    { kind: "end", end: "Failed", reason: "SystemError", message: "No result." },
  ],
  [
    "a job that ran too long fails",
    { cr: resource({}, { startTime: ago(1001) }), child: child(), pods: [running(0)] },
    { kind: "end", end: "Failed", reason: "DeadlineExceeded" },
  ],
  [
    "the run deadline does not hit a suspended job",
    { cr: resource({ suspend: true }, { startTime: ago(1001) }), child: child({}, { suspend: true }) },
    { kind: "wait" },
  ],
  [
    "a job whose pods never start fails",
    {
      cr: resource({}, { conditions: [said("Progressing", "False", 101)] }),
      child: child(),
      pods: [waitingFor("ImagePullBackOff", "no such image")],
    },
    { kind: "end", end: "Failed", reason: "PendingDeadlineExceeded" },
  ],
  [
    "a resumed job waits anew",
    {
      cr: resource({}, { conditions: [said("Progressing", "False", 500), said("Suspended", "False", 10)] }),
      child: child(),
    },
    { kind: "wait" },
  ],
  [
    "a row that has failed ends the resource",
    { row: row({ status: "failed", error_message: "Full." }) },
    { kind: "end", end: "Failed", message: "Full." },
  ],
  [
    "a row that was cancelled ends the resource",
    { row: row({ status: "cancelled" }), child: child() },
    { kind: "end", end: "Cancelled" },
  ],
];

describe("decide", () => {
  it.each(verdicts)("%s", (_name, given, expected) => {
    expect(decide(facts(given))).toMatchObject(expected);
  });
});

const failures: [string, Pod, object][] = [
  [
    "out of memory",
    ended(0, 137, undefined, "OOMKilled"),
    { class: "Resources", code: "out_of_memory", exitCode: 137 },
  ],
  ["killed", ended(0, 137), { class: "Infra", code: "killed" }],
  [
    "an internal error",
    ended(0, 70, "Traceback\nKeyError: 'x'"),
    { class: "System", code: "internal", message: "The worker ended with exit code 70: KeyError: 'x'" },
  ],
  ["a GPU that is full", ended(0, 71), { class: "Resources", code: "gpu_out_of_memory" }],
  ["missing input", ended(0, 66), { class: "User", code: "input_missing", retryable: false }],
  ["a bad manifest", ended(0, 64), { class: "User", code: "bad_manifest" }],
  ["an unknown exit", ended(0, 3), { class: "System", code: "exit_3" }],
  [
    "a preempted pod",
    pod(0, {
      phase: "Failed",
      conditions: [{ type: "DisruptionTarget", status: "True", message: "Preempted by a pod." }],
    }),
    { class: "Infra", code: "disrupted", message: "Preempted by a pod." },
  ],
];

describe("a failed pod", () => {
  it.each(failures)("that ended with %s gives the job its failure", (_name, failed, expected) => {
    const failing = child({ failedIndexes: "0-2", conditions: conditions("Failed") });
    expect(decide(facts({ child: failing, pods: [failed] }))).toMatchObject({
      end: "Failed",
      failure: expected,
    });
  });
});

const line = (shard: number, fraction: number, done: number): ShardProgress => ({
  shard,
  items_done: done,
  items_total: 10,
  items_failed: 1,
  fraction,
  message: `shard ${shard}`,
  updated_at: now - 1000 + shard,
});
const words = (status: JobStatus) =>
  status.conditions?.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`);

describe("the status", () => {
  it("of a new run says what it waits for", () => {
    const status = openStatus(facts({}), { kind: "create", attempt: 1 });
    expect(status).toMatchObject({ phase: "Waiting", attempt: 1, runId: `${name}-1`, observedGeneration: 2 });
    expect(words(status)).toEqual([
      "Accepted=True/Accepted",
      "Started=False/WaitingForPods",
      "Progressing=False/WaitingForPods",
    ]);
    expect(rowChange(facts({}), status)).toEqual({
      status: "queued",
      statusMessage: "Waiting for a pod to start.",
      progressPercent: 0,
      platformJobName: `${name}-1`,
    });
  });

  it("of waiting pods has the scheduler's own words", () => {
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

  it("adds the shards up, counts finished ones as whole, and never says 100 before the end", () => {
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

  it("keeps its percent when a pod begins again, and starts from 0 with a new run", () => {
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

  it("of a preempted job still counts as running in the row", () => {
    const old = openStatus(facts({ child: child(), pods: [running(0)] }), { kind: "wait" });
    const given = facts({ cr: resource({}, old), child: child() });
    const status = openStatus(given, { kind: "wait" });
    expect(status.phase).toBe("Waiting");
    expect(rowChange(given, status)).toMatchObject({
      status: "running",
      statusMessage: "Waiting for a pod to start.",
    });
  });

  it("of a success is 100 percent, and of a failure keeps what was reached", () => {
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

  it("is not worth writing when only the time of the last report changed", () => {
    const a = openStatus(facts({ child: child(), progress: [line(0, 0.5, 5)] }), { kind: "wait" });
    const later = { ...line(0, 0.5, 5), updated_at: now };
    const b = openStatus(facts({ now: now + 5000, cr: resource({}, a), child: child(), progress: [later] }), {
      kind: "wait",
    });
    expect(statusDiffers(a, b)).toBe(false);
    expect(statusDiffers(a, { ...b, phase: "Running" })).toBe(true);
  });
});
