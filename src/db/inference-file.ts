// Files of an inference job: audio files of datasets, or separate uploads that take the same three steps. Called by
// src/api/routes/inference-file.ts and exports.
import { sql } from "slonik";
import { z } from "zod";
import {
  inferenceFileNotFound,
  inferenceJobNotFound,
  jobFinished,
  jobStarted,
  quotaExceeded,
} from "../errors.ts";
import { inferenceFile, type listInferenceFilesQuery } from "../schemas/inference-file.ts";
import type { ConfirmedAudio, NewUpload } from "./audio-file.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import {
  countRows,
  type Db,
  fits,
  inOrder,
  type ListRequest,
  type Page,
  selectPage,
  withId,
} from "./driver/page.ts";
import { type AudioQuota, audioBytesOf, requireBytes, requireInferenceFiles } from "./quota.ts";

const maxFiles = 10_000;

const row = rowOf(inferenceFile, {
  object_key: z.string(),
  multipart_id: z.string().nullable(),
  shard: z.number().nullable(),
});
export type InferenceFileRow = z.infer<typeof row>;

const columns = columnsOf(row, {
  dataset_id: sql.fragment`(
    select a.dataset_id from audio_files a join datasets d on d.tenant_id = a.tenant_id and d.id = a.dataset_id
    where a.tenant_id = inference_files.tenant_id and a.id = inference_files.audio_file_id and d.deleted_at is null)`,
});
const visible = sql.fragment`(status <> 'pending_upload' or upload_expires_at > now())`;
const withIdInJob = (ids: string | readonly string[], tenantId: string, jobId: string) =>
  withId(ids, { tenant_id: tenantId, inference_job_id: jobId });
/** A condition for visible files of the job. Those of a deleted job are deleted in the background. */
const visibleFiles = (ids: string | readonly string[], tenantId: string, jobId: string) => sql.fragment`
  ${withIdInJob(ids, tenantId, jobId)} and ${visible}
  and exists (select from inference_jobs j where j.tenant_id = ${tenantId} and j.id = ${jobId})`;

/**
 * Adds files that wait for their upload to a job that has not been started. `object_key`: the key after confirm. Rejects
 * with inferenceJobNotFound, jobStarted, jobFinished or quotaExceeded.
 */
export async function insertInferenceUploads(
  db: Db,
  tenantId: string,
  jobId: string,
  uploads: readonly (NewUpload & { object_key: string })[],
  lifetimeSeconds: number,
  quota: AudioQuota & { readonly maxInferenceFiles: number },
): Promise<readonly InferenceFileRow[]> {
  return await db.transaction(async (tx) => {
    await lockUnstarted(tx, tenantId, jobId);
    const present = await countRows(
      tx,
      sql.fragment`inference_files where tenant_id = ${tenantId} and inference_job_id = ${jobId}`,
    );
    if (present + uploads.length > maxFiles)
      throw quotaExceeded(`An inference job has at most ${maxFiles} files`);
    await requireInferenceFiles(tx, tenantId, quota.maxInferenceFiles);
    const bytes = uploads.reduce((sum, upload) => sum + upload.size_bytes, 0);
    requireBytes(await audioBytesOf(tx, tenantId), bytes, quota);
    const rows = await tx.any(sql.type(row)`
      insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes,
        checksum_sha256, object_key, upload_expires_at)
      select id, ${tenantId}, ${jobId}, filename, content_type, size_bytes, checksum_sha256, object_key,
        now() + make_interval(secs => ${lifetimeSeconds}::double precision)
      from jsonb_to_recordset(${sql.jsonb(uploads as never)}) as upload (id uuid, filename text, content_type text,
        size_bytes bigint, checksum_sha256 text, object_key text)
      returning ${columns}`);
    const ids = uploads.map((upload) => upload.id);
    return inOrder(rows, ids, inferenceFileNotFound);
  });
}

/** Returns one page of a job's files, newest first. */
export async function listInferenceFiles(
  db: Db,
  tenantId: string,
  jobId: string,
  query: ListRequest<typeof listInferenceFilesQuery>,
): Promise<Page<InferenceFileRow>> {
  const filter = { tenant_id: tenantId, inference_job_id: jobId, status: query.status };
  const from = sql.fragment`inference_files where ${fits(filter, visible)}`;
  return await selectPage(db, row, { columns, from }, query);
}

