// All that the database knows about an open job, read in one statement: a reconcile waits for each round trip. Called by
// controllers/job/gather.ts.
import { sql } from "slonik";
import { z } from "zod";
import type { JobKind } from "../../schemas/job-kind.ts";
import type { Db } from "../driver/page.ts";
import { jobColumns, jobRow, tableOf } from "../job.ts";
import { runsOf } from "./ingest.ts";
import { failure } from "./run-pod.ts";

const shardProgress = z.object({
  shard: z.int(),
  pod_uid: z.string(),
  items_done: z.int(),
  items_total: z.int(),
  items_failed: z.int(),
  fraction: z.number(),
  message: z.string().nullable(),
  checkpoint_step: z.int().nullable(),
  /** Milliseconds since 1970. */
  checkpoint_at: z.number().nullable(),
  silent_ms: z.number(),
});
/** `updated_at`: when the report came, by the clock of this process, in ms since 1970. */
export type ShardProgress = Omit<z.infer<typeof shardProgress>, "silent_ms"> & { updated_at: number };

const failedPod = z.object({ pod_uid: z.string(), run_id: z.string(), failure });
export type FailedPod = z.infer<typeof failedPod>;

const stateRow = jobRow.extend({
  progress: z.array(shardProgress),
  ingested: z.array(z.int()),
  failed_pods: z.array(failedPod),
  metrics: z.array(z.object({ name: z.string(), value: z.number() })),
});

/** The rows of `query` as a JSON array. */
const listOf = (query: ReturnType<typeof sql.fragment>) =>
  sql.fragment`(select coalesce(json_agg(line), '[]') from (${query}) as line)`;

/**
 * Returns the job's row; the last report of each shard of `run`; the shards whose results were ingested, from this run or an
 * earlier one; the failed pods of the job, in the order of their ends; the last value of each training curve, of at most 32.
 * Null when there is no such job.
 */
export async function maybeOneJobState(db: Db, kind: JobKind, id: string, run: string | undefined) {
  const curves =
    kind === "training"
      ? sql.fragment`
        select distinct on (name) name, value from training_metrics
        where training_job_id = ${id} order by name, step desc limit 32`
      : sql.fragment`select where false`;
  const state = await db.maybeOne(sql.type(stateRow)`
    select ${jobColumns},
      ${listOf(sql.fragment`
        select shard, pod_uid, items_done, items_total, items_failed, fraction, message, checkpoint_step,
          extract(epoch from checkpoint_at) * 1000 as checkpoint_at,
          extract(epoch from now() - updated_at) * 1000 as silent_ms
        from shard_progress where run_id = ${run ?? null} order by shard`)} as progress,
      ${listOf(sql.fragment`
        select pod_uid, run_id, failure from run_pods
        where job_id = ${id} and failure is not null order by ended_at, pod_uid`)} as failed_pods,
      ${listOf(curves)} as metrics,
      array(select shard from result_ingests
        where run_id = any(${run === undefined ? sql.array([], "text") : runsOf(run)})) as ingested
    from ${tableOf(kind)} where id = ${id}`);
  if (state === null) return null;
  const { progress, ingested, failed_pods: failedPods, metrics, ...row } = state;
  // The clock of the database may differ from that of this process.
  const now = Date.now();
  const reports = progress.map(
    ({ silent_ms, ...line }): ShardProgress => ({ ...line, updated_at: now - silent_ms }),
  );
  return { row, progress: reports, ingested, failedPods, metrics };
}
