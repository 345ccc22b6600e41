// Throttles status writes. A change of phase, attempt or condition is written at once; changes of counters and messages
// are merged into few writes, so that a thousand shards that report every second cost a few writes. Called by engine.ts
// before each write.
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { isTrue } from "../runtime/conditions.ts";
import { maxOpenPercent } from "./progress.ts";

export type StatusThrottle = {
  /** Returns how many milliseconds the caller must wait before it writes this status; 0 means now. */
  waitMs(uid: string, before: JobStatus | undefined, next: JobStatus): number;
  /** Notes that the status was written now. */
  written(uid: string): void;
  /** Drops what is remembered of a deleted resource. */
  forget(uid: string): void;
};

/** Shortest time between two writes of one job that change only counters. */
const perJobMs = 5_000;
/** How long a status waits for Kubernetes to complete a Job whose pods have all succeeded. That takes seconds as a rule. */
const completionMs = 30_000;
/** Token bucket for such writes: this many per second over all jobs, with a burst of the same size. */
export const statusesPerSecond = 12;

export function makeStatusThrottle(now: () => number): StatusThrottle {
  const last = new Map<string, number>();
  /** Since when each job without running pods has a status to write. */
  const restingSince = new Map<string, number>();
  let tokens = statusesPerSecond;
  let at = now();
  return {
    waitMs(uid, before, next) {
      if (milestoneOf(before) !== milestoneOf(next)) return 0;
      // No pod runs: the next one starts in a moment, as a rule. If it does not, the status has to say since when.
      if (next.shards?.active === 0 && waitingMessages(before) === waitingMessages(next)) {
        const since = restingSince.get(uid) ?? now();
        restingSince.set(uid, since);
        // Without a running pod, the phase is Running only when all pods have succeeded.
        const isComplete = next.phase === "Running" && next.progress?.percent === maxOpenPercent;
        const untilMs = since + (isComplete ? completionMs : perJobMs);
        if (now() < untilMs) return untilMs - now();
      } else restingSince.delete(uid);
      const wait = (last.get(uid) ?? Number.NEGATIVE_INFINITY) + perJobMs - now();
      if (wait > 0) return wait;
      tokens = Math.min(statusesPerSecond, tokens + ((now() - at) / 1000) * statusesPerSecond);
      at = now();
      if (tokens < 1) return perJobMs;
      tokens -= 1;
      return 0;
    },
    written(uid) {
      last.set(uid, now());
      restingSince.delete(uid);
    },
    forget(uid) {
      last.delete(uid);
      restingSince.delete(uid);
    },
  };
}

/** Reasons of a job that makes progress, also between two of its pods. */
const progressReasons = new Set(["PodsRunning", "Reporting", "WaitingForPods"]);

/** The messages of all conditions that do not report progress, such as those of the queue or the scheduler. */
const waitingMessages = (status: JobStatus | undefined) =>
  status?.conditions
    ?.filter(({ reason }) => !progressReasons.has(reason))
    .map(({ message }) => message)
    .join("\n");

/** The part of a status whose changes are written at once, as text: everything but counters and messages. */
function milestoneOf(status: JobStatus | undefined): string {
  if (status === undefined) return "";
  const { observedGeneration, phase, attempt, runId, admittedTime, startTime, conditions = [] } = status;
  const { lastHandledRetryAt } = status;
  const progressing = conditions.find(({ type }) => type === "Progressing");
  const progresses = progressReasons.has(progressing?.reason ?? "");
  const transitions = conditions
    .filter(({ type }) => !(progresses && (type === "Progressing" || type === "Ready")))
    .map((condition) => [condition.type, condition.status, condition.reason]);
  // Between two pods of a started job the phase is Waiting for a moment. That is no milestone.
  const betweenPods = progresses && phase === "Waiting" && isTrue(conditions, "Started");
  const stablePhase = betweenPods ? "Running" : phase;
  return JSON.stringify([
    observedGeneration,
    stablePhase,
    attempt,
    runId,
    admittedTime,
    startTime,
    lastHandledRetryAt,
    transitions,
  ]);
}
