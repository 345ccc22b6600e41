// Decides what to do about a job: a pure function from its facts to a verdict. The order of the checks enforces the
// invariants: an ended job stays ended, results are ingested before anything else ends the job, and nothing is created
// before cancel, deadlines and suspension are checked. Called by reconcile.ts.
import type { JobRow, TerminalStatus } from "../../src/db/job.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { ConditionReason } from "../../src/schemas/condition.ts";
import { parseResourceName } from "../../src/schemas/job-kind.ts";
import { isTrue } from "../runtime/conditions.ts";
import type { JobResource } from "./adapter.ts";
import type { Refusal } from "./adopt.ts";
import type { CachedJob } from "./cached-job.ts";
import { fatalExitCodes } from "./child.ts";
import { deadlinesOf, pendingFailure, stalledPods } from "./deadlines.ts";
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
  /** Failed shards of a job that succeeds without them. */
  failedShards: ReadonlyMap<number, Failure>;
};

/**
 * A pod to delete before its end. `failure` is what counts as its failure; undefined when its shard is given up anyway.
 */
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

/** Upper bound of attempts, so that a Job which somebody keeps deleting is not created again for ever. */
export const maxAttempts = 20;
const none: ReadonlyMap<number, Failure> = new Map();
const fatalExits: ReadonlySet<number> = new Set(fatalExitCodes);

export function hasEnded({ status }: Pick<JobResource, "status">): boolean {
  const conditions = status?.conditions;
  return isTrue(conditions, "Succeeded") || isTrue(conditions, "Failed") || isTrue(conditions, "Cancelled");
}

/**
 * When to delete the resource of an ended job, in ms since 1970; undefined: never. Without a limit of its own, one that the
 * service created stays for `retentionSeconds`, and one that a person applied for ever.
 */
export function expiresAt(
  { metadata, spec, status }: JobResource,
  retentionSeconds: number,
): number | undefined {
  const isByService = parseResourceName(metadata.name) !== undefined;
  const seconds = spec.ttlSecondsAfterFinished ?? (isByService ? retentionSeconds : undefined);
  if (seconds === undefined || status?.completionTime === undefined) return undefined;
  return Date.parse(status.completionTime) + seconds * 1000;
}

/**
 * When to delete the Jobs and pods of a succeeded job, in ms since 1970. Those of other ended jobs stay as long as the
 * resource, because they show why.
 */
export function jobsExpireAt({ status }: JobResource, jobRetentionSeconds: number): number {
  if (status?.completionTime === undefined || !isTrue(status.conditions, "Succeeded"))
    return Number.POSITIVE_INFINITY;
  return Date.parse(status.completionTime) + jobRetentionSeconds * 1000;
}

export function decide(facts: Facts): Verdict {
  const { cr, row, child } = facts;
  if (hasEnded(cr)) return { kind: "settled" };
  if (row === null) {
    if (cr.spec.cancel !== undefined) return cancelled(cr.spec.cancel.reason);
    const message = "The database has no row for this job.";
    return { kind: "refuse", ...(facts.refusal ?? { reason: "RowMissing", message }) };
  }
  if (row.tenant_id !== cr.spec.tenantId) {
    const message = "spec.tenantId is not the tenant that owns the job.";
    return { kind: "refuse", reason: "PreconditionFailed", message };
  }
  if (row.resource_name !== null && row.resource_name !== cr.metadata.name) {
    const message = `The job whose id is in this name belongs to the resource ${row.resource_name}.`;
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
    // Kueue admits only a Job that exists, so such a Job is created before its admission.
    if (cr.spec.suspend || !(facts.admission.admitted || facts.kueue)) return { kind: "wait" };
    const attempt = facts.lastAttempt + 1;
    if (attempt > maxAttempts) {
      const message = `The job's Kubernetes Job was deleted ${maxAttempts} times.`;
      return failed({ class: "Infra", code: "child_deleted", message, retryable: true });
    }
    if (!facts.profileKnown) {
      const message = `The operator has no worker profile named ${cr.spec.profile}. Add it to the chart's value profiles.`;
      return failed({ class: "User", code: "profile_unknown", message, retryable: false });
    }
    return { kind: "create", attempt };
  }
  const adjusted = adjustJob(facts, child);
  if (adjusted !== undefined) return adjusted;
  const pods = podsToStop(facts);
  return pods.length > 0 ? { kind: "stop", pods } : { kind: "wait" };
}

/** Adjusts suspension and parallelism of the Job. Where Kueue decides, only Kueue may change the Job's suspension. */
function adjustJob({ cr, admission, kueue }: Facts, child: CachedJob): Verdict | undefined {
  const { suspend } = cr.spec;
  const { parallelism } = cr.spec.shards;
  const stops = suspend || !admission.admitted;
  const suspensionDiffers = kueue === undefined && (child.spec.suspend ?? false) !== stops;
  if (suspensionDiffers || child.spec.parallelism !== parallelism)
    return { kind: "patch", parallelism, ...(kueue === undefined ? { suspend: stops } : {}) };
  if (kueue?.queue !== undefined) return { kind: "move", queue: kueue.queue };
  if (suspend && kueue?.active === true) return { kind: "activate", active: false };
  // The operator reactivates only Workloads that it made inactive itself; anybody else who did so had a reason.
  const resumes = !suspend && (kueue?.suspended === true || isTrue(cr.status?.conditions, "Suspended"));
  if (resumes && kueue?.active === false) return { kind: "activate", active: true };
  return undefined;
}

