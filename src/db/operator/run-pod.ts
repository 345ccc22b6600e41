// Records the ended pods of open jobs, each once, and adds their usage to the job and the tenant in the same statement.
// Called by controllers/job (pods) and by src/db/operator/ingest.ts (audio).
import { sql } from "slonik";
import { z } from "zod";
import type { JobKind } from "../../schemas/job-kind.ts";
import { jobStatus } from "../../schemas/job-resource.ts";
import type { Db } from "../driver/page.ts";
import { storableJson } from "../driver/storable.ts";
import { isOpen, tableOf, usageColumns } from "../job.ts";

const recordedRow = z.object({ pod_uid: z.string() });
export const failure = jobStatus.shape.failure.unwrap();

export type PodEnd = {
  podUid: string;
  runId: string;
  shard: number;
  /** Milliseconds since 1970; undefined when the pod never ran. */
  startedAt: number | undefined;
  endedAt: number;
  /** Requested CPU cores and GPUs. */
  cpu: number;
  gpu: number;
  /** Undefined: the pod succeeded, or its end does not count as a failure. */
  failure: z.infer<typeof failure> | undefined;
};

/** The last CTEs of a statement: add the row `sums` (pod, CPU, GPU and audio seconds) to a job and its tenant. */
const addUsage = (kind: JobKind, jobId: string, sums: ReturnType<typeof sql.fragment>) => sql.fragment`
  added (pods, cpu, gpu, audio) as (${sums}),
  job as (
    update ${tableOf(kind)} as job set pod_seconds = pod_seconds + pods, cpu_seconds = cpu_seconds + cpu,
      gpu_seconds = gpu_seconds + gpu, audio_seconds = audio_seconds + audio
    from added where job.id = ${jobId}
    returning job.tenant_id
  ), tenant as (
    insert into tenant_usage as old (tenant_id, ${usageColumns})
    select tenant_id, pods, cpu, gpu, audio from job, added
    on conflict (tenant_id) do update set pod_seconds = old.pod_seconds + excluded.pod_seconds,
      cpu_seconds = old.cpu_seconds + excluded.cpu_seconds, gpu_seconds = old.gpu_seconds + excluded.gpu_seconds,
      audio_seconds = old.audio_seconds + excluded.audio_seconds
  )`;

/** Records ended pods of an open job. Returns the uids of those that were not recorded before. */
export function recordPods(
  db: Db,
  kind: JobKind,
  jobId: string,
  pods: readonly PodEnd[],
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(recordedRow)`
    with open as (
      select id from ${tableOf(kind)} where id = ${jobId} and ${isOpen} for update
    ), recorded as (
      insert into run_pods (job_id, pod_uid, run_id, shard, started_at, ended_at, cpu, gpu, failure)
      select open.id, "podUid", "runId", shard, to_timestamp("startedAt" / 1000), to_timestamp("endedAt" / 1000), cpu, gpu, failure
      from open, jsonb_to_recordset(${storableJson(pods)}::jsonb) as pod ("podUid" text, "runId" text, shard int,
        "startedAt" float8, "endedAt" float8, cpu float8, gpu float8, failure jsonb)
      on conflict (job_id, pod_uid) do nothing
      returning pod_uid, greatest(0, coalesce(extract(epoch from ended_at - started_at), 0))::float8 as seconds, cpu, gpu
    ), ${addUsage(
      kind,
      jobId,
      sql.fragment`
      select coalesce(sum(seconds), 0), coalesce(sum(seconds * cpu), 0), coalesce(sum(seconds * gpu), 0), 0
      from recorded`,
    )}
    select pod_uid from recorded`);
}

/** Adds processed audio to the usage. Called in the transaction that ingests the result. */
export async function addAudio(db: Db, kind: JobKind, jobId: string, milliseconds: number): Promise<void> {
  await db.query(sql.fragment`
    with ${addUsage(kind, jobId, sql.fragment`select 0, 0, 0, ${milliseconds / 1000}::float8`)}
    select from job`);
}
