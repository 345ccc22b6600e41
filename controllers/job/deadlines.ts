// The three deadlines of a job, and whether pods work on it. Active limits its running time, pending its wait for a node or an
// image, progress the time between two reports of a running pod. Each counts from a time in the status, which status.ts keeps.
// Pure; called by decide.ts, status.ts, conditions.ts and reconcile.ts.
import type { Pod } from "../../src/kube/objects.ts";
import { outageMsSince } from "../runtime/outages.ts";
import type { Facts } from "./facts.ts";
import { parseIndexes } from "./indexes.ts";
import { endTimeOf, isRunning, isSucceeded, shardOf, startOf, waitingOf } from "./pods.ts";

/** How long a started job has been held until now, in seconds. This time does not count as running time. */
export function suspendedSeconds({ cr, now }: Pick<Facts, "cr" | "now">): number {
  const { startTime, heldSince, suspendedSeconds: before = 0 } = cr.status ?? {};
  if (startTime === undefined || heldSince === undefined) return before;
  const since = Math.max(Date.parse(heldSince), Date.parse(startTime));
  return before + Math.max(0, Math.round((now - since) / 1000));
}

/** Whether pods of the job may run. Deadlines apply only then. */
const mayRun = ({ cr, child, admission }: Facts) =>
  !cr.spec.suspend && admission.admitted && child !== undefined;

/** Kubernetes starts the next pods of a Job within moments of the end of others. */
const betweenPodsMs = 60_000;

/**
 * Until when the job counts as worked on, in ms since 1970: without end while a pod runs, and when all shards have succeeded, because
 * the Job is about to complete. Between two pods of a job with more shards than pods for a moment only, because the next pod may
 * be refused. 0 if no pod works on it. The moment is by the clock of the pod's node.
 */
export function workedOnUntil(facts: Facts): number {
  const { cr, child, pods, lostPods } = facts;
  if (pods.some(isRunning)) return Number.POSITIVE_INFINITY;
  if (!mayRun(facts) || lostPods.length > 0 || pods.length === 0 || !pods.every(isSucceeded)) return 0;
  const done = new Set([...parseIndexes(child?.status?.completedIndexes), ...pods.map(shardOf)]);
  if (done.size >= cr.spec.shards.count) return Number.POSITIVE_INFINITY;
  return pods.map((pod) => endTimeOf(pod) ?? 0).reduce((a, b) => Math.max(a, b)) + betweenPodsMs;
}

export const isWorkedOn = (facts: Facts): boolean => workedOnUntil(facts) > facts.now;

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
  if (status?.pendingSince !== undefined && !isWorkedOn(facts)) {
    const at = Date.parse(status.pendingSince) + spec.pendingDeadlineSeconds * 1000;
    deadlines.push({ at, which: "pending" });
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
 * Returns since when each running pod is silent: its last report, later by the outages of the database and of the run endpoint since
 * then. Time before `listeningSince` and outages do not count against a pod, because its reports may have been lost.
 */
function lastReports({ pods, progress, listeningSince, outages }: Facts): PodSilence[] {
  const reportedAt = new Map(progress.map((line) => [line.pod_uid, line.updated_at]));
  return pods.flatMap((pod) => {
    const shard = shardOf(pod);
    if (!isRunning(pod) || pod.metadata.deletionTimestamp !== undefined || shard === undefined) return [];
    const last = Math.max(startOf(pod) ?? 0, reportedAt.get(pod.metadata.uid ?? "") ?? 0, listeningSince);
    return [{ pod, shard, since: last + outageMsSince(outages, last) }];
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