/** Returns stalled pods, and pods that the Job still creates for shards that are given up. */
function podsToStop(facts: Facts): Stop[] {
  const { progressDeadlineSeconds } = facts.cr.spec;
  const stalledStops = stalledPods(facts).map(({ pod, shard }): Stop => {
    const message = `The worker sent no report for ${progressDeadlineSeconds} s.`;
    return { pod, failure: { class: "Infra", code: stalled, message, shard, retryable: true } };
  });
  const lost = exhaustedShards(facts);
  const idle = facts.pods.filter(
    (pod) => lost.has(shardOf(pod) ?? -1) && !isEnded(pod) && pod.metadata.deletionTimestamp === undefined,
  );
  return [
    ...stalledStops,
    ...idle.filter((pod) => !stalledStops.some((stop) => stop.pod === pod)).map((pod) => ({ pod })),
  ];
}

/** The watches of Jobs and pods are separate: a Job may show as ended this long before its last pod does. */
const podLagMs = 5_000;

/**
 * Until when the operator waits for the last pods of an ended Job to show their end, in ms since 1970. Undefined when
 * all their ends are known.
 */
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

/** Judges the child Job: its end, shards to ingest, or a short wait. Undefined while it is open. */
function judgeChild(facts: Facts): End | { kind: "ingest"; shards: number[] } | { kind: "wait" } | undefined {
  const { cr, child, pods, ingested, bad } = facts;
  const { count } = cr.spec.shards;
  // The Job may be deleted, but its ingested results remain.
  if (child === undefined) return ingested.size === count ? succeeded(none) : undefined;
  const completed = parseIndexes(child.status?.completedIndexes);
  const shards = completed.filter((shard) => !ingested.has(shard) && !bad.has(shard));
  if (shards.length > 0) return { kind: "ingest", shards };
  const is = (type: string) =>
    child.status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ??
    false;
  const over = is("Complete") || is("Failed");
  // Wait for the last pod: its failure is the failure of the job, and its usage is recorded only while the job is open.
  if (facts.now < (awaitPodsUntil(facts) ?? facts.now)) return { kind: "wait" };
  const exhausted = exhaustedShards(facts);
  const failedIndexes = new Set(parseIndexes(child.status?.failedIndexes));

  const failures = failuresByShard(pods);
  // Recorded failures win: they include deleted pods, and the reason why the operator ended a pod.
  for (const { failure } of facts.failedPods)
    if (failure.shard !== undefined) failures.set(failure.shard, failure);
  const lost = new Map<number, Failure>();
  for (let shard = 0; shard < count; shard++) {
    if (ingested.has(shard)) continue;
    const known = bad.get(shard) ?? exhausted.get(shard);
    if (known !== undefined) lost.set(shard, known);
    else if (over || failedIndexes.has(shard))
      lost.set(shard, failures.get(shard) ?? { ...failureOfJob(child), shard });
  }
  // A fatal exit code fails the whole Job at once. It is the cause; failures of other pods are only its consequences.
  const fatal =
    over && [...failures.values()].find(({ exitCode }) => exitCode !== undefined && fatalExits.has(exitCode));
  if (fatal && !is("Complete")) return failed(fatal);
  const enough = lost.size < count && lost.size <= cr.spec.retries.maxFailedShards;
  const decided = exhausted.size > 0 && (!enough || ingested.size + lost.size === count);
  if (!over && !decided) return undefined;
  if (enough) return succeeded(lost);
  // Prefer a shard that failed by itself over one that was stopped because of it.
  const first = [...exhausted.keys(), ...failedIndexes, ...failures.keys(), ...lost.keys()].find((shard) =>
    lost.has(shard),
  );
  return failed(lost.get(first ?? 0) ?? failureOfJob(child));
}

function succeeded(failedShards: ReadonlyMap<number, Failure>): End {
  const failures = failedShards.size === 0 ? "" : ` Failed shards: ${failedShards.size}.`;
  const message = `The job is complete.${failures}`;
  return { kind: "end", end: "Succeeded", reason: "Completed", message, failedShards };
}

function cancelled(reason: string): End {
  const message = reason || "Cancelled.";
  return { kind: "end", end: "Cancelled", reason: "CancelRequested", message, failedShards: none };
}

/** Maps a failure class to the reason of conditions and events. */
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

/**
 * Whether the end agrees with the row. A complete inference job whose files have all failed has a row with status
 * failed.
 */
export function agreesWithRow({ end }: End, { status }: JobRow): boolean {
  if (end === "Succeeded") return status === "completed" || status === "failed";
  return status === (end === "Failed" ? "failed" : "cancelled");
}

/**
 * The end of a job whose row has ended and whose custom resource has not, as after a crash between the two writes. The
 * row is the source of truth. The decision runs once more for the details, because the row holds only a message.
 */
function recordedEnd(facts: Facts, row: JobRow): End | undefined {
  const end = ({ completed: "Succeeded", cancelled: "Cancelled", failed: "Failed" } as const)[
    row.status as TerminalStatus
  ];
  if (end === undefined) return undefined;
  const derived = decide({ ...facts, row: { ...row, status: "running" } });
  if (derived.kind === "end" && agreesWithRow(derived, row)) return derived;
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
