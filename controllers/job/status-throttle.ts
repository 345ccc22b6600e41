// How often a status is written: a turn in a job's life at once, mere counts now and then. A thousand shards that report
// every second are a few writes. Asked by engine.ts before each write.
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { isTrue } from "../runtime/conditions.ts";

export type StatusThrottle = {
  /** 0 when the status may be written now, else in how many ms it may be tried again. */
  ask(uid: string, before: JobStatus | undefined, next: JobStatus): number;
  /** The status was written. */
  written(uid: string): void;
  /** The job has ended or is gone. */
  forget(uid: string): void;
};

/** Between two writes of one job that tell counts only. */
const perJobMs = 5_000;
/** Such writes of all jobs in a second. */
const perSecond = 12;

export function makeStatusThrottle(now: () => number): StatusThrottle {
  const last = new Map<string, number>();
  let tokens = perSecond;
  let at = now();
  return {
    ask(uid, before, next) {
      if (turnOf(before) !== turnOf(next)) return 0;
      // Nothing runs: the next pod or the end will tell the counts. But why a job waits may change while it does.
      if (next.shards?.active === 0 && wordsOf(before) === wordsOf(next)) return perJobMs;
      const wait = (last.get(uid) ?? Number.NEGATIVE_INFINITY) + perJobMs - now();
      if (wait > 0) return wait;
      tokens = Math.min(perSecond, tokens + ((now() - at) / 1000) * perSecond);
      at = now();
      if (tokens < 1) return perJobMs;
      tokens -= 1;
      return 0;
    },
    written: (uid) => void last.set(uid, now()),
    forget: (uid) => void last.delete(uid),
  };
}

/** While pods of a job come and go, it goes on. */
const goingOn = new Set(["PodsRunning", "Reporting", "WaitingForPods"]);

/** What a status says of a job that does not go on, in the words of its queue or of the scheduler. */
const wordsOf = (status: JobStatus | undefined) =>
  status?.conditions
    ?.filter(({ reason }) => !goingOn.has(reason))
    .map(({ message }) => message)
    .join("\n");

/** What of a status is a turn in the job's life, as text: all but counts and words. */
function turnOf(status: JobStatus | undefined): string {
  if (status === undefined) return "";
  const { observedGeneration, phase, attempt, runId, admittedTime, startTime, conditions = [] } = status;
  const progressing = conditions.find(({ type }) => type === "Progressing");
  const calm = goingOn.has(progressing?.reason ?? "");
  const turns = conditions
    .filter(({ type }) => !(calm && type === "Progressing"))
    .map((condition) => [condition.type, condition.status, condition.reason]);
  const between = calm && phase === "Waiting" && isTrue(conditions, "Started");
  const word = between ? "Running" : phase;
  return JSON.stringify([observedGeneration, word, attempt, runId, admittedTime, startTime, turns]);
}
