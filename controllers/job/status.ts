// The status of a job's custom resource and the matching change of its row. Pure; called by reconcile.ts, which writes
// each of them once and only if it changed.
import type { JobChange, OpenStatus } from "../../src/db/job.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import { runName } from "../../src/schemas/job-kind.ts";
import type { JobPhase, JobStatus } from "../../src/schemas/job-resource.ts";
import { conditionOf, isTrue, withCondition } from "../runtime/conditions.ts";
import { type End, type Facts, suspendedSeconds, type Verdict } from "./decide.ts";
import { parseIndexes } from "./indexes.ts";
import { isRunning, waitingOf } from "./pods.ts";
import { sumProgress } from "./progress.ts";

type Words = Pick<Condition, "type" | "status" | "reason" | "message">;

/** The status while the job goes on. `verdict` is what is being done about it in the same reconcile. */
export function openStatus(facts: Facts, verdict: Verdict): JobStatus {
  const { cr, now } = facts;
  const at = new Date(now).toISOString();
  const old = cr.status ?? {};
  const generation = cr.metadata.generation ?? 0;
  let conditions = old.conditions ?? [];
  const set = (words: Words) => {
    conditions = withCondition(conditions, { ...words, observedGeneration: generation }, at);
  };
  if (verdict.kind === "refuse") {
    set({ type: "Accepted", status: "False", reason: verdict.reason, message: verdict.message });
    return { ...old, observedGeneration: generation, phase: "Pending", conditions };
  }
  set({
    type: "Accepted",
    status: "True",
    reason: "Accepted",
    message: `The job is in the service's records as ${facts.row?.id}.`,
  });

  const created = verdict.kind === "create";
  const lost = created && old.runId !== undefined;
  const attempt = created ? verdict.attempt : attemptOf(facts);
  const running = !created && facts.pods.some(isRunning);
  const waiting = waitingOf(facts.pods);
  const completed = created ? [] : parseIndexes(facts.child?.status?.completedIndexes);

  if (running || isTrue(conditions, "Started")) {
    set({ type: "Started", status: "True", reason: "PodsRunning", message: "A pod of the job has run." });
  } else {
    set({ type: "Started", status: "False", ...waiting });
  }
  if (cr.spec.suspend) {
    const message = "The job is suspended; no pods run until spec.suspend is false.";
    set({ type: "Suspended", status: "True", reason: "SuspendRequested", message });
  } else if (conditionOf(conditions, "Suspended") !== undefined) {
    set({ type: "Suspended", status: "False", reason: "Resumed", message: "The job is not suspended." });
  }
  if (running) {
    const reports = facts.progress.length > 0;
    set({
      type: "Progressing",
      status: "True",
      reason: reports ? "Reporting" : "PodsRunning",
      message: reports ? "Pods run and report." : "Pods run.",
    });
  } else if (lost) {
    const message = "The Kubernetes Job of the last run was deleted; a new run has begun.";
    set({ type: "Progressing", status: "False", reason: "ChildDeleted", message });
  } else if (cr.spec.suspend) {
    set({
      type: "Progressing",
      status: "False",
      reason: "SuspendRequested",
      message: "The job is suspended.",
    });
  } else {
    set({ type: "Progressing", status: "False", ...waiting });
  }

  const sameAttempt = attempt === old.attempt;
  const sum = created ? undefined : sumProgress(cr.spec.shards.count, facts.progress, completed, facts.pods);
  const before = sameAttempt ? old.progress : undefined;
  const progress = { percent: 0, itemsDone: 0, itemsTotal: 0, itemsFailed: 0, ...before, ...sum };
  return {
    ...old,
    observedGeneration: generation,
    phase: phaseOf(facts, conditions, running, created),
    ...(attempt === undefined ? {} : { attempt, runId: runName(facts.job, attempt) }),
    startTime: old.startTime ?? (running ? at : undefined),
    // Counted when the suspension is over: while it lasts, the condition says since when.
    ...(isTrue(old.conditions, "Suspended") && !cr.spec.suspend
      ? { suspendedSeconds: suspendedSeconds(facts) }
      : {}),
    progress: { ...progress, percent: Math.max(progress.percent, before?.percent ?? 0) },
    shards: {
      total: cr.spec.shards.count,
      active: created ? 0 : facts.pods.filter(isRunning).length,
      succeeded: completed.length,
      failed: created ? 0 : parseIndexes(facts.child?.status?.failedIndexes).length,
    },
    ...(facts.metrics.length === 0 ? {} : { metrics: metricsOf(facts) }),
    conditions,
  };
}

