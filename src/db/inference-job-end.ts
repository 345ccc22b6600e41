// Inference jobs: cancel, retry for the files that failed, delete. Called by src/api/routes/inference-job.ts; the operator's
// sweep cancels jobs that nobody starts.
import { sql } from "slonik";
import { annotationSetCopying, audioNotReady, jobFinished, jobNotFinished, noFiles } from "../errors.ts";
import { isTerminal } from "../schemas/job.ts";
import { rowsPerRequest } from "./annotation-copy.ts";
import { protectDatasetsOf } from "./dataset.ts";
import { seeDeleted } from "./deletion.ts";
import { newId } from "./driver/id.ts";
import { countRows, type Db } from "./driver/page.ts";
import {
  type InferenceJobRow,
  inferenceJobColumns,
  inferenceJobRow,
  insertFiles,
  lockInferenceJob,
  markStarted,
  oneInferenceJob,
  requireUsableModel,
} from "./inference-job.ts";
import { insertJobEvent } from "./job-event.ts";
import {
  isBelowWaitingQuota,
  plainJobRequest,
  requireInferenceFiles,
  requireWaitingQuota,
  settingsJson,
  waitingQuotaExceeded,
} from "./quota.ts";

/** Requests the cancellation of a job; one that was never started is cancelled at once. Rejects with jobFinished. */
export async function cancelInferenceJob(db: Db, tenantId: string, id: string): Promise<InferenceJobRow> {
  return await db.transaction(async (tx) => {
    const changed = await tx.maybeOne(sql.type(inferenceJobRow)`
      update inference_jobs set
        status = case when start_requested_at is null then 'cancelled' else 'cancelling' end,
        completed_at = case when start_requested_at is null then now() end,
        cancel_requested_at = now(), status_message = 'Cancellation was requested'
      where tenant_id = ${tenantId} and id = ${id} and status in ('pending', 'queued', 'running')
      returning ${inferenceJobColumns}`);
    if (changed === null) {
      const job = await oneInferenceJob(tx, tenantId, id);
      if (job.status === "completed" || job.status === "failed") throw jobFinished(job.status);
      return job;
    }
    await insertJobEvent(tx, tenantId, { kind: "inference", id, message: "Cancellation was requested" });
    if (changed.status === "cancelled") {
      await tx.query(sql.fragment`
        update inference_files set status = 'cancelled', completed_at = now()
        where tenant_id = ${tenantId} and inference_job_id = ${id} and status in ('pending_upload', 'queued')`);
    }
    return changed;
  });
}

/**
 * Cancels jobs that were created more than seven days ago, never started, and wait for no upload. Handles at most
 * `limit` jobs and returns how many.
 */
export async function cancelUnstartedJobs(db: Db, limit: number): Promise<number> {
  const why = "The job was not started within 7 days";
  const cancelled = await db.query(sql.fragment`
    with cancelled as (
      update inference_jobs set status = 'cancelled', completed_at = now(), cancel_requested_at = now(),
        status_message = ${why}
      where id in (
        select id from inference_jobs j
        where status = 'pending' and start_requested_at is null and created_at < now() - interval '7 days'
          and not exists (
            select from inference_files f
            where f.tenant_id = j.tenant_id and f.inference_job_id = j.id and f.status = 'pending_upload')
        order by created_at limit ${limit} for update skip locked)
        and status = 'pending' and start_requested_at is null
      returning tenant_id, id
    ), files as (
      update inference_files f set status = 'cancelled', completed_at = now()
      from cancelled c
      where f.tenant_id = c.tenant_id and f.inference_job_id = c.id and f.status = 'queued'
    )
    insert into job_events (tenant_id, job_kind, job_id, level, type, message)
    select tenant_id, 'inference', id, 'info', 'status', ${why} from cancelled`);
  return cancelled.rowCount;
}

/**
 * Adds and starts a job with the same model and configuration for the files that failed. Rejects with jobNotFinished,
 * noFiles (none failed), modelInactive, or audioNotReady (an audio file was deleted from its dataset).
 */
export async function retryInferenceJob(db: Db, tenantId: string, id: string, by = plainJobRequest) {
  return await db.transaction(async (tx) => {
    const old = await oneInferenceJob(tx, tenantId, id, sql.fragment`for share`);
    if (!isTerminal(old.status)) throw jobNotFinished(old.status);
    const failed = sql.fragment`f.tenant_id = ${tenantId} and f.inference_job_id = ${id} and f.status = 'failed'`;
    const count = await countRows(tx, sql.fragment`inference_files f where ${failed}`);
    if (count === 0) throw noFiles("None of the job's files failed");
    await requireUsableModel(tx, tenantId, old.model_id);

    const newJob = by.id ?? newId();
    const made = await tx.query(sql.fragment`
      insert into inference_jobs (id, tenant_id, installation, model_id, config, traceparent, settings)
      select ${newJob}, tenant_id, ${by.installation}, model_id, config, ${by.traceparent},
        coalesce(${settingsJson(by)}, settings)
      from inference_jobs
      where tenant_id = ${tenantId} and id = ${id}
        and ${isBelowWaitingQuota("inference_jobs", tenantId, by.maxWaiting)}`);
    if (made.rowCount === 0) throw waitingQuotaExceeded("inference", by.maxWaiting);
    const message = "The job was created again for the files that failed";
    await insertJobEvent(tx, tenantId, { kind: "inference", id: newJob, message, data: { retry_of: id } });
    await protectDatasetsOf(
      tx,
      tenantId,
      sql.fragment`select audio_file_id from inference_files f where ${failed}`,
    );
    const ready = sql.fragment`
      select f.* from inference_files f
      left join lateral (
        select status from audio_files where tenant_id = f.tenant_id and id = f.audio_file_id
          and exists (select from datasets d where d.tenant_id = f.tenant_id and d.id = dataset_id)
        for key share
      ) a on true
      where ${failed} and (f.audio_file_id is null or a.status is not distinct from 'ready')`;
    await requireInferenceFiles(tx, tenantId, by.maxFiles);
    const files = await insertFiles(tx, tenantId, newJob, ready);
    if (files < count) throw audioNotReady(`${count - files} of ${count} audio files no longer exist`);
    const started = await markStarted(tx, tenantId, newJob, files);
    await requireWaitingQuota(tx, "inference", tenantId, by.maxWaiting);
    return started;
  });
}

/**
 * Deletes a job that has ended, with its files and detections; a large one disappears at once and is deleted in the
 * background. Rejects with jobNotFinished, or with annotationSetCopying while its detections are being copied into a draft.
 */
export async function deleteInferenceJob(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const job = await lockInferenceJob(tx, tenantId, id);
    if (!isTerminal(job.status)) throw jobNotFinished(job.status);
    const isCopied = await tx.exists(sql.fragment`
      select from annotation_sets
      where tenant_id = ${tenantId} and copying is not null and copying ->> 'inference_job_id' = ${id.toLowerCase()}`);
    if (isCopied) throw annotationSetCopying();
    const isLarge = job.total_files + job.total_detections > rowsPerRequest;
    if (isLarge) await seeDeleted(tx);
    const change = isLarge
      ? sql.fragment`update inference_jobs set deleted_at = now()`
      : sql.fragment`delete from inference_jobs`;
    await tx.query(sql.fragment`${change} where tenant_id = ${tenantId} and id = ${id}`);
  });
}
