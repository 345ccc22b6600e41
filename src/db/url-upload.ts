// Files that the service fetches from a URL: the rows that wait, and their outcomes (docs/adr/0021-uploads-from-urls.md).
// Called by src/api/routes/audio-from-url.ts, src/api/upload-routes.ts and src/uploads/fetches.ts.
import { sql } from "slonik";
import { z } from "zod";
import { quotaExceeded, requestInProgress } from "../errors.ts";
import { type AudioFileRow, insertAudioFiles, type NewUpload } from "./audio-file.ts";
import { columnsOf } from "./driver/fields.ts";
import type { Db } from "./driver/page.ts";
import { type Announced, announced, pending } from "./upload.ts";

const seconds = (ms: number) => sql.fragment`make_interval(secs => ${ms / 1000}::double precision)`;

/** Files of a tenant that may wait for their fetch. */
const maxWaiting = 1_000;

/** Adds an audio file that the service will fetch. Rejects with datasetNotFound or quotaExceeded. */
export async function insertUrlUpload(
  db: Db,
  tenantId: string,
  datasetId: string,
  upload: Omit<NewUpload, "size_bytes">,
  from: { url: Buffer; host: string },
  lifetimeSeconds: number,
): Promise<AudioFileRow> {
  return await db.transaction(async (tx) => {
    const files = [{ ...upload, size_bytes: 0 }];
    const [made] = await insertAudioFiles(tx, tenantId, datasetId, files, lifetimeSeconds);
    const added = await tx.query(sql.fragment`
      insert into url_uploads (tenant_id, audio_file_id, url, host)
      select ${tenantId}, ${upload.id}, ${sql.binary(from.url)}, ${from.host}
      where (select count(*) from url_uploads where tenant_id = ${tenantId}) < ${maxWaiting}::bigint`);
    if (added.rowCount === 0)
      throw quotaExceeded(
        `An account has at most ${maxWaiting} files that wait to be fetched from their URLs`,
      );
    return made!;
  });
}

/** Rejects with requestInProgress while the service fetches the file: a client cannot upload it too. */
export async function requireNoFetch(db: Db, tenantId: string, id: string): Promise<void> {
  const isWaiting = await db.exists(sql.fragment`
    select from url_uploads where tenant_id = ${tenantId} and audio_file_id = ${id}`);
  if (isWaiting) throw requestInProgress("The service is fetching the file from its URL");
}

const claimed = z.object({
  tenant_id: z.string(),
  audio_file_id: z.string(),
  url: z.instanceof(Buffer),
  attempt: z.number(),
});
export type ClaimedUpload = z.infer<typeof claimed>;

export interface FetchLimits {
  /** In all processes together. */
  readonly total: number;
  readonly tenant: number;
  readonly host: number;
}

/** Takes files that are due. If a process does not renew its lease, its files are due again. */
export const claimUrlUploads = (db: Db, { total, tenant, host }: FetchLimits, leaseMs: number) =>
  db.any(sql.type(claimed)`
    select tenant_id, audio_file_id, url, attempt
    from claim_url_uploads(${seconds(leaseMs)}, ${total}, ${tenant}, ${host})`);

/** A condition for the attempt: false when another process has claimed the file since, or it is deleted. */
const isMine = ({ tenant_id, audio_file_id, attempt }: ClaimedUpload) => sql.fragment`
  tenant_id = ${tenant_id} and audio_file_id = ${audio_file_id} and attempts = ${attempt}`;

/** Renews the lease. Returns false if the attempt has lost it or the file is deleted. */
export async function renewUrlUpload(db: Db, upload: ClaimedUpload, leaseMs: number): Promise<boolean> {
  const renewed = await db.query(sql.fragment`
    update url_uploads set leased_until = now() + ${seconds(leaseMs)} where ${isMine(upload)}`);
  return renewed.rowCount === 1;
}

/** Returns the file if it still waits; null if it is deleted, expired or confirmed. */
export async function maybeOneWaiting(db: Db, upload: ClaimedUpload): Promise<Announced | null> {
  return await db.maybeOne(sql.type(announced)`
    select ${columnsOf(announced)} from audio_files where ${pending(upload.tenant_id, upload.audio_file_id)}`);
}

/** Sets size and type of the fetched file, which counts against the quota from now on. */
export async function setFetched(
  db: Db,
  upload: ClaimedUpload,
  fetched: { size_bytes: number; content_type: string },
): Promise<void> {
  await db.query(sql.fragment`
    update audio_files set size_bytes = ${fetched.size_bytes}, content_type = ${fetched.content_type}, updated_at = now()
    where tenant_id = ${upload.tenant_id} and id = ${upload.audio_file_id} and status = 'pending_upload'`);
}

/** Ends the fetch of a file that is confirmed or does not wait any more. */
export async function deleteUrlUpload(db: Db, upload: ClaimedUpload): Promise<void> {
  await db.query(sql.fragment`delete from url_uploads where ${isMine(upload)}`);
}

/** Makes the file due again after a pause, and shows the reason in its record. Without a reason the attempt does not count. */
export async function postponeFetch(
  db: Db,
  upload: ClaimedUpload,
  pauseMs: number,
  reason: string | null,
): Promise<void> {
  await db.query(sql.fragment`
    with postponed as (
      update url_uploads set leased_until = null, try_at = now() + ${seconds(pauseMs)},
        attempts = attempts - ${reason === null ? 1 : 0}
      where ${isMine(upload)} returning audio_file_id
    )
    update audio_files set error_message = ${reason}, updated_at = now()
    where tenant_id = ${upload.tenant_id} and id in (select audio_file_id from postponed)
      and status = 'pending_upload' and ${reason !== null}`);
}

/** Ends the fetch with a reason that the file's owner sees. */
export async function failFetch(db: Db, upload: ClaimedUpload, reason: string): Promise<void> {
  await db.query(sql.fragment`
    with ended as (delete from url_uploads where ${isMine(upload)} returning audio_file_id)
    update audio_files set status = 'failed', embedding_status = 'failed', error_message = ${reason}, size_bytes = 0,
      updated_at = now()
    where tenant_id = ${upload.tenant_id} and id in (select audio_file_id from ended) and status = 'pending_upload'`);
}
