// What to do about a job, as a value: a pure function of the objects, the row and the time. The order of the questions
// is the order of the invariants: what has ended stays ended, results come before everything that ends a job, and
// nothing is created before cancel, deadlines and suspension were asked. Called by reconcile.ts.
import type { JobRow, TerminalStatus } from "../../src/db/job.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import type { ConditionReason } from "../../src/schemas/condition.ts";
import { isTrue } from "../runtime/conditions.ts";
import type { JobResource } from "./adapter.ts";
import type { Refusal } from "./adopt.ts";
import { fatalExitCodes } from "./child.ts";
import { deadlinesOf, pendingFailure, silentPods } from "./deadlines.ts";
import type { Facts } from "./facts.ts";
import { parseIndexes } from "./indexes.ts";
import { disrupted, type Failure, failureOfJob, failuresByShard, isEnded, shardOf, stalled } from "./pods.ts";
import { exhaustedShards } from "./retry-budget.ts";

export type End = {
  kind: "end";
  end: "Succeeded" | "Failed" | "Cancelled";
  reason: ConditionReason;
  message: string;
  failure?: Failure;
  /** Shards that the job succeeds without. */
  failedShards: ReadonlyMap<number, Failure>;
};

/** A pod that is deleted before its end; with what counts as its failure, unless its shard is given up anyway. */
export type Stop = { pod: Pod; failure?: Failure };

export type Verdict =
  | { kind: "settled" }
  | ({ kind: "refuse" } & Refusal)
  | { kind: "ingest"; shards: number[] }
  | End
  | { kind: "create"; attempt: number }
  | { kind: "patch"; suspend?: boolean; parallelism: number }
  | { kind: "activate"; active: boolean }
  | { kind: "move"; queue: string }
  | { kind: "stop"; pods: Stop[] }
  | { kind: "wait" };

/** A run that is deleted by hand again and again is not worth a new attempt for ever. */
const maxAttempts = 20;
const none: ReadonlyMap<number, Failure> = new Map();
const fatalExits: ReadonlySet<number> = new Set(fatalExitCodes);

export function hasEnded(cr: JobResource): boolean {
  const conditions = cr.status?.conditions;
  return isTrue(conditions, "Succeeded") || isTrue(conditions, "Failed") || isTrue(conditions, "Cancelled");
}

/** When the resource of an ended job is to be deleted, in ms since 1970; undefined: never. */
export function expiresAt({ spec, status }: JobResource): number | undefined {
  const { ttlSecondsAfterFinished } = spec;
  if (ttlSecondsAfterFinished === undefined || status?.completionTime === undefined) return undefined;
  return Date.parse(status.completionTime) + ttlSecondsAfterFinished * 1000;
}

export function decide(facts: Facts): Verdict {
  const { cr, row, child } = facts;
  if (hasEnded(cr)) return { kind: "settled" };
  if (row === null) {
    if (cr.spec.cancel !== undefined) return cancelled(cr.spec.cancel.reason);
    const message = "The job is not in the service's records.";
    return { kind: "refuse", ...(facts.refusal ?? { reason: "RowMissing", message }) };
  }
  if (row.tenant_id !== cr.spec.tenantId) {
    const message = "spec.tenantId is not the tenant that owns the job.";
    return { kind: "refuse", reason: "PreconditionFailed", message };
  }
  if (row.resource_name !== null && row.resource_name !== cr.metadata.name) {
    const message = `The job with the id in this name belongs to the resource ${row.resource_name}.`;
    return { kind: "refuse", reason: "PreconditionFailed", message };
  }

  const judged = judgeChild(facts);
  const recorded = recordedEnd(facts, row);
  if (recorded !== undefined) return recorded;
  if (judged !== undefined) return judged;

  if (cr.spec.cancel !== undefined) return cancelled(cr.spec.cancel.reason);
  const late = missedDeadline(facts);
  if (late !== undefined) return late;

  if (child === undefined) {
    // Kueue lets nothing through but a Job that is there.
    if (cr.spec.suspend || !(facts.admission.admitted || facts.kueue)) return { kind: "wait" };
    const attempt = (cr.status?.attempt ?? 0) + 1;
    if (attempt > maxAttempts) {
      const message = `The job's Kubernetes Job was deleted ${maxAttempts} times.`;
      return failed({ class: "Infra", code: "child_deleted", message, retryable: true });
    }
    if (!facts.profileKnown) {
      const message = `The operator has no worker profile named ${cr.spec.profile}: the chart sets them (profiles).`;
      return failed({ class: "User", code: "profile_unknown", message, retryable: false });
    }
    return { kind: "create", attempt };
  }
  const adjusted = adjustJob(facts, child);
  if (adjusted !== undefined) return adjusted;
  const pods = podsToStop(facts);
  return pods.length > 0 ? { kind: "stop", pods } : { kind: "wait" };
}

