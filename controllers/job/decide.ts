// What to do about a job, as a value: a pure function of the objects, the row and the time. The order of the questions
// is the order of the invariants: what has ended stays ended, results come before everything that ends a job, and
// nothing is created before cancel, deadlines and suspension were asked. Called by reconcile.ts.
import type { JobRow } from "../../src/db/job.ts";
import type { ShardProgress } from "../../src/db/run.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import type { ConditionReason } from "../../src/schemas/condition.ts";
import { conditionOf, isTrue } from "../runtime/conditions.ts";
import type { JobResource } from "./adapter.ts";
import type { Refusal } from "./adopt.ts";
import { parseIndexes } from "./indexes.ts";
import { type Failure, failureOfJob, failuresByShard, isRunning, waitingOf } from "./pods.ts";

export type Admission = { admitted: true } | { admitted: false; reason: ConditionReason; message: string };

export type Facts = {
  /** The job's name by its row: its runs are named after it. */
  job: string;
  /** Milliseconds since 1970. */
  now: number;
  cr: JobResource;
  row: JobRow | null;
  /** Why there is no row. */
  refusal?: Refusal;
  /** The Job of the present run; undefined when there is none, also when it was deleted. */
  child: Job | undefined;
  pods: readonly Pod[];
  progress: readonly ShardProgress[];
  /** Shards of the present run whose results are in Postgres. */
  ingested: ReadonlySet<number>;
  /** Completed shards of the present run whose results could not be used. */
  bad: ReadonlyMap<number, Failure>;
  metrics: readonly { name: string; value: number }[];
  /** What the queue says: before it lets the job through, no pod may run. */
  admission: Admission;
  /** Whether the operator's configuration has the profile that the spec names. */
  profileKnown: boolean;
};

export type End = {
  kind: "end";
  end: "Succeeded" | "Failed" | "Cancelled";
  reason: ConditionReason;
  message: string;
  failure?: Failure;
  /** Shards that the job succeeds without. */
  failedShards: ReadonlyMap<number, Failure>;
};

export type Verdict =
  | { kind: "settled" }
  | ({ kind: "refuse" } & Refusal)
  | { kind: "ingest"; shards: number[] }
  | End
  | { kind: "create"; attempt: number }
  | { kind: "patch"; suspend: boolean; parallelism: number }
  | { kind: "wait" };

/** A run that is deleted by hand again and again is not worth a new attempt for ever. */
const maxAttempts = 20;
const none: ReadonlyMap<number, Failure> = new Map();

export function hasEnded(cr: JobResource): boolean {
  const conditions = cr.status?.conditions;
  return isTrue(conditions, "Succeeded") || isTrue(conditions, "Failed") || isTrue(conditions, "Cancelled");
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

  const judged = judgeChild(facts);
  const recorded = recordedEnd(row, judged);
  if (recorded !== undefined) return recorded;
  if (judged !== undefined) return judged;

  if (cr.spec.cancel !== undefined) return cancelled(cr.spec.cancel.reason);
  const late = missedDeadline(facts);
  if (late !== undefined) return late;

  if (child === undefined) {
    if (cr.spec.suspend) return { kind: "wait" };
    const attempt = (cr.status?.attempt ?? 0) + 1;
    if (attempt > maxAttempts) {
      const message = `The job's Kubernetes Job was deleted ${maxAttempts} times.`;
      return failed({ class: "Infra", code: "child_deleted", message, retryable: true });
    }
    if (!facts.profileKnown) {
      const message = `The operator has no worker profile named ${cr.spec.profile}.`;
      return failed({ class: "User", code: "profile_unknown", message, retryable: false });
    }
    return { kind: "create", attempt };
  }
  const { suspend, shards } = cr.spec;
  if ((child.spec.suspend ?? false) !== suspend || child.spec.parallelism !== shards.parallelism) {
    return { kind: "patch", suspend, parallelism: shards.parallelism };
  }
  return { kind: "wait" };
}

function cancelled(reason: string): End {
  const message = reason || "Cancelled.";
  return { kind: "end", end: "Cancelled", reason: "CancelRequested", message, failedShards: none };
}

/** What the child Job has come to; undefined while it goes on. */
function judgeChild(facts: Facts): End | { kind: "ingest"; shards: number[] } | undefined {
  const { cr, child, pods, ingested, bad } = facts;
  if (child === undefined) return undefined;
  const shards = parseIndexes(child.status?.completedIndexes).filter((s) => !ingested.has(s) && !bad.has(s));
  if (shards.length > 0) return { kind: "ingest", shards };
  const is = (type: string) =>
    child.status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ??
    false;
  if (!is("Complete") && !is("Failed")) return undefined;

  const failures = failuresByShard(pods);
  const lost = new Map<number, Failure>();
  for (let shard = 0; shard < cr.spec.shards.count; shard++) {
    if (ingested.has(shard)) continue;
    lost.set(shard, bad.get(shard) ?? failures.get(shard) ?? { ...failureOfJob(child), shard });
  }
  if (lost.size < cr.spec.shards.count && lost.size <= cr.spec.retries.maxFailedShards) {
    const message =
      lost.size === 0 ? "The job is complete." : `The job is complete without ${lost.size} failed shards.`;
    return { kind: "end", end: "Succeeded", reason: "Completed", message, failedShards: lost };
  }
  // The shard that really failed says more than one that was stopped because of it.
  const failedIndexes = parseIndexes(child.status?.failedIndexes);
  const first = [...failedIndexes, ...failures.keys(), ...lost.keys()].find((shard) => lost.has(shard));
  return failed(lost.get(first ?? 0) ?? failureOfJob(child));
}

