// The three deadlines of a job: active limits its running time, pending limits its wait for a node or an image,
// progress limits the time between two reports of a running pod. Pure; called by decide.ts, status.ts and reconcile.ts.
import type { Pod } from "../../src/kube/objects.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import { conditionOf } from "../runtime/conditions.ts";
import type { Facts } from "./facts.ts";
import { isRunning, isWorkedOn, shardOf, startOf, waitingOf } from "./pods.ts";

type Held = Pick<Facts, "cr" | "now">;

/** Since when the job has been suspended or back in its queue, in ms since 1970; undefined while it is neither. */
function heldSince({ cr }: Pick<Facts, "cr">): number | undefined {
  const conditions = cr.status?.conditions;
  const begins: number[] = [];
  const suspended = conditionOf(conditions, "Suspended");
  if (suspended?.status === "True") begins.push(Date.parse(suspended.lastTransitionTime));
  const reserved = conditionOf(conditions, "QuotaReserved");
  if (reserved?.status === "False") begins.push(Date.parse(reserved.lastTransitionTime));
  return begins.length === 0 ? undefined : Math.min(...begins);
}

/** How long a started job has been suspended or queued until now. This time does not count as running time. */
export function suspendedSeconds(facts: Held): number {
  const { startTime, suspendedSeconds: before = 0 } = facts.cr.status ?? {};
  const since = heldSince(facts);
  if (startTime === undefined || since === undefined) return before;
  return before + Math.max(0, Math.round((facts.now - Math.max(since, Date.parse(startTime))) / 1000));
}

/**
 * When the job last resumed, in ms since 1970; 0 when it was never suspended or queued. Returns `now` while the status
 * still says that the job is held.
 */
function resumedAt({ cr, now }: Held): number {
  if (heldSince({ cr }) !== undefined) return now;
  const changedAt = (type: Condition["type"]) =>
    Date.parse(conditionOf(cr.status?.conditions, type)?.lastTransitionTime ?? "") || 0;
  return Math.max(changedAt("Suspended"), changedAt("QuotaReserved"));
}

/** Whether pods of the job may run. Deadlines apply only then. */
const mayRun = ({ cr, child, admission }: Facts) =>
  !cr.spec.suspend && admission.admitted && child !== undefined;

export type Deadline = { at: number; which: "active" | "pending" | "progress" };

/** Returns when each deadline passes, in ms since 1970, the earliest first. */
export function deadlinesOf(facts: Facts): Deadline[] {
  if (!mayRun(facts)) return [];
  const { spec, status } = facts.cr;
  const deadlines: Deadline[] = [];
  if (status?.startTime !== undefined) {
    const seconds = spec.activeDeadlineSeconds + suspendedSeconds(facts);
    deadlines.push({ at: Date.parse(status.startTime) + seconds * 1000, which: "active" });
  }
  const progressing = conditionOf(status?.conditions, "Progressing");
  if (progressing?.status === "False" && !isWorkedOn(facts.pods, facts.lostPods)) {
    const since = Math.max(Date.parse(progressing.lastTransitionTime), resumedAt(facts));
    deadlines.push({ at: since + spec.pendingDeadlineSeconds * 1000, which: "pending" });
  }
  const silences = lastReports(facts).map(({ since }) => since);
  if (silences.length > 0) {
    const at = silences.reduce((a, b) => Math.min(a, b)) + spec.progressDeadlineSeconds * 1000;
    deadlines.push({ at, which: "progress" });
  }
  return deadlines.sort((a, b) => a.at - b.at);
}

type PodSilence = { pod: Pod; shard: number; since: number };

/**
 * Returns when each running pod last reported. Time before `listeningSince` does not count against a pod, because its
 * reports may have been lost.
 */
function lastReports({ pods, progress, listeningSince }: Facts): PodSilence[] {
  const reportedAt = new Map(progress.map((line) => [line.pod_uid, line.updated_at]));
  return pods.flatMap((pod) => {
    const shard = shardOf(pod);
    if (!isRunning(pod) || pod.metadata.deletionTimestamp !== undefined || shard === undefined) return [];
    const since = Math.max(startOf(pod) ?? 0, reportedAt.get(pod.metadata.uid ?? "") ?? 0, listeningSince);
    return [{ pod, shard, since }];
  });
}

/** Stalled pods: running, but without a report for progressDeadlineSeconds. */
export function stalledPods(facts: Facts): PodSilence[] {
  if (!mayRun(facts)) return [];
  const earliest = facts.now - facts.cr.spec.progressDeadlineSeconds * 1000;
  return lastReports(facts).filter(({ since }) => since <= earliest);
}

/** The failure of a job whose pending deadline has passed. Its class and code depend on what the pods wait for. */
export function pendingFailure({ cr, pods, lostPods }: Facts) {
  const waiting = waitingOf(pods, lostPods);
  const message =
    `No pod of the job could start within ${cr.spec.pendingDeadlineSeconds} s: ${waiting.message}`.slice(
      0,
      1000,
    );
  const cause = {
    Unschedulable: { class: "Quota", code: "unschedulable" },
    ImageUnavailable: { class: "System", code: "image_unavailable" },
    NodeUnreachable: { class: "Infra", code: "node_unreachable" },
  } as const;
  const known = cause[waiting.reason as keyof typeof cause] ?? { class: "Infra", code: "pods_not_started" };
  return { ...known, message, retryable: true };
}
