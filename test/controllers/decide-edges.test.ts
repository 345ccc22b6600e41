// Tests the limits of the job engine's decisions: deadlines to the millisecond, the last attempt, the cause among several
// failures, and objects with parts missing. Pure, no server.
import { describe, expect, it } from "vitest";
import {
  deadlinesOf,
  pendingFailure,
  stalledPods,
  suspendedSeconds,
} from "../../controllers/job/deadlines.ts";
import { agreesWithRow, awaitPodsUntil, decide } from "../../controllers/job/decide.ts";
import type { Facts } from "../../controllers/job/facts.ts";
import { exhaustedShards } from "../../controllers/job/retry-budget.ts";
import { trimJob } from "../../controllers/job/trim.ts";
import type { FailedPod } from "../../src/db/operator/job-state.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import {
  ago,
  child,
  conditions,
  ended,
  facts,
  name,
  now,
  pod,
  resource,
  row,
  running,
  said,
  waitingFor,
} from "../support/facts.ts";

const failedPod = (shard: number | undefined, code: string, more: object = {}): FailedPod => ({
  pod_uid: `uid-${shard}-${code}`,
  run_id: `${name}-1`,
  failure: {
    class: "Infra",
    code,
    message: code,
    ...(shard === undefined ? {} : { shard }),
    retryable: true,
    ...more,
  },
});
const memory = (shard: number) => failedPod(shard, "out_of_memory", { class: "Resources" });
const withoutStatus: Job = { ...child(), status: undefined } as never;
const startedAt = (shard: number, seconds: number): Pod => ({
  ...pod(shard, {
    phase: "Running",
    containerStatuses: [{ name: "worker", state: { running: { startedAt: ago(seconds) } } }],
  }),
  metadata: { ...pod(shard, {}).metadata, uid: `pod-${shard}` },
});
const deleting = (made: Pod): Pod => ({
  ...made,
  metadata: { ...made.metadata, deletionTimestamp: ago(1) as never },
});
const unindexed = (made: Pod): Pod => ({ ...made, metadata: { ...made.metadata, annotations: {} } });

describe("the deadlines of a job", () => {
  const silent = { child: child(), listeningSince: 0 };

  it("are sorted by time, and the progress deadline follows the pod that has been silent longest", () => {
    const cr = resource({}, { startTime: ago(100) });
    const given = facts({ ...silent, cr, pods: [startedAt(0, 50), startedAt(1, 90)] });
    expect(deadlinesOf(given)).toEqual([
      { at: now + 110_000, which: "progress" },
      { at: now + 900_000, which: "active" },
    ]);
  });

  it("ignore, for progress, pods that are being deleted, have no shard or do not run", () => {
    const pods = [
      deleting(startedAt(0, 900)),
      unindexed(startedAt(1, 900)),
      ended(2, 1),
      pod(2, { phase: "Pending" }),
    ];
    expect(deadlinesOf(facts({ ...silent, pods }))).toEqual([]);
    expect(stalledPods(facts({ ...silent, pods }))).toEqual([]);
  });

  it("do not run while the job is suspended or queued, or has no Job", () => {
    const pods = [startedAt(0, 900)];
    const admission = { admitted: false, reason: "QuotaExceeded", message: "" } as never;
    for (const held of [{ cr: resource({ suspend: true }) }, { admission }, { child: undefined }]) {
      expect(deadlinesOf(facts({ ...silent, pods, ...held }))).toEqual([]);
      expect(stalledPods(facts({ ...silent, pods, ...held }))).toEqual([]);
    }
  });

  it("pass at exactly their millisecond", () => {
    const at = (seconds: number, more: object = {}) =>
      facts({ ...silent, cr: resource({}, { startTime: ago(seconds) }), pods: [startedAt(0, 1)], ...more });
    expect(decide(at(1000))).toMatchObject({ reason: "DeadlineExceeded", failure: { retryable: true } });
    expect(decide(at(1000, { now: now - 1 })).kind).toBe("wait");
    expect(stalledPods(at(1, { pods: [startedAt(0, 200)] }))).toHaveLength(1);
    expect(stalledPods(at(1, { pods: [startedAt(0, 200)], now: now - 1 }))).toHaveLength(0);
    const silentPods = decide(at(300, { pods: [startedAt(0, 200)] }));
    const failure = { class: "Infra", code: "stalled", shard: 0, retryable: true };
    expect(silentPods).toMatchObject({ kind: "stop", pods: [{ failure }] });
  });

  it("do not count outages of database and run endpoint against a silent pod, and nothing but them", () => {
    const pods = [startedAt(0, 500)];
    const outage = (from: number, to: number) => ({ from: now - from * 1000, to: now - to * 1000 });
    const at = (outages: ReturnType<typeof outage>[]) => facts({ ...silent, pods, outages });
    // The pod may be silent for 200 s. An outage that began before it started counts only from then on.
    expect(stalledPods(at([outage(400, 399), outage(200, 199)]))).toHaveLength(1);
    expect(stalledPods(at([outage(600, 300), outage(200, 99)]))).toHaveLength(0);
    expect(stalledPods(at([outage(900, 501)]))).toHaveLength(1);
    // The run endpoint is away while the database is, and each second counts once.
    expect(stalledPods(at([outage(300, 100), outage(250, 99)]))).toHaveLength(1);
    expect(stalledPods(at([outage(250, 0), outage(600, 200)]))).toHaveLength(0);
    expect(deadlinesOf(at([outage(450, 150)]))[0]).toEqual({ at: now, which: "progress" });
  });

  it("stop only the pod, not the job, when the progress deadline passes", () => {
    const given = facts({ ...silent, pods: [startedAt(0, 900)] });
    expect(deadlinesOf(given)[0]?.which).toBe("progress");
    expect(decide(given).kind).toBe("stop");
  });

  it.each([
    ["unschedulable", "Quota", [pod(0, { phase: "Pending", conditions: [unschedulable()] })]],
    ["image_unavailable", "System", [waitingFor("ErrImagePull", "no")]],
    ["pods_not_started", "Infra", [pod(0, { phase: "Pending" })]],
  ])("fail a waiting job with the code %s", (code, of, pods) => {
    const failure = pendingFailure(facts({ pods }));
    expect(failure).toMatchObject({ class: of, code, retryable: true });
    const long = { ...waitingFor("ErrImagePull", "x".repeat(2000)) };
    expect(pendingFailure(facts({ pods: [long] })).message).toHaveLength(1000);
  });
  function unschedulable() {
    return { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "Full." };
  }

  it("exclude time in which the job was held, but not before its start", () => {
    const heldSince = ago(80);
    const status = { startTime: ago(500), heldSince };
    expect(suspendedSeconds(facts({ cr: resource({}, status) }))).toBe(80);
    const unstarted = { heldSince, suspendedSeconds: 7 };
    expect(suspendedSeconds(facts({ cr: resource({}, unstarted) }))).toBe(7);
    expect(suspendedSeconds(facts({ cr: resource() }))).toBe(0);
    const late = { startTime: ago(30), heldSince };
    expect(suspendedSeconds(facts({ cr: resource({}, late) }))).toBe(30);
  });
});

