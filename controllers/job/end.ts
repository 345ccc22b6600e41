// Ends a job. The order makes a crash at any point harmless: rows first, then the status, and the child Job last,
// because the next reconcile derives the end from the Job and its pods until the status shows it. Called by apply.ts and reconcile.ts.

import { maybeOneJob } from "../../src/db/job.ts";
import { endJob } from "../../src/db/operator/ingest.ts";
import { dropReports } from "../../src/db/operator/run.ts";
import { recordPods } from "../../src/db/operator/run-pod.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import { isTerminal } from "../../src/schemas/job.ts";
import { type Outcome, RetryError, settled } from "../runtime/outcome.ts";
import type { JobResource } from "./adapter.ts";
import { endOf } from "./cache-metrics.ts";
import type { CachedJob } from "./cached-job.ts";
import { agreesWithRow, type End, failed } from "./decide.ts";
import type { Engine } from "./engine.ts";
import type { Facts } from "./facts.ts";
import { podEnd } from "./pod-ends.ts";
import { isEnded, startOf } from "./pods.ts";
import { jobsOf } from "./run.ts";
import { endStatus, openStatus } from "./status.ts";

/**
 * Ends the job. Each step is idempotent. Throws RetryError when somebody else ended the row differently at that moment.
 */
export async function finishJob(engine: Engine, id: string, facts: Facts, verdict: End): Promise<Outcome> {
  const { db, adapter, metrics, log, now, advanceRow, writeStatus } = engine;
  const { cr, child, row } = facts;
  const run = child?.metadata.name ?? cr.status?.runId;
  const endedAt = child === undefined ? undefined : endOf(child);
  const observeLag = (sink: "row" | "resource") => {
    if (endedAt !== undefined) metrics.statusLag(sink, (now() - Date.parse(endedAt)) / 1000);
  };
  if (row !== null && !isTerminal(row.status)) {
    // Records the usage of pods that still run up to now: nothing reads them after the end of the job.
    const alive = [...facts.pods, ...facts.lostPods].filter(
      (pod) => !isEnded(pod) && startOf(pod) !== undefined,
    );
    const ends = alive.map((pod) => podEnd(pod, now(), null));
    if (ends.length > 0) await recordPods(db, adapter.kind, id, ends);
    if (verdict.end === "Succeeded") {
      // After a crash the row may still name an older run, and the database ignores failures of other runs.
      if (verdict.failedShards.size > 0) await advanceRow(id, facts, openStatus(facts, { kind: "wait" }));
      for (const [shard, failure] of verdict.failedShards) {
        await adapter.failShard({ jobId: id, run: run!, shard }, failure.message);
      }
    }
    await endJob(db, adapter.kind, id, {
      status: verdict.end === "Succeeded" ? "completed" : verdict.end === "Failed" ? "failed" : "cancelled",
      statusMessage: verdict.end === "Failed" ? null : verdict.message,
      errorMessage: verdict.end === "Failed" ? verdict.message : null,
    });
    observeLag("row");
  }
  let final = verdict;
  const after = await maybeOneJob(db, adapter.kind, id);
  // Somebody else has ended the row differently in the meantime. The next reconcile reads the end from the row.
  if (after !== null && row !== null && !isTerminal(row.status) && !agreesWithRow(verdict, after))
    throw new RetryError(`the row of the job changed to ${after.status} during this reconcile`);
  if (verdict.end === "Succeeded" && after?.status === "failed") {
    const message = after.error_message ?? "Every item failed.";
    final = failed({ class: "User", code: "all_items_failed", message, retryable: false });
  }
  const extra = final.end === "Succeeded" ? await adapter.completed(cr, id) : {};
  const items = after === null ? undefined : await adapter.items(id);
  const status = endStatus({ ...facts, row: after ?? row }, final, extra, items);
  await writeStatus(cr, status);
  observeLag("resource");
  if (child !== undefined && !isOver(child)) await removeJob(engine, child);
  if (row !== null && run !== undefined) await dropReports(db, id, run);
  log.info({ name: cr.metadata.name, run, outcome: final.end, reason: final.reason }, final.message);
  return settled;
}

/**
 * Deletes open Jobs of an ended job. A former leader may have created a Job after the end, because it was frozen in a
 * reconcile, or may have been killed before it deleted the Job.
 */
export async function removeOrphanedJobs(engine: Engine, cr: JobResource): Promise<void> {
  for (const job of jobsOf(engine, cr)) {
    if (job.metadata.deletionTimestamp !== undefined || isOver(job)) continue;
    engine.log.warn({ run: job.metadata.name }, "an ended job still has an open Job; deleting the Job");
    await removeJob(engine, job);
  }
}

/** Deletes Jobs of earlier runs, so that only the newest run has pods. */
export async function removeEarlierJobs(engine: Engine, { earlierJobs }: Facts): Promise<void> {
  for (const job of earlierJobs) {
    engine.log.warn({ run: job.metadata.name }, "deleting the Job of an earlier run");
    await removeJob(engine, job);
  }
}

/** Deletes a Job, and with it its pods. */
export async function removeJob({ kube, jobs }: Engine, job: CachedJob): Promise<void> {
  await kube.remove(jobType, job.metadata, { uid: job.metadata.uid });
  // Keeps the cache current until the watch reports the deletion.
  jobs.delete(job);
}

const isOver = (job: CachedJob) =>
  job.status?.conditions?.some(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  ) ?? false;
