// Tests which shards are given up, which pods are stopped, and when a resource expires. Pure, no server.
import { describe, expect, it } from "vitest";
import { decide, expiresAt } from "../../controllers/job/decide.ts";
import type { Facts } from "../../controllers/job/facts.ts";
import { endStatus, openStatus } from "../../controllers/job/status.ts";
import type { FailedPod } from "../../src/db/operator/job-state.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { ago, child, conditions, ended, facts, name, now, resource, running } from "../support/facts.ts";

let uid = 0;
const lost = (shard: number, code: string, of: FailedPod["failure"]["class"] = "Infra"): FailedPod => ({
  pod_uid: `lost-${uid++}`,
  run_id: `${name}-1`,
  failure: { class: of, code, message: "It went.", shard, retryable: true },
});
const stalled = (shard: number) => lost(shard, "stalled");
const memory = (shard: number, code = "out_of_memory") => lost(shard, code, "Resources");
const pod = (shard: number, startedSecondsAgo: number): Pod => {
  const made = running(shard);
  const state = { running: { startedAt: ago(startedSecondsAgo) } };
  return {
    metadata: { ...made.metadata, uid: `pod-${shard}` },
    status: { ...made.status, containerStatuses: [{ name: "worker", state }] },
  };
};
const line = (shard: number, secondsAgo: number, podUid = `pod-${shard}`) => ({
  shard,
  pod_uid: podUid,
  items_done: 0,
  items_total: 1,
  items_failed: 0,
  fraction: 0.5,
  message: null,
  checkpoint_step: null,
  checkpoint_at: null,
  updated_at: now - secondsAgo * 1000,
});
/** One shard with small retry budgets; its pod has stalled after 200 s. */
const one = (spec: object = {}) =>
  resource({
    shards: { count: 1, parallelism: 2 },
    retries: { perShard: 9, infraPerShard: 2, maxFailedShards: 0 },
    ...spec,
  });

describe("a shard is given up", () => {
  const table: [string, FailedPod[], string | undefined][] = [
    ["not after one out-of-memory failure", [memory(0)], undefined],
    [
      "after the second, also if one was GPU memory",
      [memory(0), memory(0, "gpu_out_of_memory")],
      "Resources",
    ],
    ["not after it stalled once", [stalled(0)], undefined],
    ["after it stalled twice", [stalled(0), stalled(0)], "Infra"],
    ["not after infraPerShard disruptions", [lost(0, "disrupted"), lost(0, "disrupted")], undefined],
    [
      "after one more disruption",
      [lost(0, "disrupted"), lost(0, "disrupted"), lost(0, "disrupted")],
      "Infra",
    ],
    [
      "not after failures that the Job counts itself",
      Array.from({ length: 5 }, () => lost(0, "temporary")),
      undefined,
    ],
    [
      "not after one failure of each kind",
      [memory(0), stalled(0), lost(0, "disrupted"), lost(0, "killed")],
      undefined,
    ],
  ];
  it.each(table)("%s", (_name, failedPods, of) => {
    const verdict = decide(facts({ cr: one(), child: child(), failedPods }));
    if (of === undefined) expect(verdict.kind).toBe("wait");
    else expect(verdict).toMatchObject({ end: "Failed", failure: { class: of, shard: 0 } });
  });

  it("and its message has the number of failures", () => {
    const verdict = decide(facts({ cr: one(), child: child(), failedPods: [memory(0), memory(0)] }));
    expect(verdict).toMatchObject({ message: "It went. That happened 2 times to shard 0." });
  });

  it("alone: the others continue, its next pod is stopped, and the job ends without it", () => {
    const given: Partial<Facts> = { child: child(), failedPods: [memory(0), memory(0)] };
    const pods = [pod(0, 1), pod(1, 1)];
    expect(decide(facts({ ...given, pods }))).toEqual({ kind: "stop", pods: [{ pod: pods[0] }] });
    const done = { ...given, child: child({ completedIndexes: "1,2" }), ingested: new Set([1, 2]) };
    expect(decide(facts(done))).toMatchObject({
      end: "Succeeded",
      message: "The job is complete. Failed shards: 1.",
    });
    expect(decide(facts({ ...done, ingested: new Set([1]) }))).toEqual({ kind: "ingest", shards: [2] });
  });

  it("but not when its result arrived after all", () => {
    const given = facts({
      child: child({ completedIndexes: "0-2", conditions: conditions("Complete") }),
      ingested: new Set([0, 1, 2]),
      failedPods: [memory(0), memory(0)],
    });
    expect(decide(given)).toMatchObject({ end: "Succeeded", message: "The job is complete." });
  });
});

