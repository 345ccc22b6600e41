// What becomes of inference jobs: cancelled, tried again on the files that failed, deleted. Called by
// src/api/routes/inference-job.ts.
import { sql } from "slonik";
import { z } from "zod";
import { audioNotReady, jobFinished, jobNotFinished, modelInactive, noFiles } from "../errors.ts";
import { isTerminal } from "../schemas/job.ts";
import { keepDatasetsOf } from "./dataset.ts";
import { newId } from "./id.ts";
import {
  type InferenceJobRow,
  inferenceJobColumns,
  inferenceJobRow,
  lockInferenceJob,
  oneInferenceJob,
  startLocked,
} from "./inference-job.ts";
import { insertJobEvent } from "./job-event.ts";
import type { Db } from "./page.ts";
import { hasWaitingPlace, plainJobRequest, requireWaitingPlace, tooManyWaiting } from "./quota.ts";

const nothing = z.object({});

/** Asks for the end of a job; one that was never started ends at once. jobFinished when it is too late. */
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
      await tx.query(sql.type(nothing)`
        update inference_files set status = 'cancelled', completed_at = now()
        where tenant_id = ${tenantId} and inference_job_id = ${id} and status in ('pending_upload', 'queued')`);
    }
    return changed;
  });
}

/**
 * A new job of the same model and configuration on the files that failed. jobNotFinished, noFiles when none failed,
 * modelInactive, audioNotReady when a file's audio has been deleted from its dataset.
 */
export async function retryInferenceJob(
  db: Db,
  tenantId: string,
  id: string,
  by = plainJobRequest,
): Promise<InferenceJobRow> {
  return await db.transaction(async (tx) => {
    const old = await oneInferenceJob(tx, tenantId, id, sql.fragment`for share`);
    if (!isTerminal(old.status)) throw jobNotFinished(old.status);
    const usable = await tx.maybeOneFirst(sql.type(z.object({ usable: z.boolean() }))`
      select is_active and archived_at is null as usable
      from models where tenant_id = ${tenantId} and id = ${old.model_id} for share`);
    const audio = await tx.anyFirst(sql.type(z.object({ audio_file_id: z.string() }))`
      select audio_file_id from inference_files
      where tenant_id = ${tenantId} and inference_job_id = ${id} and status = 'failed' and audio_file_id is not null`);
    await keepDatasetsOf(tx, tenantId, audio);
    const files = await tx.any(sql.type(z.object({ id: z.string(), ready: z.boolean() }))`
      select f.id, f.audio_file_id is null or a.status is not distinct from 'ready' as ready
      from inference_files f
      left join lateral (
        select status from audio_files where tenant_id = f.tenant_id and id = f.audio_file_id for key share
      ) a on true
      where f.tenant_id = ${tenantId} and f.inference_job_id = ${id} and f.status = 'failed' order by f.id`);
    if (files.length === 0) throw noFiles("None of the job's files failed");
    if (usable === null) throw modelInactive("The model has been deleted");
    if (!usable) throw modelInactive("The model is not active");
    const gone = files.filter((file) => !file.ready).length;
    if (gone > 0) throw audioNotReady(`${gone} of ${files.length} audio files are no longer there`);

    const newJob = newId();
    const made = await tx.query(sql.type(nothing)`
      insert into inference_jobs (id, tenant_id, model_id, config, traceparent)
      select ${newJob}, tenant_id, model_id, config, ${by.traceparent} from inference_jobs
      where tenant_id = ${tenantId} and id = ${id}
        and ${hasWaitingPlace("inference_jobs", tenantId, by.maxWaiting)}`);
    if (made.rowCount === 0) throw tooManyWaiting("inference", by.maxWaiting);
    const message = "The job was created again for the files that failed";
    await insertJobEvent(tx, tenantId, { kind: "inference", id: newJob, message, data: { retry_of: id } });
    const lines = files.map((file) => ({ id: newId(), old: file.id }));
    await tx.query(sql.type(nothing)`
      insert into inference_files (id, tenant_id, inference_job_id, audio_file_id, filename, content_type, size_bytes,
        checksum_sha256, object_key, status, duration_ms)
      select line.id, f.tenant_id, ${newJob}, f.audio_file_id, f.filename, f.content_type, f.size_bytes,
        f.checksum_sha256, f.object_key, 'queued', f.duration_ms
      from jsonb_to_recordset(${sql.jsonb(lines)}) as line (id uuid, old uuid)
      join inference_files f on f.tenant_id = ${tenantId} and f.id = line.old`);
    const started = await startLocked(tx, tenantId, newJob);
    await requireWaitingPlace(tx, "inference", tenantId, by.maxWaiting);
    return started;
  });
}

/** Deletes a job that has ended, with its files and what was found in them. jobNotFinished before that. */
export async function deleteInferenceJob(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { status } = await lockInferenceJob(tx, tenantId, id);
    if (!isTerminal(status)) throw jobNotFinished(status);
    for (const part of await filesInParts(tx, tenantId, id))
      await tx.query(sql.type(nothing)`
        delete from inference_files where tenant_id = ${tenantId} and id = any(${sql.array(part, "uuid")})`);
    await tx.query(
      sql.type(nothing)`delete from inference_jobs where tenant_id = ${tenantId} and id = ${id}`,
    );
  });
}

/** Deleted in one statement: a file's detections, of which there may be 100,000, go with it. */
const detectionsAtOnce = 100_000;

async function filesInParts(tx: Db, tenantId: string, jobId: string): Promise<string[][]> {
  const files = await tx.any(sql.type(z.object({ id: z.string(), detection_count: z.number() }))`
    select id, detection_count from inference_files
    where tenant_id = ${tenantId} and inference_job_id = ${jobId} order by id`);
  const parts: string[][] = [];
  let room = 0;
  for (const file of files) {
    // A file costs a look for its detections even if it has none.
    room -= file.detection_count + 50;
    if (room < 0) {
      parts.push([]);
      room = detectionsAtOnce - file.detection_count;
    }
    parts.at(-1)?.push(file.id);
  }
  return parts;
}
