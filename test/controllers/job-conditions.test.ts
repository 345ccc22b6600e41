// Tests the conditions, the times and the counts that an open job's status shows, and its row. Pure, no server.
import { describe, expect, it } from "vitest";
import { setConditions } from "../../controllers/job/conditions.ts";
import { decide } from "../../controllers/job/decide.ts";
import { endStatus, openStatus, rowChange, statusDiffers } from "../../controllers/job/status.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { ago, bad, child, facts, name, now, pod, resource, row, running, said } from "../support/facts.ts";

const wait = { kind: "wait" } as const;
const at = new Date(now).toISOString();
const find = (status: JobStatus, type: string) => status.conditions?.find((each) => each.type === type);
const line = {
  shard: 0,
  pod_uid: "uid",
  items_done: 1,
  items_total: 2,
  items_failed: 0,
  fraction: 0.5,
  message: "half",
  checkpoint_step: null,
  checkpoint_at: null,
  updated_at: now,
};

describe("a refused job", () => {
  const old = { attempt: 3, conditions: [said("QuotaReserved", "False", 5)] };
  const cr = resource({}, old);
  const refuse = { kind: "refuse", reason: "PreconditionFailed", message: "x".repeat(2000) } as const;

  it("shows the reason, keeps the rest of its status, and cuts its messages to fit into the resource", () => {
    const status = openStatus(facts({ cr, row: null }), refuse);
    expect(status).toMatchObject({ phase: "Pending", attempt: 3, observedGeneration: 2 });
    expect(Object.keys(JSON.parse(JSON.stringify(status))).sort()).toEqual([
      "attempt",
      "conditions",
      "heldSince",
      "observedGeneration",
      "phase",
    ]);
    expect(status.conditions?.map(({ type }) => type)).toEqual([
      "QuotaReserved",
      "Accepted",
      "Progressing",
      "Ready",
    ]);
    for (const type of ["Accepted", "Progressing", "Ready"]) {
      expect(find(status, type)).toMatchObject({ status: "False", reason: "PreconditionFailed" });
      expect(find(status, type)).toMatchObject({ observedGeneration: 2, lastTransitionTime: at });
      expect(find(status, type)?.message).toHaveLength(1000);
    }
  });
});