describe("disruptions that the operator did not see", () => {
  /** A pod after so many failures of its shard that the Job ignored. */
  const past = (count: number, shard = 0): Pod => {
    const made = pod(shard, 1);
    const told = { "batch.kubernetes.io/job-index-ignored-failure-count": String(count) };
    return {
      ...made,
      metadata: { ...made.metadata, annotations: { ...made.metadata.annotations, ...told } },
    };
  };
  const disrupted = () => lost(0, "disrupted");
  const table: [string, Pod[], FailedPod[], string][] = [
    ["count, because the Job passes their number on", [past(3)], [], "end"],
    ["are allowed up to infraPerShard", [past(2)], [], "wait"],
    ["include those that were seen", [past(3)], [disrupted(), disrupted()], "end"],
    ["are not counted twice", [past(2)], [disrupted(), disrupted()], "wait"],
    ["exclude pods that the operator stopped", [past(3)], [stalled(0), disrupted(), disrupted()], "wait"],
    [
      "are added to those of an earlier run",
      [past(1)],
      [disrupted(), disrupted()].map((one) => ({ ...one, run_id: `${name}-0` })),
      "end",
    ],
    ["are read from the last pod of the shard", [past(1), { ...past(3), status: {} }], [], "end"],
    [
      "come before the pod, whose own disruption is added",
      [past(2)],
      [{ ...disrupted(), pod_uid: "pod-0" }],
      "end",
    ],
    ["count for their shard only", [past(2), past(2, 1)], [], "wait"],
  ];
  it.each(table)("%s", (_name, pods, failedPods, kind) => {
    const verdict = decide(facts({ cr: one(), child: child(), pods, failedPods }));
    expect(verdict.kind).toBe(kind);
    if (kind === "end") expect(verdict).toMatchObject({ failure: { code: "disrupted", class: "Infra" } });
  });
});

describe("a silent pod", () => {
  const given = { cr: one(), child: child(), listeningSince: 0 };
  const table: [string, Partial<Facts>, string][] = [
    ["is stopped after the progress deadline", { pods: [pod(0, 201)] }, "stop"],
    ["is not stopped before the deadline", { pods: [pod(0, 199)] }, "wait"],
    [
      "has a deadline that starts at its last report",
      { pods: [pod(0, 900)], progress: [line(0, 199)] },
      "wait",
    ],
    ["is stopped when its last report is too old", { pods: [pod(0, 900)], progress: [line(0, 201)] }, "stop"],
    [
      "gains no time from a report of another pod",
      { pods: [pod(0, 201)], progress: [line(0, 1, "old")] },
      "stop",
    ],
    [
      "is not stopped for time in which the operator did not listen",
      { pods: [pod(0, 900)], listeningSince: now - 100_000 },
      "wait",
    ],
    [
      "is stopped only once",
      { pods: [{ ...pod(0, 900), metadata: { ...pod(0, 1).metadata, deletionTimestamp: ago(1) } }] },
      "wait",
    ],
    [
      "is not stopped while the job is suspended",
      { cr: one({ suspend: true }), pods: [pod(0, 900)] },
      "patch",
    ],
  ];
  it.each(table)("%s", (_name, more, kind) => {
    expect(decide(facts({ ...given, ...more })).kind).toBe(kind);
  });
});