/** Lets the Job's pods run or not, and how many. The suspension of a Job of Kueue's is Kueue's alone. */
function adjustJob({ cr, admission, kueue }: Facts, child: Job): Verdict | undefined {
  const { suspend } = cr.spec;
  const { parallelism } = cr.spec.shards;
  const stops = suspend || !admission.admitted;
  const isOther = kueue === undefined && (child.spec.suspend ?? false) !== stops;
  if (isOther || child.spec.parallelism !== parallelism)
    return { kind: "patch", parallelism, ...(kueue === undefined ? { suspend: stops } : {}) };
  if (kueue?.queue !== undefined) return { kind: "move", queue: kueue.queue };
  if (suspend && kueue?.active === true) return { kind: "activate", active: false };
  // Whoever else made the Workload inactive has a reason: only what we suspended do we resume.
  const resumes = !suspend && (kueue?.suspended === true || isTrue(cr.status?.conditions, "Suspended"));
  if (resumes && kueue?.active === false) return { kind: "activate", active: true };
  return undefined;
}

/** Pods that say nothing any more, and those that the Job still makes for shards that are given up. */
function podsToStop(facts: Facts): Stop[] {
  const { progressDeadlineSeconds } = facts.cr.spec;
  const silent = silentPods(facts).map(({ pod, shard }): Stop => {
    const message = `Nothing was heard of the worker for ${progressDeadlineSeconds} s.`;
    return { pod, failure: { class: "Infra", code: stalled, message, shard, retryable: true } };
  });
  const lost = exhaustedShards(facts);
  const idle = facts.pods.filter(
    (pod) => lost.has(shardOf(pod) ?? -1) && !isEnded(pod) && pod.metadata.deletionTimestamp === undefined,
  );
  return [
    ...silent,
    ...idle.filter((pod) => !silent.some((stop) => stop.pod === pod)).map((pod) => ({ pod })),
  ];
}

/** A Job is told of apart from its pods, and may be over before the news of its last pod's end is here. */
const podLagMs = 5_000;

