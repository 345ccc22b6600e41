// The end of a job. The order is what makes a crash at any point harmless: rows first, then the status, then the child: by
// that and by its pods the end is told again until the status says it. Called by reconcile.ts.
import { endJob } from "../../src/db/ingest.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { dropProgress } from "../../src/db/run.ts";
import { dropPods, recordPods } from "../../src/db/run-pod.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import type { Job } from "../../src/kube/objects.ts";
import { type Outcome, RetryError, settled } from "../runtime/outcome.ts";
import type { JobResource } from "./adapter.ts";
import { endOf } from "./cache-metrics.ts";
import { type End, failed, saysSame } from "./decide.ts";
import { type Engine, hasRowEnded } from "./engine.ts";
import type { Facts } from "./facts.ts";
import { podEnd } from "./pod-ends.ts";
import { isEnded, startOf } from "./pods.ts";
import { endStatus, openStatus } from "./status.ts";

/** Ends the job. Each step may be repeated. */
export async function finishJob(engine: Engine, id: string, facts: Facts, verdict: End): Promise<Outcome> {
  const { db, adapter, metrics, log, now, say, advance, writeStatus } = engine;
  const { cr, child, row } = facts;
  const run = child?.metadata.name ?? cr.status?.runId;
  const endedAt = child === undefined ? undefined : endOf(child);
  const observeLag = (sink: "row" | "resource") => {
    if (endedAt !== undefined) metrics.statusLag(sink, (now() - Date.parse(endedAt)) / 1000);
  };
  if (row !== null && !hasRowEnded(row)) {
    // What still runs is paid for until now: nobody looks at it any more.
    const alive = [...facts.pods, ...facts.lostPods].filter(
      (pod) => !isEnded(pod) && startOf(pod) !== undefined,
    );
    const ends = alive.map((pod) => podEnd(pod, now(), null));
    if (ends.length > 0) await recordPods(db, adapter.kind, id, ends);
    if (verdict.end === "Succeeded") {
      // A crash may have come between the Job of this run and the row: what older runs say does not count there.
      if (verdict.failedShards.size > 0) await advance(id, facts, openStatus(facts, { kind: "wait" }));
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
  // Someone else has ended it otherwise in that moment: the row says how, and is asked again.
  if (after !== null && row !== null && !hasRowEnded(row) && !saysSame(verdict, after))
    throw new RetryError(`the job was ${after.status} meanwhile`);
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
  if (run !== undefined) await Promise.all([dropProgress(db, run), dropPods(db, id)]);
  log.info({ name: cr.metadata.name, run, outcome: final.end, reason: final.reason }, final.message);
  if (final.end === "Failed") say(cr, "Warning", final.reason, final.message);
  else say(cr, "Normal", final.end, final.message);
  return settled;
}

/**
 * An ended job runs nothing. A leader that was frozen on its way to create a Job may have made it after the end, or one
 * that was killed may not have come to delete it.
 */
export async function removeOrphanedJobs(engine: Engine, cr: JobResource): Promise<void> {
  for (const job of engine.jobs.by("owner", cr.metadata.uid ?? "")) {
    if (job.metadata.deletionTimestamp !== undefined || isOver(job)) continue;
    engine.log.warn({ run: job.metadata.name }, "a Job of an ended job is there; deleting it");
    await removeJob(engine, job);
  }
}

async function removeJob({ kube, jobs }: Engine, job: Job): Promise<void> {
  await kube.remove(jobType, job.metadata, { uid: job.metadata.uid });
  // The watch says so a moment later.
  jobs.delete(job);
}

const isOver = (job: Job) =>
  job.status?.conditions?.some(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  ) ?? false;