describe("an attempt after the Job was deleted", () => {
  const gone = { cr: resource({}, { attempt: 1, runId: `${name}-1` }), child: undefined };
  it("is not started when all its results are ingested", () => {
    expect(decide(facts({ ...gone, ingested: new Set([0, 1, 2]) }))).toMatchObject({ end: "Succeeded" });
    expect(decide(facts({ ...gone, ingested: new Set([0, 1]) }))).toEqual({ kind: "create", attempt: 2 });
  });

  it("does not ingest the results of an earlier attempt again", () => {
    const again = { child: child({ completedIndexes: "0,1" }), ingested: new Set([0]) };
    expect(decide(facts(again))).toEqual({ kind: "ingest", shards: [1] });
  });
});

describe("a shard that fails with a pod that the operator stopped", () => {
  const over = { conditions: [{ type: "Failed", status: "True" }], failedIndexes: "0" };

  it("has the failure for which that pod was stopped", () => {
    const given = { cr: one(), child: child(over), pods: [ended(0, 137)] };
    expect(decide(facts(given))).toMatchObject({ failure: { code: "killed" } });
    expect(decide(facts({ ...given, failedPods: [stalled(0)] }))).toMatchObject({
      end: "Failed",
      failure: { class: "Infra", code: "stalled" },
    });
  });

  it("has the recorded failure when its pods are gone", () => {
    const given = { cr: one(), child: child(over), failedPods: [lost(0, "internal", "System")] };
    expect(decide(facts(given))).toMatchObject({ failure: { class: "System", code: "internal" } });
  });
});

describe("a crash between the row's end and the resource's", () => {
  it("does not change the class and the code of the failure", () => {
    const row = { ...facts({}).row!, status: "failed" as const, error_message: "whatever" };
    const oom = { cr: one(), child: child(), failedPods: [memory(0), memory(0)] };
    expect(decide(facts({ ...oom, row }))).toEqual(decide(facts(oom)));
    const late = { cr: one({}), child: child(), pods: [pod(0, 1)] };
    late.cr.status = { startTime: ago(1001) };
    expect(decide(facts({ ...late, row }))).toMatchObject({ failure: { code: "deadline_exceeded" } });
    expect(decide(facts({ row }))).toMatchObject({ failure: { code: "failed", message: "whatever" } });
  });

  it("does not change that the work was done and every file failed", () => {
    const done = { child: child({ conditions: conditions("Complete") }), ingested: new Set([0, 1, 2]) };
    const row = { ...facts({}).row!, status: "failed" as const, error_message: "None of the files." };
    // end.ts turns this into a user error, as it did before the crash.
    expect(decide(facts({ ...done, row }))).toMatchObject({ end: "Succeeded" });
  });
});

describe("a queue", () => {
  const words = { reason: "WaitingForQuota", message: "2 of 2 jobs run." } as const;
  const held = { admission: { admitted: false, ...words } } as const;
  it("holds back the Job, and gives the resource its reason", () => {
    const given = facts(held);
    expect(decide(given)).toEqual({ kind: "wait" });
    const status = openStatus(given, { kind: "wait" });
    expect(status.phase).toBe("Pending");
    expect(status.admittedTime).toBeUndefined();
    for (const type of ["QuotaReserved", "Started", "Progressing"])
      expect(status.conditions).toContainEqual(expect.objectContaining({ type, status: "False", ...words }));
  });

  it("stops the deadlines of a job that it evicted", () => {
    const cr = one();
    cr.status = openStatus(facts({ cr, child: child(), pods: [pod(0, 10)] }), { kind: "wait" });
    const sentBack = openStatus(facts({ cr, child: child(), now: now + 100_000, ...held }), { kind: "wait" });
    expect(sentBack.admittedTime).toBe(cr.status?.admittedTime);
    cr.status = sentBack;
    const later = { cr, child: child(), now: now + 5_000_000 };
    const suspended = { ...later, child: child({}, { suspend: true }) };
    expect(decide(facts({ ...suspended, ...held })).kind).toBe("wait");
    const back = openStatus(facts(later), { kind: "wait" });
    expect(back.suspendedSeconds).toBe(4900);
    expect(decide(facts({ ...later, pods: [pod(0, 1)], listeningSince: later.now })).kind).toBe("wait");
  });
});

