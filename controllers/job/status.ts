// Computes the status of a job's custom resource and the matching change of its row. Pure; called by reconcile.ts,
// end.ts and engine.ts, which write each of them only if it changed.

import type { JobChange, OpenStatus, Usage } from "../../src/db/job.ts";
import type { ItemCounts } from "../../src/db/operator/ingest.ts";
import type { Condition } from "../../src/schemas/condition.ts";
import { runName } from "../../src/schemas/job-kind.ts";
import type { JobPhase, JobStatus } from "../../src/schemas/job-resource.ts";
import { conditionOf, isTrue } from "../runtime/conditions.ts";
import { type ConditionUpdate, openConditions, setConditions } from "./conditions.ts";
import { isWorkedOn, suspendedSeconds } from "./deadlines.ts";
import type { End, Verdict } from "./decide.ts";
import type { Facts } from "./facts.ts";
import { parseIndexes } from "./indexes.ts";
import { isRunning } from "./pods.ts";
import { sumProgress } from "./progress.ts";

/** The status of an open job. `verdict` is what the same reconcile does about it. */
export function openStatus(facts: Facts, verdict: Verdict): JobStatus {
  const { cr, row } = facts;
  const old = cr.status ?? {};
  const observedGeneration = cr.metadata.generation ?? 0;
  const conditions = openConditions(facts, verdict);
  if (verdict.kind === "refuse")
    return { ...old, observedGeneration, phase: "Pending", ...waitOf(facts, true, false), conditions };

  const created = verdict.kind === "create";
  const attempt = created ? verdict.attempt : attemptOf(facts);
  const running = !created && isWorkedOn(facts);
  const completed = created ? [] : parseIndexes(facts.child?.status?.completedIndexes);
  const admitted = facts.admission.admitted && (created || facts.child !== undefined);

  const sameAttempt = attempt === old.attempt;
  const sum = created
    ? undefined
    : sumProgress(cr.spec.shards.count, facts.progress, completed, facts.pods, workingSince(facts));
  const before = sameAttempt ? old.progress : undefined;
  const progress = { percent: 0, itemsDone: 0, itemsTotal: 0, itemsFailed: 0, ...before, ...sum };
  return {
    ...old,
    observedGeneration,
    phase: phaseOf(facts, conditions, running, created),
    ...(attempt === undefined ? {} : { attempt, runId: runName(facts.job, attempt) }),
    ...timesOf(facts, admitted, isTrue(conditions, "Started")),
    ...waitOf(facts, cr.spec.suspend || !facts.admission.admitted, running),
    progress: { ...progress, percent: Math.max(progress.percent, before?.percent ?? 0) },
    shards: {
      total: cr.spec.shards.count,
      active: created ? 0 : facts.pods.filter(isRunning).length,
      succeeded: completed.length,
      failed: created ? 0 : parseIndexes(facts.child?.status?.failedIndexes).length,
    },
    ...(facts.metrics.length === 0 ? {} : { metrics: metricsOf(facts) }),
    ...(facts.checkpoint === undefined ? {} : { checkpoint: facts.checkpoint }),
    ...(row === null || row.pod_seconds + row.audio_seconds === 0 ? {} : { usage: usageOf(row) }),
    conditions,
  };
}

function timesOf(facts: Facts, admitted: boolean, started: boolean): Partial<JobStatus> {
  const { cr, child, kueue } = facts;
  const at = new Date(facts.now).toISOString();
  const { admittedTime, startTime } = cr.status ?? {};
  // Without Kueue a job is admitted before its Job is created, and its first status follows seconds later.
  const admittedAt = (kueue === undefined ? child?.metadata.creationTimestamp : undefined) ?? at;
  return {
    admittedTime: admittedTime ?? (admitted || started ? admittedAt : undefined),
    startTime: startTime ?? (started ? at : undefined),
  };
}

/** The clocks of an open job that waits. `held`: suspended, in its queue or refused. The time held is added up at its end. */
function waitOf(facts: Facts, held: boolean, running: boolean): Partial<JobStatus> {
  const at = new Date(facts.now).toISOString();
  const { startTime, heldSince, pendingSince } = facts.cr.status ?? {};
  const resumes = startTime !== undefined && heldSince !== undefined && !held;
  return {
    heldSince: held ? (heldSince ?? at) : undefined,
    pendingSince: held || running ? undefined : (pendingSince ?? at),
    ...(resumes ? { suspendedSeconds: suspendedSeconds(facts) } : {}),
  };
}