describe("a single job", () => {
  it("is refused when its row belongs to another resource", () => {
    const refused = { kind: "refuse", reason: "PreconditionFailed" };
    expect(decide(facts({ row: row({ resource_name: "other" }) }))).toMatchObject(refused);
    expect(decide(facts({ row: row({ resource_name: name }) })).kind).toBe("create");
  });

  it("gets at most twenty attempts", () => {
    expect(decide(facts({ cr: resource({}, { attempt: 19 }) }))).toEqual({ kind: "create", attempt: 20 });
    const failure = { class: "Infra", code: "child_deleted", retryable: true };
    expect(decide(facts({ cr: resource({}, { attempt: 20 }) }))).toMatchObject({ end: "Failed", failure });
  });

  it("fails as not retryable without its profile", () => {
    const failure = { class: "User", code: "profile_unknown", retryable: false };
    expect(decide(facts({ profileKnown: false }))).toMatchObject({ failure });
  });

  it("treats a Job without the suspend field as one that is not suspended", () => {
    const bare = { ...child(), spec: { parallelism: 2, template: { spec: {} } } } as Job;
    expect(decide(facts({ child: bare }))).toEqual({ kind: "wait" });
    const suspended = resource({ suspend: true });
    expect(decide(facts({ cr: suspended, child: bare }))).toMatchObject({ kind: "patch", suspend: true });
  });

  it("that was resumed outside Kueue has no Workload to activate", () => {
    const cr = resource({}, { conditions: [said("Suspended", "True", 5)] });
    expect(decide(facts({ cr, child: child() }))).toEqual({ kind: "wait" });
  });

  it("waits while its Job has no status", () => {
    expect(decide(facts({ child: withoutStatus }))).toEqual({ kind: "wait" });
    expect(decide(facts({ child: { ...child(), status: {} } }))).toEqual({ kind: "wait" });
  });
});