describe("the status", () => {
  it("estimates the remaining time from the pace so far, without suspended time", () => {
    const cr = resource({}, { startTime: ago(100), suspendedSeconds: 20 });
    const given = facts({ cr, child: child(), pods: [pod(0, 100)], progress: [line(0, 10), line(1, 20)] });
    // A third of the work in 70 s.
    expect(openStatus(given, { kind: "wait" }).progress?.etaSeconds).toBe(140);
    const end = { kind: "end", end: "Cancelled", reason: "CancelRequested", message: "" } as const;
    expect(endStatus(given, { ...end, failedShards: new Map() }, {}).progress).not.toHaveProperty(
      "etaSeconds",
    );
  });

  it("shows usage in whole seconds", () => {
    const row = { ...facts({}).row!, pod_seconds: 10.4, cpu_seconds: 5.2, audio_seconds: 61.5 };
    expect(openStatus(facts({ row, child: child() }), { kind: "wait" }).usage).toEqual({
      podSeconds: 10,
      cpuSeconds: 5,
      gpuSeconds: 0,
      audioSeconds: 62,
    });
  });

  it("shows the checkpoint, or that there is none yet", () => {
    const given = { child: child(), pods: [pod(0, 1)], checkpoints: true };
    const reasonIn = (more: Partial<Facts>) =>
      openStatus(facts({ ...given, ...more }), { kind: "wait" }).conditions?.find(
        ({ type }) => type === "Checkpointed",
      )?.reason;
    expect(reasonIn({})).toBe("NoCheckpoint");
    expect(reasonIn({ checkpoints: false })).toBeUndefined();
    const end = {
      kind: "end",
      end: "Succeeded",
      reason: "Completed",
      message: "",
      failedShards: new Map(),
    } as const;
    expect(endStatus(facts(given), end, {}).conditions).toContainEqual(
      expect.objectContaining({ type: "Checkpointed", message: "The job ended without a checkpoint." }),
    );
    const checkpoint = { key: "runs/x/checkpoint", step: 40, time: ago(1) };
    expect(reasonIn({ checkpoint })).toBe("CheckpointWritten");
    expect(openStatus(facts({ ...given, checkpoint }), { kind: "wait" }).checkpoint).toEqual(checkpoint);
  });
});

describe("the resource of an ended job", () => {
  const status = { completionTime: ago(10) };
  const applied = (spec: object, of?: typeof status) => {
    const cr = resource(spec, of);
    return { ...cr, metadata: { ...cr.metadata, name: "my-job" } };
  };

  it("expires ttlSecondsAfterFinished after its end, and without that field never if a person applied it", () => {
    expect(expiresAt(applied({ ttlSecondsAfterFinished: 60 }, status), 3_600)).toBe(now + 50_000);
    expect(expiresAt(applied({ ttlSecondsAfterFinished: 0 }, status), 3_600)).toBe(now - 10_000);
    expect(expiresAt(applied({}, status), 3_600)).toBeUndefined();
    expect(expiresAt(applied({ ttlSecondsAfterFinished: 60 }), 3_600)).toBeUndefined();
  });

  it("expires after the operator's retention if the service created it", () => {
    expect(expiresAt(resource({}, status), 3_600)).toBe(now + 3_590_000);
    expect(expiresAt(resource({ ttlSecondsAfterFinished: 60 }, status), 3_600)).toBe(now + 50_000);
    expect(expiresAt(resource({}), 3_600)).toBeUndefined();
  });
});