describe("the conditions of an open job", () => {
  it("say that the Job was deleted, also if that happened before the first status", () => {
    const status = openStatus(facts({ lastAttempt: 1 }), { kind: "create", attempt: 2 });
    expect(find(status, "Progressing")).toMatchObject({ status: "False", reason: "ChildDeleted" });
  });

  it("show a suspension and its end", () => {
    const suspended = openStatus(facts({ cr: resource({ suspend: true }), child: child() }), wait);
    expect(find(suspended, "Suspended")).toMatchObject({ status: "True", reason: "SuspendRequested" });
    expect(find(suspended, "Progressing")).toMatchObject({ status: "False", reason: "SuspendRequested" });
    expect(suspended.phase).toBe("Suspended");
    const resumed = openStatus(facts({ cr: resource({}, suspended), child: child() }), wait);
    expect(find(resumed, "Suspended")).toMatchObject({ status: "False", reason: "Resumed" });
    expect(find(openStatus(facts({}), wait), "Suspended")).toBeUndefined();
  });

  it("show whether the pods report", () => {
    const given = { child: child(), pods: [running(0)] };
    expect(find(openStatus(facts(given), wait), "Progressing")?.reason).toBe("PodsRunning");
    const reporting = openStatus(facts({ ...given, progress: [line] }), wait);
    expect(find(reporting, "Progressing")).toMatchObject({ status: "True", reason: "Reporting" });
    expect(reporting.phase).toBe("Running");
  });

  it("show why the queue holds the job", () => {
    const admission = { admitted: false, reason: "QuotaExceeded", message: "No room." } as never;
    const status = openStatus(facts({ admission }), wait);
    for (const type of ["QuotaReserved", "Started", "Progressing", "Ready"])
      expect(find(status, type)).toMatchObject({ status: "False", reason: "QuotaExceeded" });
  });

  it("of a new run ignore the pods of the previous run", () => {
    const before = { child: undefined, pods: [running(0)] };
    const status = openStatus(facts({ ...before, cr: resource({}, { attempt: 1 }) }), {
      kind: "create",
      attempt: 2,
    });
    expect(find(status, "Started")?.status).toBe("False");
    expect(find(status, "Progressing")?.status).toBe("False");
    expect(status).toMatchObject({ phase: "Waiting", shards: { active: 0, failed: 0, succeeded: 0 } });
  });

  it("of a new run show that the Job of the previous run was deleted", () => {
    const create = { kind: "create", attempt: 2 } as const;
    const again = openStatus(facts({ cr: resource({}, { attempt: 1, runId: `${name}-1` }) }), create);
    expect(find(again, "Progressing")?.reason).toBe("ChildDeleted");
    const first = openStatus(facts({}), { ...create, attempt: 1 });
    expect(find(first, "Progressing")?.reason).toBe("WaitingForPods");
  });

  it("explain a wait by the last failure, unless the pods show another reason", () => {
    const failure = { class: "Infra", code: "disrupted", message: "Evicted.", retryable: true } as const;
    const failedPods = [{ pod_uid: "a", run_id: `${name}-1`, failure }];
    const after = openStatus(facts({ child: child(), failedPods }), wait);
    expect(find(after, "Progressing")).toMatchObject({ reason: "Preempted", message: "Evicted." });
    const unschedulable = pod(0, {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "Full." }],
    });
    const waits = openStatus(facts({ child: child(), failedPods, pods: [unschedulable] }), wait);
    expect(find(waits, "Progressing")).toMatchObject({ reason: "Unschedulable", message: "Full." });
  });

  it("show the last checkpoint, or that there is none", () => {
    const checkpoint = { step: 7 } as never;
    const written = openStatus(facts({ cr: resource({}, { checkpoint }), checkpoints: true }), wait);
    expect(find(written, "Checkpointed")).toMatchObject({ status: "True", reason: "CheckpointWritten" });
    expect(written.checkpoint).toBe(checkpoint);
    const new_ = openStatus(facts({ checkpoint, checkpoints: true }), wait);
    expect(new_.checkpoint).toBe(checkpoint);
    const none = openStatus(facts({ child: child(), pods: [running(0)], checkpoints: true }), wait);
    expect(find(none, "Checkpointed")).toMatchObject({ status: "False", reason: "NoCheckpoint" });
    expect(find(openStatus(facts({ checkpoints: true }), wait), "Checkpointed")).toBeUndefined();
  });
});