describe("pods of a shard that is given up", () => {
  const gone = [memory(1), memory(1)];

  it("are stopped unless they have ended, are being deleted, or belong to another shard", () => {
    const pods = [running(0), running(1), ended(1, 137), deleting(running(1)), unindexed(running(1))];
    const verdict = decide(facts({ child: child(), failedPods: gone, pods }));
    expect(verdict).toEqual({ kind: "stop", pods: [{ pod: pods[1] }] });
  });

  it("are stopped once, as stalled, when they are also silent", () => {
    const pods = [startedAt(1, 900), startedAt(2, 900)];
    const verdict = decide(facts({ child: child(), failedPods: gone, pods, listeningSince: 0 }));
    const stops = verdict.kind === "stop" ? verdict.pods : [];
    expect(stops.map(({ pod: each, failure }) => [each.metadata.name, failure?.code])).toEqual([
      ["p1", "stalled"],
      ["p2", "stalled"],
    ]);
    const both = [startedAt(1, 10), startedAt(2, 900)];
    const mixed = decide(facts({ child: child(), failedPods: gone, pods: both, listeningSince: 0 }));
    expect(mixed).toMatchObject({ pods: [{ pod: both[1], failure: { code: "stalled" } }, { pod: both[0] }] });
  });
});

describe("the last pods of an ended Job", () => {
  // As it is in the cache.
  const over = (type: string, more: object = {}): Job => {
    const job = child({
      failed: 1,
      conditions: [{ ...conditions(type)[0]!, lastTransitionTime: ago(1), ...more }],
    } as never);
    trimJob(job);
    return job;
  };
  const until = (given: Partial<Facts>) => awaitPodsUntil(facts(given));

  it.each(["Complete", "Failed"])("are awaited after %s", (type) => {
    expect(until({ child: over(type), pods: [running(0)] })).toBe(now + 4_000);
  });

  it.each([
    ["while the Job is open", over("Suspended")],
    ["when the condition is not true", over("Failed", { status: "False" })],
    ["when the condition has no time", child({ conditions: conditions("Failed") })],
    ["when the Job has no status", withoutStatus],
    ["when there is no Job", undefined],
  ])("are not awaited %s", (_name, made) => {
    expect(until({ child: made, pods: [running(0)] })).toBeUndefined();
  });

  it("are no longer awaited once every failure that the Job counts is recorded for this run", () => {
    const job = over("Failed");
    expect(until({ child: job, failedPods: [failedPod(0, "killed")] })).toBeUndefined();
    for (const other of [
      failedPod(0, "disrupted"),
      failedPod(0, "stalled"),
      { ...failedPod(0, "killed"), run_id: `${name}-0` },
    ])
      expect(until({ child: job, failedPods: [other] })).toBe(now + 4_000);
    const uncounted = { ...job, status: { ...job.status, failed: undefined } } as Job;
    expect(until({ child: uncounted })).toBeUndefined();
  });
});

describe("the verdict on a Job", () => {
  const closed = (more: object, type = "Failed") => child({ conditions: conditions(type), ...more });

  it("ignores other conditions of the Job and conditions with status False", () => {
    const both = [...conditions("SuccessCriteriaMet"), ...conditions("Complete")];
    const given = {
      child: child({ conditions: both, completedIndexes: "0-2" }),
      ingested: new Set([0, 1, 2]),
    };
    expect(decide(facts(given))).toMatchObject({ end: "Succeeded" });
    const open = [{ ...conditions("Failed")[0]!, status: "False" }];
    expect(decide(facts({ child: child({ conditions: open, failedIndexes: "0" }) }))).toEqual({
      kind: "wait",
    });
  });

  it("waits for the Job to end when one of its indexes has failed", () => {
    const cr = resource({ retries: { perShard: 1, infraPerShard: 9, maxFailedShards: 0 } });
    expect(decide(facts({ cr, child: child({ failedIndexes: "0" }) }))).toEqual({ kind: "wait" });
  });

  it("is a success with few failed shards, and has their failures", () => {
    const given = {
      child: closed({ completedIndexes: "1,2" }),
      ingested: new Set([1, 2]),
      pods: [ended(0, 75)],
    };
    const verdict = decide(facts(given));
    expect(verdict).toMatchObject({ end: "Succeeded" });
    const lost = verdict.kind === "end" ? verdict.failedShards : new Map();
    expect([...lost]).toEqual([[0, expect.objectContaining({ code: "temporary", shard: 0 })]]);
  });

  it("is a failure when every shard has failed, even if that many may fail", () => {
    const cr = resource({ retries: { perShard: 0, infraPerShard: 0, maxFailedShards: 3 } });
    expect(decide(facts({ cr, child: closed({ failedIndexes: "0-2" }) }))).toMatchObject({ end: "Failed" });
  });

  it("takes the failure of the Job for shards whose pods no longer exist", () => {
    const verdict = decide(facts({ child: closed({ completedIndexes: "1,2" }), ingested: new Set([1, 2]) }));
    const lost = verdict.kind === "end" ? verdict.failedShards.get(0) : undefined;
    const job = { class: "System", code: "Because", message: "The Job says so.", retryable: true };
    expect(lost).toEqual({ ...job, shard: 0 });
  });

  it("names the shard that failed, not a shard that was stopped because of that", () => {
    const cr = resource({ retries: { perShard: 0, infraPerShard: 0, maxFailedShards: 0 } });
    const given = facts({
      cr,
      child: closed({ failedIndexes: "2" }),
      pods: [ended(0, 143), ended(2, 66)],
    });
    expect(decide(given)).toMatchObject({ failure: { code: "input_missing", shard: 2 } });
    const exhausted = facts({
      cr,
      child: closed({}),
      pods: [ended(0, 143)],
      failedPods: [memory(1), memory(1)],
    });
    expect(decide(exhausted)).toMatchObject({ failure: { code: "out_of_memory", shard: 1 } });
    const noCause = facts({ cr, child: closed({}), ingested: new Set([0]), pods: [ended(1, 143)] });
    expect(decide(noCause)).toMatchObject({ failure: { code: "killed", shard: 1 } });
  });
});