const metricsOf = (facts: Facts) =>
  facts.metrics.map(({ name, value }) => ({ name, value: String(Number(value.toPrecision(6))) }));

/** The attempt that the present child is; after a crash between its creation and the status it is known by name only. */
function attemptOf({ cr, child, job }: Facts): number | undefined {
  const named = child === undefined ? undefined : Number(child.metadata.name.slice(job.length + 1));
  return named ?? cr.status?.attempt;
}

function phaseOf(
  { cr, child }: Facts,
  conditions: Condition[],
  running: boolean,
  created: boolean,
): JobPhase {
  if (cr.spec.cancel !== undefined) return "Cancelling";
  if (cr.spec.suspend) return "Suspended";
  if (running) return "Running";
  if (created || child !== undefined || isTrue(conditions, "Started")) return "Waiting";
  return "Pending";
}

/** The last status of a job. */
export function endStatus(facts: Facts, end: End, extra: Partial<JobStatus>): JobStatus {
  const { cr, now } = facts;
  const at = new Date(now).toISOString();
  const open = openStatus(facts, { kind: "wait" });
  const observedGeneration = cr.metadata.generation ?? 0;
  const turn = (list: Condition[], words: Words) => withCondition(list, { ...words, observedGeneration }, at);
  const { reason } = end;
  const message = end.message.slice(0, 1000);
  let conditions = turn(open.conditions ?? [], { type: end.end, status: "True", reason, message });
  conditions = turn(conditions, {
    type: "Progressing",
    status: "False",
    reason,
    message: "The job has ended.",
  });
  const progress = open.progress ?? { percent: 0, itemsDone: 0, itemsTotal: 0, itemsFailed: 0 };
  const done = end.end === "Succeeded" ? { percent: 100, itemsDone: progress.itemsTotal } : {};
  const shards = open.shards ?? { total: cr.spec.shards.count, active: 0, succeeded: 0, failed: 0 };
  return {
    ...open,
    ...extra,
    phase: end.end,
    completionTime: cr.status?.completionTime ?? at,
    progress: { ...progress, ...done },
    shards: { ...shards, active: 0 },
    ...(end.failure === undefined
      ? {}
      : { failure: { ...end.failure, message: end.failure.message.slice(0, 1000) } }),
    conditions,
  };
}

/** What the row is told while the job goes on. Its own guard keeps it from going back. */
export function rowChange(facts: Facts, status: JobStatus): JobChange {
  const started = isTrue(status.conditions, "Started");
  const word: OpenStatus = facts.cr.spec.cancel !== undefined ? "cancelling" : started ? "running" : "queued";
  const progressing = conditionOf(status.conditions, "Progressing");
  const running = progressing?.status === "True";
  const { message = null, percent = 0 } = status.progress ?? {};
  return {
    status: word,
    statusMessage: running ? message : (progressing?.message ?? null),
    progressPercent: percent,
    platformJobName: status.runId ?? null,
  };
}

/** Whether a status is worth writing: the time of the last report alone is not. */
export function statusDiffers(a: JobStatus | undefined, b: JobStatus): boolean {
  return stable(a) !== stable(b);
}

function stable(status: JobStatus | undefined): string {
  return JSON.stringify(status, (key, value: unknown) => {
    if (key === "lastReportTime") return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)));
  });
}