describe("the status of an open job", () => {
  it("counts running pods and failed indexes of the Job", () => {
    const given = facts({
      child: child({ failedIndexes: "1" }),
      pods: [running(0), pod(2, { phase: "Pending" })],
    });
    expect(openStatus(given, wait).shards).toEqual({ total: 3, active: 1, succeeded: 0, failed: 1 });
    const empty = facts({ child: { ...child(), status: undefined } });
    expect(openStatus(empty, wait).shards).toEqual({ total: 3, active: 0, succeeded: 0, failed: 0 });
  });

  it("has the attempt of its Job, even after a crash before the status was written", () => {
    const third = { ...child(), metadata: { ...child().metadata, name: `${name}-3` } };
    const runId = `${name}-3`;
    for (const old of [{}, { attempt: 2, runId: `${name}-2` }])
      expect(openStatus(facts({ cr: resource({}, old), child: third }), wait)).toMatchObject({
        attempt: 3,
        runId,
      });
    const gone = resource({}, { attempt: 2, runId: `${name}-2` });
    expect(openStatus(facts({ cr: gone }), wait).attempt).toBe(2);
  });

  it("has no run and no attempt before there is a Job", () => {
    const status = openStatus(facts({}), wait);
    expect(Object.keys(status)).not.toContain("runId");
    expect(Object.keys(status)).not.toContain("attempt");
    expect(status.phase).toBe("Pending");
    expect(rowChange(facts({}), status).platformJobName).toBeNull();
  });

  it("shows metrics with six digits, and usage in whole seconds once there is any", () => {
    const used = row({ pod_seconds: 10.4, cpu_seconds: 8.6, gpu_seconds: 0, audio_seconds: 10.4 });
    const status = openStatus(facts({ row: used, metrics: [{ name: "loss", value: 0.123456789 }] }), wait);
    expect(status.metrics).toEqual([{ name: "loss", value: "0.123457" }]);
    expect(status.usage).toEqual({ podSeconds: 10, cpuSeconds: 9, gpuSeconds: 0, audioSeconds: 10 });
    const unused = openStatus(facts({}), wait);
    expect(Object.keys(unused)).not.toContain("metrics");
    expect(Object.keys(unused)).not.toContain("usage");
  });

  it("has its admission time from the first Job on, and keeps it", () => {
    expect(openStatus(facts({}), wait).admittedTime).toBeUndefined();
    expect(openStatus(facts({}), { kind: "create", attempt: 1 }).admittedTime).toBe(at);
    expect(openStatus(facts({ child: child() }), wait)).toMatchObject({ admittedTime: at });
    const kept = facts({ cr: resource({}, { admittedTime: ago(50) }), child: child() });
    expect(openStatus(kept, wait).admittedTime).toBe(ago(50));
    const held = { admitted: false, reason: "QuotaExceeded", message: "" } as never;
    expect(openStatus(facts({ child: child(), admission: held }), wait).admittedTime).toBeUndefined();
    const ran = resource({}, { conditions: [said("Started", "True", 9)] });
    expect(openStatus(facts({ cr: ran, admission: held }), wait).admittedTime).toBe(at);
    expect(openStatus(facts({ child: child() }), wait).startTime).toBeUndefined();
  });

  it("adds up suspended time only when a started job resumes", () => {
    const heldSince = ago(60);
    const of = (status: Partial<JobStatus>, spec: object = {}) =>
      openStatus(facts({ cr: resource(spec, status), child: child() }), wait).suspendedSeconds;
    expect(of({ startTime: ago(100), heldSince })).toBe(60);
    expect(of({ startTime: ago(100), heldSince }, { suspend: true })).toBeUndefined();
    expect(of({ startTime: ago(100) })).toBeUndefined();
    expect(of({ heldSince })).toBeUndefined();
  });

  it("estimates the remaining time only once the job has started", () => {
    const given = { child: child(), progress: [{ ...line, updated_at: now }], pods: [running(0)] };
    const started = facts({ ...given, cr: resource({}, { attempt: 1, startTime: ago(100) }) });
    // A sixth of the work took 100 s.
    expect(openStatus(started, wait).progress?.etaSeconds).toBe(500);
    expect(openStatus(facts(given), wait).progress?.etaSeconds).toBeUndefined();
  });

  it.each([
    ["Cancelling", { cr: resource({ cancel: { reason: "x" }, suspend: true }) }],
    ["Suspended", { cr: resource({ suspend: true }), child: child(), pods: [running(0)] }],
    ["Running", { child: child(), pods: [running(0)] }],
    ["Waiting", { child: child() }],
    ["Waiting", { cr: resource({}, { conditions: [said("Started", "True", 9)] }) }],
    ["Pending", {}],
  ])("has the phase %s", (phase, given) => {
    expect(openStatus(facts(given), wait).phase).toBe(phase);
  });
});

describe("the end of a job", () => {
  const end = { kind: "end", end: "Failed", reason: "SystemError", message: "No.", failedShards: new Map() };
  const checkpointed = (cr = resource()) =>
    find(endStatus(facts({ cr, checkpoints: true }), end as never, {}), "Checkpointed");

  it("reports a missing checkpoint only if the status had a Checkpointed condition before", () => {
    const none = said("Checkpointed", "False", 9);
    expect(checkpointed(resource({}, { conditions: [none] }))).toMatchObject({
      status: "False",
      message: expect.stringContaining("ended"),
    });
    expect(checkpointed()).toBeUndefined();
    const written = resource({}, { checkpoint: { step: 7 } as never });
    expect(checkpointed(written)).toMatchObject({ status: "True" });
  });

  it("has a failure that is cut to fit into the resource, and counts no shard of a deleted Job", () => {
    const failure = { ...bad, message: "x".repeat(2000) };
    const status = endStatus(facts({}), { ...end, failure } as never, {});
    expect(status.failure?.message).toHaveLength(1000);
    expect(status.shards).toMatchObject({ failed: 0 });
    const empty = facts({ child: { ...child(), status: undefined } });
    expect(endStatus(empty, end as never, {}).shards).toMatchObject({ failed: 0 });
    expect(status.completionTime).toBe(at);
  });
});