describe("the end of a row and the end of its resource", () => {
  it.each([
    ["Succeeded", "completed", true],
    ["Succeeded", "failed", true],
    ["Succeeded", "cancelled", false],
    ["Succeeded", "running", false],
    ["Failed", "failed", true],
    ["Failed", "completed", false],
    ["Cancelled", "cancelled", true],
    ["Cancelled", "failed", false],
  ] as const)("%s and %s agree: %s", (end, status, agree) => {
    expect(agreesWithRow({ end } as never, row({ status }))).toBe(agree);
  });

  it("are the same after a crash between them", () => {
    const recorded = (more: object) => decide(facts({ row: row(more as never), child: child() }));
    expect(recorded({ status: "completed" })).toMatchObject({ end: "Succeeded", reason: "Completed" });
    const cancelled = recorded({ status: "cancelled", status_message: "enough" });
    expect(cancelled).toMatchObject({ end: "Cancelled", message: "enough" });
    expect(recorded({ status: "cancelled" })).toMatchObject({ end: "Cancelled", message: "Cancelled." });
    const failed = recorded({ status: "failed" });
    expect(failed).toMatchObject({
      end: "Failed",
      failure: { class: "System", code: "failed", retryable: true },
    });
  });
});

describe("the retry budget of a shard", () => {
  const cr = resource({ retries: { perShard: 9, infraPerShard: 1, maxFailedShards: 0 } });
  const past = (shard: number | undefined, count: number, more: Partial<Pod> = {}): Pod => {
    const ignored = { "batch.kubernetes.io/job-index-ignored-failure-count": String(count) };
    const made = shard === undefined ? unindexed(running(0)) : running(shard);
    const annotations = { ...made.metadata.annotations, ...ignored };
    return { ...made, metadata: { ...made.metadata, uid: "now", annotations }, ...more };
  };

  it("is not charged for failures or pods without a shard", () => {
    expect(exhaustedShards({ cr, child: child(), pods: [past(undefined, 9)], failedPods: [] }).size).toBe(0);
    const nobody = [failedPod(undefined, "stalled"), failedPod(undefined, "stalled")];
    expect(exhaustedShards({ cr, child: child(), pods: [], failedPods: nobody }).size).toBe(0);
  });

  it("is charged for disruptions, not for failures that the Job counts itself", () => {
    const failedPods = [failedPod(0, "killed"), failedPod(0, "internal")];
    const found = exhaustedShards({ cr, child: child(), pods: [past(0, 2)], failedPods });
    expect(found.get(0)).toMatchObject({ class: "Infra", code: "disrupted", retryable: true });
  });

  it("uses the highest count of disruptions among the pods, in any order of the list", () => {
    for (const pods of [
      [past(0, 2), past(0, 1)],
      [past(0, 1), past(0, 2)],
    ])
      expect(exhaustedShards({ cr, child: child(), pods, failedPods: [] }).size).toBe(1);
  });

  it("applies when the Job is gone, too, and its message is cut to fit into the resource", () => {
    const long = Array.from({ length: 2 }, () => failedPod(0, "stalled", { message: "x".repeat(1000) }));
    const found = exhaustedShards({ cr, child: undefined, pods: [], failedPods: long });
    expect(found.get(0)?.message).toHaveLength(1000);
    expect(exhaustedShards({ cr, child: child(), pods: [], failedPods: [] }).size).toBe(0);
  });
});
