// The three deadlines of a job: of its run, of its wait for a node or an image, of a running shard's silence. Pure; called
// by decide.ts and status.ts.
import type { Pod } from "../../src/kube/objects.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import { conditionOf } from "../runtime/conditions.ts";
import type { Facts } from "./facts.ts";
import { isRunning, isWorkedOn, shardOf, startOf, waitingOf } from "./pods.ts";

type Held = Pick<Facts, "cr" | "now">;

/** When the job came to be suspended or sent back to its queue; undefined while it is neither. */
function heldSince({ cr }: Pick<Facts, "cr">): number | undefined {
  const conditions = cr.status?.conditions;
  const begins: number[] = [];
  const suspended = conditionOf(conditions, "Suspended");
  if (suspended?.status === "True") begins.push(Date.parse(suspended.lastTransitionTime));
  const reserved = conditionOf(conditions, "QuotaReserved");
  if (reserved?.status === "False") begins.push(Date.parse(reserved.lastTransitionTime));
  return begins.length === 0 ? undefined : Math.min(...begins);
}

/** How long a started job was held, up to now: that time does not count as running. */
export function suspendedSeconds(facts: Held): number {
  const { startTime, suspendedSeconds: before = 0 } = facts.cr.status ?? {};
  const since = heldSince(facts);
  if (startTime === undefined || since === undefined) return before;
  return before + Math.max(0, Math.round((facts.now - Math.max(since, Date.parse(startTime))) / 1000));
}

/** When the job was last let go on; 0 when it was never held. "now" while the status still says that it is held. */
function resumedAt({ cr, now }: Held): number {
  if (heldSince({ cr }) !== undefined) return now;
  const turned = (type: Condition["type"]) =>
    Date.parse(conditionOf(cr.status?.conditions, type)?.lastTransitionTime ?? "") || 0;
  return Math.max(turned("Suspended"), turned("QuotaReserved"));
}

/** Whether pods of the job may run at all: only then its time counts. */
const mayRun = ({ cr, child, admission }: Facts) =>
  !cr.spec.suspend && admission.admitted && child !== undefined;

export type Deadline = { at: number; which: "active" | "pending" | "progress" };

/** When each deadline is missed unless something happens, in ms since 1970; the earliest first. */
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

type Silent = { pod: Pod; shard: number; since: number };

/** Since when nothing was heard of each running pod. What was said while nobody could listen is not held against it. */
function lastReports({ pods, progress, listeningSince }: Facts): Silent[] {
  const heard = new Map(progress.map((line) => [line.pod_uid, line.updated_at]));
  return pods.flatMap((pod) => {
    const shard = shardOf(pod);
    if (!isRunning(pod) || pod.metadata.deletionTimestamp !== undefined || shard === undefined) return [];
    const since = Math.max(startOf(pod) ?? 0, heard.get(pod.metadata.uid ?? "") ?? 0, listeningSince);
    return [{ pod, shard, since }];
  });
}

/** The pods that have been silent for too long. */
export function silentPods(facts: Facts): Silent[] {
  if (!mayRun(facts)) return [];
  const earliest = facts.now - facts.cr.spec.progressDeadlineSeconds * 1000;
  return lastReports(facts).filter(({ since }) => since <= earliest);
}

/** What the pods wait for, in whose words, when the job's deadline for it is over. */
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