describe("what tools read that know no other condition", () => {
  const shown = ({ conditions = [] }: JobStatus) =>
    Object.fromEntries(
      conditions.flatMap(({ type, status, reason }) =>
        type === "Ready" || type === "Stalled" ? [[type, `${status} ${reason}`]] : [],
      ),
    );
  const ended = (end: string, reason: string) =>
    endStatus(
      facts({}),
      { kind: "end", end, reason, message: "It ended.", failedShards: new Map() } as never,
      {},
    );

  it("is not ready and not stalled while a job is open, whether it runs or waits", () => {
    const runs = facts({ child: child(), pods: [running(0)] });
    expect(shown(openStatus(runs, wait))).toEqual({ Ready: "False PodsRunning" });
    expect(shown(openStatus(facts({ cr: resource({ suspend: true }) }), wait))).toEqual({
      Ready: "False SuspendRequested",
    });
    const refuse = { kind: "refuse", reason: "PreconditionFailed", message: "No." } as const;
    expect(shown(openStatus(facts({ row: null }), refuse))).toEqual({ Ready: "False PreconditionFailed" });
  });

  it.each([
    ["Succeeded", "Completed", { Ready: "True Completed" }],
    ["Failed", "SystemError", { Ready: "False SystemError", Stalled: "True SystemError" }],
    ["Cancelled", "CancelRequested", { Ready: "False CancelRequested", Stalled: "True CancelRequested" }],
  ])("of a job that is %s is its end", (end, reason, expected) => {
    const status = ended(end, reason);
    expect(shown(status)).toEqual(expected);
    expect(find(status, "Ready")?.message).toBe("It ended.");
  });

  it("is derived for an end that an earlier release wrote", () => {
    const old = ended("Failed", "SystemError");
    const conditions = old.conditions?.filter(({ type }) => type !== "Ready" && type !== "Stalled") ?? [];
    const now_ = setConditions({ cr: resource(), now }, conditions, []);
    expect(shown({ conditions: now_ })).toEqual({ Ready: "False SystemError", Stalled: "True SystemError" });
  });
});

describe("the row of an open job", () => {
  it("is cancelling as soon as the resource has a cancel", () => {
    const given = facts({ cr: resource({ cancel: { reason: "x" } }), child: child(), pods: [running(0)] });
    expect(rowChange(given, openStatus(given, wait)).status).toBe("cancelling");
  });

  it("has the message of the last report while pods run, and none without a report", () => {
    const given = facts({ child: child(), pods: [running(0)], progress: [line] });
    const status = openStatus(given, wait);
    expect(rowChange(given, status)).toMatchObject({ statusMessage: "half", progressPercent: 16 });
    const unsaid = facts({ child: child(), pods: [running(0)] });
    expect(rowChange(unsaid, openStatus(unsaid, wait)).statusMessage).toBeNull();
    expect(rowChange(given, { ...status, conditions: [] }).statusMessage).toBeNull();
    expect(rowChange(given, { conditions: status.conditions })).toMatchObject({
      statusMessage: null,
      progressPercent: 0,
    });
  });
});

describe("a status", () => {
  it("is unchanged in another order of fields, and differs with another value or order of conditions", () => {
    const a = openStatus(facts({ child: child(), pods: [running(0)] }), wait);
    const turned = Object.fromEntries(Object.entries(a).reverse()) as JobStatus;
    expect(statusDiffers(a, turned)).toBe(false);
    const shards = { failed: 0, succeeded: 0, active: 2, total: 3 };
    expect(statusDiffers(a, { ...a, shards })).toBe(false);
    expect(statusDiffers(a, { ...a, shards: { ...shards, failed: 1 } })).toBe(true);
    expect(statusDiffers(a, { ...a, conditions: a.conditions?.toReversed() })).toBe(true);
    expect(statusDiffers(undefined, a)).toBe(true);
    expect(statusDiffers({ ...a, message: null } as never, { ...a, message: "x" } as never)).toBe(true);
    expect(decide(facts({ child: child(), pods: [running(0)] }))).toEqual(wait);
  });
});