/** Until when the end of an ended Job's last pods is waited for, in ms since 1970; undefined: all are known. */
export function awaitPodsUntil({ child, pods, failedPods }: Facts): number | undefined {
  const over = child?.status?.conditions?.find(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
  if (child === undefined || over?.lastTransitionTime === undefined) return undefined;
  const known = failedPods.filter(
    ({ run_id, failure: { code } }) =>
      run_id === child.metadata.name && code !== disrupted && code !== stalled,
  );
  if (pods.every(isEnded) && known.length >= (child.status?.failed ?? 0)) return undefined;
  return Date.parse(over.lastTransitionTime) + podLagMs;
}

/** What the child Job has come to; undefined while it goes on. */
function judgeChild(facts: Facts): End | { kind: "ingest"; shards: number[] } | { kind: "wait" } | undefined {
  const { cr, child, pods, ingested, bad } = facts;
  const { count } = cr.spec.shards;
  // The Job may be gone, but not what it has done.
  if (child === undefined) return ingested.size === count ? succeeded(none) : undefined;
  const completed = parseIndexes(child.status?.completedIndexes);
  const shards = completed.filter((shard) => !ingested.has(shard) && !bad.has(shard));
  if (shards.length > 0) return { kind: "ingest", shards };
  const is = (type: string) =>
    child.status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ??
    false;
  const over = is("Complete") || is("Failed");
  // How that pod failed is how the job failed, and what it used is counted as long as the job is open.
  if (facts.now < (awaitPodsUntil(facts) ?? facts.now)) return { kind: "wait" };
  const hopeless = exhaustedShards(facts);
  const failedIndexes = new Set(parseIndexes(child.status?.failedIndexes));

  const failures = failuresByShard(pods);
  // What is recorded knows of pods that are gone, and why those were ended that did not end by themselves.
  for (const { failure } of facts.failedPods)
    if (failure.shard !== undefined) failures.set(failure.shard, failure);
  const lost = new Map<number, Failure>();
  for (let shard = 0; shard < count; shard++) {
    if (ingested.has(shard)) continue;
    const known = bad.get(shard) ?? hopeless.get(shard);
    if (known !== undefined) lost.set(shard, known);
    else if (over || failedIndexes.has(shard))
      lost.set(shard, failures.get(shard) ?? { ...failureOfJob(child), shard });
  }
  // The Job gave up at once, for what no other shard can do without: that and nothing that came of it is the reason.
  const fatal =
    over && [...failures.values()].find(({ exitCode }) => exitCode !== undefined && fatalExits.has(exitCode));
  if (fatal && !is("Complete")) return failed(fatal);
  const enough = lost.size < count && lost.size <= cr.spec.retries.maxFailedShards;
  const decided = hopeless.size > 0 && (!enough || ingested.size + lost.size === count);
  if (!over && !decided) return undefined;
  if (enough) return succeeded(lost);
  // The shard that really failed says more than one that was stopped because of it.
  const first = [...hopeless.keys(), ...failedIndexes, ...failures.keys(), ...lost.keys()].find((shard) =>
    lost.has(shard),
  );
  return failed(lost.get(first ?? 0) ?? failureOfJob(child));
}

function succeeded(failedShards: ReadonlyMap<number, Failure>): End {
  const without = failedShards.size === 0 ? "" : ` without ${failedShards.size} failed shards`;
  const message = `The job is complete${without}.`;
  return { kind: "end", end: "Succeeded", reason: "Completed", message, failedShards };
}

function cancelled(reason: string): End {
  const message = reason || "Cancelled.";
  return { kind: "end", end: "Cancelled", reason: "CancelRequested", message, failedShards: none };
}

/** The reason of a condition or an event about a failure. */
export const reasonOf = {
  User: "UserError",
  Resources: "ResourceLimit",
  Infra: "InfrastructureError",
  System: "SystemError",
  Quota: "PendingDeadlineExceeded",
} as const;

export function failed(failure: Failure, reason: ConditionReason = reasonOf[failure.class]): End {
  return { kind: "end", end: "Failed", reason, message: failure.message, failure, failedShards: none };
}

/** Whether a job that ends so has such a row. An inference job that is complete has failed all the same when every file has. */
export function saysSame({ end }: End, { status }: JobRow): boolean {
  if (end === "Succeeded") return status === "completed" || status === "failed";
  return status === (end === "Failed" ? "failed" : "cancelled");
}

/**
 * The row has ended and the custom resource has not: a crash lay between the two. The row is right; what led to it is
 * asked once more, because the row has only its message.
 */
function recordedEnd(facts: Facts, row: JobRow): End | undefined {
  const end = ({ completed: "Succeeded", cancelled: "Cancelled", failed: "Failed" } as const)[
    row.status as TerminalStatus
  ];
  if (end === undefined) return undefined;
  const again = decide({ ...facts, row: { ...row, status: "running" } });
  if (again.kind === "end" && saysSame(again, row)) return again;
  const message = row.error_message ?? row.status_message;
  if (end === "Succeeded") return succeeded(none);
  if (end === "Cancelled") return cancelled(message ?? "");
  return failed({ class: "System", code: "failed", message: message ?? "The job failed.", retryable: true });
}

function missedDeadline(facts: Facts): End | undefined {
  const deadline = deadlinesOf(facts).find(({ which }) => which !== "progress");
  if (deadline === undefined || facts.now < deadline.at) return undefined;
  if (deadline.which === "pending") return failed(pendingFailure(facts), "PendingDeadlineExceeded");
  const message = `The job ran longer than its limit of ${facts.cr.spec.activeDeadlineSeconds} s.`;
  return failed({ class: "User", code: "deadline_exceeded", message, retryable: true }, "DeadlineExceeded");
}
