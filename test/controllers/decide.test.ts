// Tests the decisions of the job engine with tables of facts and verdicts. decide() is pure, so no server is needed.
import { describe, expect, it } from "vitest";
import { decide, type Verdict } from "../../controllers/job/decide.ts";
import type { Facts } from "../../controllers/job/facts.ts";
import type { Pod } from "../../src/kube/objects.ts";
import {
  ago,
  bad,
  cancelled,
  child,
  conditions,
  ended,
  facts,
  name,
  pod,
  resource,
  row,
  running,
  said,
  waitingFor,
} from "../support/facts.ts";

const lostOne = {
  class: "Infra",
  code: "temporary",
  message: "Later.",
  exitCode: 75,
  retryable: true,
} as const;

const verdicts: [string, Partial<Facts>, Partial<Verdict> & Record<string, unknown>][] = [
  ["a new job gets its first Job", {}, { kind: "create", attempt: 1 }],
  [
    "a job that has ended is settled, whatever else is true",
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
    "an unknown profile fails the job, and the message names the chart value",
    { profileKnown: false },
    {
      kind: "end",
      end: "Failed",
      reason: "UserError",
      message: "The operator has no worker profile named default. Add it to the chart's value profiles.",
    },
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
    "a deleted Job is replaced by a new attempt",
    { cr: resource({}, { attempt: 1, runId: `${name}-1` }) },
    { kind: "create", attempt: 2 },
  ],
  [
    "a deleted Job is not replaced after 20 attempts",
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
    "a cancelled job ingests existing results first",
    { cr: cancelled, child: child({ completedIndexes: "0" }) },
    { kind: "ingest", shards: [0] },
  ],
  [
    "a complete job succeeds although it was cancelled",
    {
      cr: cancelled,
      child: child({ completedIndexes: "0-2", conditions: conditions("Complete") }),
      ingested: new Set([0, 1, 2]),
    },
    { kind: "end", end: "Succeeded" },
  ],
  [
    "results that are ingested or unusable are not ingested again",
    { child: child({ completedIndexes: "0-1,2" }), ingested: new Set([1]), bad: new Map([[2, bad]]) },
    { kind: "ingest", shards: [0] },
  ],
  [
    "a job with few failed shards succeeds",
    {
      child: child({ completedIndexes: "1", failedIndexes: "0,2", conditions: conditions("Failed") }),
      ingested: new Set([1]),
    },
    { kind: "end", end: "Succeeded", message: "The job is complete. Failed shards: 2." },
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
    "a job that a fatal shard failure ended has that failure, whatever happened to its other shards",
    {
      child: child({ completedIndexes: "1", failedIndexes: "2", conditions: conditions("Failed") }),
      ingested: new Set([1]),
      failedPods: [
        { pod_uid: "a", run_id: `${name}-1`, failure: { ...lostOne, shard: 0 } },
        {
          pod_uid: "b",
          run_id: `${name}-1`,
          failure: { ...lostOne, shard: 2, code: "input_missing", exitCode: 66 },
        },
      ],
      pods: [ended(1, 64), ended(0, 143)],
    },
    {
      kind: "end",
      end: "Failed",
      reason: "UserError",
      failure: expect.objectContaining({ code: "bad_manifest", retryable: false }),
    },
  ],
  [
    "a job fails when all its shards have failed",
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
    "a job fails at its active deadline",
    { cr: resource({}, { startTime: ago(1001) }), child: child(), pods: [running(0)] },
    { kind: "end", end: "Failed", reason: "DeadlineExceeded" },
  ],
  [
    "the active deadline does not apply to a suspended job",
    { cr: resource({ suspend: true }, { startTime: ago(1001) }), child: child({}, { suspend: true }) },
    { kind: "wait" },
  ],
  [
    "a job whose pods do not start fails at its pending deadline",
    {
      cr: resource({}, { pendingSince: ago(101) }),
      child: child(),
      pods: [waitingFor("ImagePullBackOff", "no such image")],
    },
    { kind: "end", end: "Failed", reason: "PendingDeadlineExceeded" },
  ],
  [
    "a job whose node does not answer fails at its pending deadline",
    {
      cr: resource({}, { pendingSince: ago(101) }),
      child: child({ completedIndexes: "0" }),
      ingested: new Set([0]),
      pods: [pod(0, { phase: "Succeeded" })],
      lostPods: [running(1)],
    },
    {
      kind: "end",
      end: "Failed",
      reason: "PendingDeadlineExceeded",
      failure: expect.objectContaining({ class: "Infra", code: "node_unreachable" }),
    },
  ],
  [
    "a resumed job has a new pending deadline",
    {
      cr: resource({}, { heldSince: ago(500), conditions: [said("Progressing", "False", 500)] }),
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
    "an out-of-memory kill",
    ended(0, 137, undefined, "OOMKilled"),
    { class: "Resources", code: "out_of_memory", exitCode: 137 },
  ],
  ["another SIGKILL", ended(0, 137), { class: "Infra", code: "killed" }],
  [
    "an internal error",
    ended(0, 70, "Traceback\nKeyError: 'x'"),
    { class: "System", code: "internal", message: "The worker ended with exit code 70: KeyError: 'x'" },
  ],
  ["a full GPU", ended(0, 71), { class: "Resources", code: "gpu_out_of_memory" }],
  ["missing input", ended(0, 66), { class: "User", code: "input_missing", retryable: false }],
  ["a bad manifest", ended(0, 64), { class: "User", code: "bad_manifest" }],
  ["an unknown exit code", ended(0, 3), { class: "System", code: "exit_3" }],
  [
    "a preemption",
    pod(0, {
      phase: "Failed",
      conditions: [{ type: "DisruptionTarget", status: "True", message: "Preempted by a pod." }],
    }),
    { class: "Infra", code: "disrupted", message: "Preempted by a pod." },
  ],
];

describe("a failed pod", () => {
  it.each(failures)("with %s determines the failure of the job", (_name, failed, expected) => {
    const failing = child({ failedIndexes: "0-2", conditions: conditions("Failed") });
    expect(decide(facts({ child: failing, pods: [failed] }))).toMatchObject({
      end: "Failed",
      failure: expected,
    });
  });
});

describe("a Job that is over before its last pod is known to have ended", () => {
  const overSince = (seconds: number) =>
    child({
      failed: 2,
      failedIndexes: "0",
      conditions: conditions("Failed").map((each) => ({ ...each, lastTransitionTime: ago(seconds) })),
    });
  const first = { pod_uid: "first", run_id: `${name}-1`, failure: { ...lostOne, shard: 0 } };
  const behind = (seconds: number) =>
    facts({ child: overSince(seconds), pods: [running(0)], failedPods: [first] });

  const second = { ...first, pod_uid: "second" };

  it("gets no verdict until the end of that pod is known", () => {
    expect(decide(behind(1))).toEqual({ kind: "wait" });
    const ends = { ...behind(1), pods: [ended(0, 75)], failedPods: [first, second] };
    expect(decide(ends)).toMatchObject({ kind: "end", end: "Failed" });
  });

  it("gets no verdict when that pod is known only from the Job's failure count", () => {
    expect(decide({ ...behind(1), pods: [] })).toEqual({ kind: "wait" });
  });

  it("gets a verdict after 5 s, because the operator may never see that pod", () => {
    expect(decide(behind(6))).toMatchObject({ kind: "end", end: "Failed", message: "Later." });
  });
});