/** Returns the file; rejects with inferenceFileNotFound. */
export const oneInferenceFile = (db: Db, tenantId: string, jobId: string, id: string) =>
  db.expecting(inferenceFileNotFound).one(sql.type(row)`
    select ${columns} from inference_files where ${visibleFiles(id, tenantId, jobId)}`);

const namedFile = z.object({
  id: z.string(),
  audio_file_id: z.string().nullable(),
  filename: z.string(),
  object_key: z.string(),
});

/** Returns those of the ids that are files of the job, with the columns that exports need. */
export async function namesOfInferenceFiles(db: Db, tenantId: string, jobId: string, ids: readonly string[]) {
  const rows = await db.any(sql.type(namedFile)`
    select id, audio_file_id, filename, object_key from inference_files
    where ${withIdInJob(ids, tenantId, jobId)}`);
  return new Map(rows.map((line) => [line.id, line]));
}

/** Returns the files in the order of `ids`; rejects with inferenceFileNotFound when one is missing. */
export async function manyInferenceFiles(db: Db, tenantId: string, jobId: string, ids: readonly string[]) {
  const rows = await db.any(sql.type(row)`
    select ${columns} from inference_files where ${visibleFiles(ids, tenantId, jobId)}`);
  return inOrder(rows, ids, inferenceFileNotFound);
}

/** Marks the upload as confirmed and counts it. Rejects with jobStarted when the job was started without it. */
export async function markInferenceFileUploaded(
  db: Db,
  tenantId: string,
  jobId: string,
  id: string,
  audio: ConfirmedAudio,
): Promise<InferenceFileRow> {
  return await db.transaction(async (tx) => {
    await lockUnstarted(tx, tenantId, jobId);
    await tx.query(sql.fragment`
      update inference_files set status = 'queued', duration_ms = ${audio.durationMs},
        checksum_sha256 = coalesce(${audio.checksumSha256}, checksum_sha256), error_message = null
      where ${withIdInJob(id, tenantId, jobId)} and status = 'pending_upload'`);
    await recount(tx, tenantId, jobId);
    return await oneInferenceFile(tx, tenantId, jobId, id);
  });
}

/**
 * Rejects with jobStarted if the job was started without the file, and with jobFinished if the job was cancelled. Only a start
 * gives files their shards.
 */
export async function requireIncluded(db: Db, tenantId: string, file: InferenceFileRow): Promise<void> {
  if (file.status === "cancelled" && file.shard === null)
    await lockUnstarted(db, tenantId, file.inference_job_id);
}

/** Deletes a file of a job that has not been started; otherwise rejects with jobStarted or jobFinished. */
export async function deleteInferenceFile(
  db: Db,
  tenantId: string,
  jobId: string,
  id: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    await oneInferenceFile(tx, tenantId, jobId, id);
    await lockUnstarted(tx, tenantId, jobId);
    const deleted = await tx.query(sql.fragment`
      delete from inference_files where ${withIdInJob(id, tenantId, jobId)}`);
    if (deleted.rowCount === 0) throw inferenceFileNotFound();
    await recount(tx, tenantId, jobId);
  });
}

async function recount(tx: Db, tenantId: string, jobId: string): Promise<void> {
  await tx.query(sql.fragment`
    update inference_jobs set total_files = (
      select count(*) from inference_files
      where tenant_id = ${tenantId} and inference_job_id = ${jobId} and status = 'queued'
    ) where tenant_id = ${tenantId} and id = ${jobId}`);
}

/** Locks the job, so that nobody starts it until the transaction ends. Rejects unless it waits for its start. */
async function lockUnstarted(tx: Db, tenantId: string, jobId: string): Promise<void> {
  const job = await tx
    .expecting(inferenceJobNotFound)
    .one(sql.type(z.object({ status: z.string(), waiting: z.boolean() }))`
    select status, status = 'pending' and start_requested_at is null as waiting
    from inference_jobs where tenant_id = ${tenantId} and id = ${jobId} for update`);
  if (job.status === "cancelled") throw jobFinished(job.status);
  if (!job.waiting) throw jobStarted();
}