const usageOf = (row: Usage): JobStatus["usage"] => ({
  podSeconds: Math.round(row.pod_seconds),
  cpuSeconds: Math.round(row.cpu_seconds),
  gpuSeconds: Math.round(row.gpu_seconds),
  audioSeconds: Math.round(row.audio_seconds),
});

const metricsOf = (facts: Facts) =>
  facts.metrics.map(({ name, value }) => ({ name, value: String(Number(value.toPrecision(6))) }));

/** The start time, shifted by suspensions, in ms since 1970. The estimate of the remaining time starts from it. */
function workingSince(facts: Facts): number | undefined {
  const { startTime } = facts.cr.status ?? {};
  return startTime === undefined ? undefined : Date.parse(startTime) + suspendedSeconds(facts) * 1000;
}

/**
 * The attempt of the current child. After a crash between the creation of the Job and the status, only its name shows
 * it.
 */
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

/** The final status of a job. `items` are the counts from the rows, which include shards that never reported. */
export function endStatus(facts: Facts, end: End, extra: Partial<JobStatus>, items?: ItemCounts): JobStatus {
  const { cr, now } = facts;
  const at = new Date(now).toISOString();
  const open = openStatus(facts, { kind: "wait" });
  const { reason, message } = end;
  const updates: ConditionUpdate[] = [
    { type: end.end, status: "True", reason, message },
    { type: "Progressing", status: "False", reason, message: "The job has ended." },
  ];
  if (conditionOf(open.conditions, "Checkpointed")?.status === "False") {
    const none = "The job ended without a checkpoint.";
    updates.push({ type: "Checkpointed", status: "False", reason: "NoCheckpoint", message: none });
  }
  const conditions = setConditions(facts, open.conditions ?? [], updates);
  const progress = open.progress ?? { percent: 0, itemsDone: 0, itemsTotal: 0, itemsFailed: 0 };
  const done = end.end === "Succeeded" ? { percent: 100, itemsDone: progress.itemsTotal } : {};
  const counted =
    items === undefined ? {} : { itemsDone: items.done, itemsTotal: items.total, itemsFailed: items.failed };
  const { etaSeconds: _, ...reached } = progress;
  const total = cr.spec.shards.count;
  // Counts ingested shards: after a crash the database knows them, whatever happened to the Job.
  const succeeded = facts.ingested.size;
  const lost = new Set([...parseIndexes(facts.child?.status?.failedIndexes), ...facts.bad.keys()]);
  const failed = end.end === "Succeeded" ? total - succeeded : lost.size;
  return {
    ...open,
    ...extra,
    phase: end.end,
    heldSince: undefined,
    pendingSince: undefined,
    completionTime: cr.status?.completionTime ?? at,
    progress: { ...reached, ...done, ...counted },
    shards: { total, active: 0, succeeded, failed },
    ...(end.failure === undefined
      ? {}
      : { failure: { ...end.failure, message: end.failure.message.slice(0, 1000) } }),
    conditions,
  };
}

/** The change of an open job's row. The database rejects changes that would move the row backwards. */
export function rowChange(facts: Facts, status: JobStatus): JobChange {
  const started = isTrue(status.conditions, "Started");
  const rowStatus: OpenStatus =
    facts.cr.spec.cancel !== undefined ? "cancelling" : started ? "running" : "queued";
  const progressing = conditionOf(status.conditions, "Progressing");
  const running = progressing?.status === "True";
  const { message = null, percent = 0 } = status.progress ?? {};
  return {
    status: rowStatus,
    statusMessage: running ? message : (progressing?.message ?? null),
    progressPercent: percent,
    platformJobName: status.runId ?? null,
  };
}

/** Fields that alone do not justify a write, because they change with every pod or report. */
const minorFields = new Set(["lastReportTime", "etaSeconds", "active", "usage"]);

/** Whether two statuses differ in more than minor fields. */
export function statusDiffers(a: JobStatus | undefined, b: JobStatus): boolean {
  return stable(a) !== stable(b);
}

function stable(status: JobStatus | undefined): string {
  return JSON.stringify(status, (key, value: unknown) => {
    if (minorFields.has(key)) return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)));
  });
}