const reasonOf = {
  User: "UserError",
  Resources: "ResourceLimit",
  Infra: "InfrastructureError",
  System: "SystemError",
  Quota: "PendingDeadlineExceeded",
} as const;

export function failed(failure: Failure, reason: ConditionReason = reasonOf[failure.class]): End {
  return { kind: "end", end: "Failed", reason, message: failure.message, failure, failedShards: none };
}

/** The row has ended and the custom resource has not: a crash lay between the two. The row is right. */
function recordedEnd(row: JobRow, judged: ReturnType<typeof judgeChild>): End | undefined {
  const message = row.error_message ?? row.status_message;
  const words = (end: End["end"]) => (judged?.kind === "end" && judged.end === end ? judged : undefined);
  if (row.status === "completed") {
    const end = {
      kind: "end",
      end: "Succeeded",
      reason: "Completed",
      message: "The job is complete.",
    } as const;
    return words("Succeeded") ?? { ...end, failedShards: none };
  }
  if (row.status === "cancelled") {
    const end = { kind: "end", end: "Cancelled", reason: "CancelRequested" } as const;
    return { ...end, message: message ?? "Cancelled.", failedShards: none };
  }
  if (row.status !== "failed") return undefined;
  const failure = {
    class: "System",
    code: "failed",
    message: message ?? "The job failed.",
    retryable: true,
  } as const;
  return words("Failed") ?? failed(failure);
}

/** When the next deadline is missed unless something happens, in ms since 1970. */
export function nextDeadline(facts: Facts): { at: number; which: "active" | "pending" } | undefined {
  const { cr, child, now, pods } = facts;
  if (cr.spec.suspend || child === undefined) return undefined;
  const deadlines: { at: number; which: "active" | "pending" }[] = [];
  const { startTime, conditions } = cr.status ?? {};
  if (startTime !== undefined) {
    const seconds = cr.spec.activeDeadlineSeconds + suspendedSeconds(facts);
    deadlines.push({ at: Date.parse(startTime) + seconds * 1000, which: "active" });
  }
  const progressing = conditionOf(conditions, "Progressing");
  if (progressing?.status === "False" && !pods.some(isRunning)) {
    const suspended = conditionOf(conditions, "Suspended");
    // "True" although the spec no longer says so: it is being resumed just now.
    const resumed = suspended?.status === "True" ? now : Date.parse(suspended?.lastTransitionTime ?? "") || 0;
    const since = Math.max(Date.parse(progressing.lastTransitionTime), resumed);
    deadlines.push({ at: since + cr.spec.pendingDeadlineSeconds * 1000, which: "pending" });
  }
  return deadlines.sort((a, b) => a.at - b.at)[0];
}

/** How long a started job was suspended, up to now: that time does not count as running. */
export function suspendedSeconds({ cr, now }: Pick<Facts, "cr" | "now">): number {
  const { startTime, suspendedSeconds: before = 0, conditions } = cr.status ?? {};
  const suspended = conditionOf(conditions, "Suspended");
  if (startTime === undefined || suspended?.status !== "True") return before;
  return before + Math.max(0, Math.round((now - Date.parse(suspended.lastTransitionTime)) / 1000));
}

function missedDeadline(facts: Facts): End | undefined {
  const deadline = nextDeadline(facts);
  if (deadline === undefined || facts.now < deadline.at) return undefined;
  const { activeDeadlineSeconds, pendingDeadlineSeconds } = facts.cr.spec;
  if (deadline.which === "active") {
    const message = `The job ran longer than its limit of ${activeDeadlineSeconds} s.`;
    return failed({ class: "User", code: "deadline_exceeded", message, retryable: true }, "DeadlineExceeded");
  }
  const waiting = waitingOf(facts.pods);
  const message =
    `No pod of the job could start within ${pendingDeadlineSeconds} s: ${waiting.message}`.slice(0, 1000);
  const cause = {
    Unschedulable: { class: "Quota", code: "unschedulable" },
    ImageUnavailable: { class: "System", code: "image_unavailable" },
  } as const;
  const known = cause[waiting.reason as keyof typeof cause] ?? { class: "Infra", code: "pods_not_started" };
  return failed({ ...known, message, retryable: true }, "PendingDeadlineExceeded");
}
