// Audio files of datasets: upload ticket, confirm, changes and deletion. The operator makes the transitions after
// confirm (ingest.ts). Called by src/api.
import { sql } from "slonik";
import { z } from "zod";
import { annotationSetCopying, audioFileNotFound, audioInUse, datasetNotFound } from "../errors.ts";
import {
  audioFile,
  type listAudioQuery,
  type updateAudioFileBody,
  type uploadBody,
} from "../schemas/audio-file.ts";
import { deleteAnnotationsOfAudio, hasManyLabels, mostLabelsOfAudio, seeDeleted } from "./deletion.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import {
  contains,
  type Db,
  fits,
  inOrder,
  type ListRequest,
  type Page,
  selectPage,
  withId,
} from "./driver/page.ts";

const audioFileRow = rowOf(audioFile, {
  tenant_id: z.string(),
  peaks_key: z.string().nullable(),
  multipart_id: z.string().nullable(),
});
export type AudioFileRow = z.infer<typeof audioFileRow>;

/** An upload that was not confirmed in time counts as expired before a sweep marks it so. */
export const isUnmarkedExpired = sql.fragment`status = 'pending_upload' and upload_expires_at <= now()`;
const present = sql.fragment`case when ${isUnmarkedExpired} then 'expired' else status end`;
const columns = columnsOf(audioFileRow, { status: present });

/**
 * A condition for files that belong to the dataset. Expired uploads do not, but can be read until a sweep deletes them.
 */
const visibleAudio = sql.fragment`${present} <> 'expired'`;
/** Whether the dataset exists: the files of a deleted one are deleted in the background. */
const isOfDataset = (tenantId: string, datasetId: string) => sql.fragment`exists (
  select from datasets d where d.tenant_id = ${tenantId} and d.id = ${datasetId} and d.deleted_at is null)`;
/** A condition for one file. */
const thisFile = (tenantId: string, datasetId: string, id: string) => sql.fragment`
  ${withId(id, { tenant_id: tenantId, dataset_id: datasetId })} and ${isOfDataset(tenantId, datasetId)}`;
/** The number of a dataset's files: triggers keep that of those that have not expired (migration 0024). */
const countFiles = (tenantId: string, datasetId: string) => sql.fragment`
  select coalesce((select u.audio_files from dataset_usage u
    where u.tenant_id = ${tenantId} and u.dataset_id = ${datasetId}), 0)
  + (select count(*) from audio_files
    where tenant_id = ${tenantId} and dataset_id = ${datasetId} and status = 'expired')`;
/** A condition for files whose upload is confirmed. */
const uploaded = sql.fragment`uploaded_at is not null`;

export type NewUpload = Omit<z.infer<typeof uploadBody>, "content_type"> &
  Readonly<Record<"id" | "content_type", string>>;

/**
 * Adds files that wait for their upload and returns them in the given order. The upload expires after
 * `lifetimeSeconds`. Rejects with datasetNotFound, also when the dataset is deleted at the same moment.
 */
export async function insertAudioFiles(
  db: Db,
  tenantId: string,
  datasetId: string,
  uploads: readonly NewUpload[],
  lifetimeSeconds: number,
): Promise<readonly AudioFileRow[]> {
  const rows = await db.any(sql.type(audioFileRow)`
    with place as (
      select id as place_id from datasets where tenant_id = ${tenantId} and id = ${datasetId} for key share
    )
    insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, checksum_sha256, metadata,
      upload_expires_at)
    select id, ${tenantId}, place_id, filename, content_type, size_bytes, checksum_sha256, coalesce(metadata, '{}'),
      now() + make_interval(secs => ${lifetimeSeconds}::double precision)
    from jsonb_to_recordset(${sql.jsonb(uploads as never)}) as upload (id uuid, filename text, content_type text,
      size_bytes bigint, checksum_sha256 text, metadata jsonb), place
    returning ${columns}`);
  if (rows.length === 0) throw datasetNotFound();
  const ids = uploads.map((upload) => upload.id);
  return inOrder(rows, ids, audioFileNotFound);
}

/** Returns one page of a dataset's files, newest first. */
export async function listAudioFiles(
  db: Db,
  tenantId: string,
  datasetId: string,
  query: ListRequest<typeof listAudioQuery>,
): Promise<Page<AudioFileRow>> {
  const { status, embedding_status, filename } = query;
  const condition = fits(
    { tenant_id: tenantId, dataset_id: datasetId, embedding_status },
    status === undefined ? undefined : sql.fragment`${present} = ${status}`,
    contains(sql.fragment`filename`, filename),
  );
  const from = sql.fragment`audio_files where ${condition}`;
  const isWhole = (status ?? embedding_status ?? filename) === undefined;
  const total = isWhole ? countFiles(tenantId, datasetId) : undefined;
  return await selectPage(db, audioFileRow, { columns, from, total }, query);
}

/** Returns the file; rejects with audioFileNotFound. */
export const oneAudioFile = (db: Db, tenantId: string, datasetId: string, id: string) =>
  db.expecting(audioFileNotFound).one(sql.type(audioFileRow)`
    select ${columns} from audio_files where ${thisFile(tenantId, datasetId, id)}`);

/** Returns the files in the order of `ids`; rejects with audioFileNotFound when one is missing. */
export async function manyAudioFiles(db: Db, tenantId: string, datasetId: string, ids: readonly string[]) {
  const rows = await db.any(sql.type(audioFileRow)`
    select ${columns} from audio_files
    where ${withId(ids, { tenant_id: tenantId, dataset_id: datasetId })}
      and ${visibleAudio} and ${isOfDataset(tenantId, datasetId)}`);
  return inOrder(rows, ids, audioFileNotFound);
}

/**
 * Locks the file against changes by others until the transaction ends; rejects with audioFileNotFound. Writers of its
 * annotations, whose foreign key needs a key share lock, are not blocked.
 */
export async function lockAudioFile(db: Db, tenantId: string, datasetId: string, id: string): Promise<void> {
  await db.expecting(audioFileNotFound).one(sql.type(z.object({ id: z.string() }))`
    select id from audio_files where ${thisFile(tenantId, datasetId, id)} for no key update`);
}

export interface ConfirmedAudio {
  readonly checksumSha256: string | null;
  readonly durationMs: number | null;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly codec: string;
}

/**
 * Marks the upload as confirmed, so that the operator embeds the file. No effect unless the file waits for its upload.
 */
export async function markUploaded(
  db: Db,
  tenantId: string,
  id: string,
  audio: ConfirmedAudio,
): Promise<void> {
  await db.query(sql.fragment`
    update audio_files set status = 'processing', embedding_status = 'pending', uploaded_at = now(),
      updated_at = now(), checksum_sha256 = coalesce(${audio.checksumSha256}, checksum_sha256),
      duration_ms = ${audio.durationMs}, sample_rate_hz = ${audio.sampleRateHz}, channels = ${audio.channels},
      codec = ${audio.codec}, error_message = null
    where tenant_id = ${tenantId} and id = ${id} and status = 'pending_upload'`);
}

/** Changes the given members; rejects with audioFileNotFound. */
export async function updateAudioFile(
  db: Db,
  tenantId: string,
  datasetId: string,
  id: string,
  change: z.infer<typeof updateAudioFileBody>,
): Promise<AudioFileRow> {
  const metadata =
    change.metadata === undefined
      ? sql.fragment`metadata`
      : sql.fragment`${sql.jsonb({ ...change.metadata })}`;
  return await db.expecting(audioFileNotFound).one(sql.type(audioFileRow)`
    update audio_files set filename = coalesce(${change.filename ?? null}, filename), metadata = ${metadata},
      updated_at = now()
    where ${thisFile(tenantId, datasetId, id)}
    returning ${columns}`);
}

/**
 * Deletes the file and its labels in drafts; the purge queue deletes its objects later. Rejects with audioInUse while a
 * published set labels it, an unfinished job uses it or drafts have too many labels of it, or with annotationSetCopying
 * while annotations of the dataset are being copied.
 */
export async function deleteAudioFile(
  db: Db,
  tenantId: string,
  datasetId: string,
  id: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    // Sets that are being deleted in the background have labels of the file too.
    await seeDeleted(tx);
    // Lock order of every writer of annotations: the sets before the file. Not a share lock: two transactions that
    // share it and then increment the revision would deadlock.
    const sets = await tx.any(sql.type(z.object({ copied: z.boolean() }))`
      select copying is not null or copies_from > 0 as copied from annotation_sets
      where tenant_id = ${tenantId} and dataset_id = ${datasetId} order by id for no key update`);
    await tx.expecting(audioFileNotFound).one(sql.type(z.object({ id: z.string() }))`
      select id from audio_files where ${thisFile(tenantId, datasetId, id)} for update`);
    if (sets.some((set) => set.copied)) throw annotationSetCopying();
    const use = await tx.one(sql.type(z.object({ published: z.boolean(), jobs: z.boolean() }))`
      select exists (
          -- One look-up for each set. A join could read all labels of the file.
          select from annotation_sets s cross join lateral (
            select from annotations a
            where a.tenant_id = ${tenantId} and a.annotation_set_id = s.id and a.audio_file_id = ${id} limit 1) label
          where s.tenant_id = ${tenantId} and s.dataset_id = ${datasetId} and s.status = 'published'
        ) or exists (
          select from reviewed_files r join annotation_sets s on s.id = r.annotation_set_id
          where r.tenant_id = ${tenantId} and r.dataset_id = ${datasetId} and r.audio_file_id = ${id}
            and s.status = 'published'
        ) as published,
        exists (
          select from training_job_files f join training_jobs j on j.id = f.training_job_id
          where j.tenant_id = ${tenantId} and f.audio_file_id = ${id}
            and j.status in ('pending', 'queued', 'running', 'cancelling')
        ) or exists (
          select from inference_files f join inference_jobs j on j.id = f.inference_job_id
          where f.tenant_id = ${tenantId} and f.audio_file_id = ${id}
            and j.status in ('pending', 'queued', 'running', 'cancelling')
        ) as jobs`);
    if (use.published)
      throw audioInUse("A published annotation set labels the audio file or names it as reviewed");
    if (use.jobs) throw audioInUse("An unfinished job uses the audio file");
    if (await hasManyLabels(tx, tenantId, datasetId, id))
      throw audioInUse(
        `Drafts have more than ${mostLabelsOfAudio} labels of the audio file; delete drafts or such labels first, and wait until the service has removed deleted drafts`,
      );
    await tx.query(sql.fragment`
      update annotation_sets set revision = revision + 1
      where tenant_id = ${tenantId} and dataset_id = ${datasetId} and id in (
        select annotation_set_id from annotations
        where tenant_id = ${tenantId} and dataset_id = ${datasetId} and audio_file_id = ${id}
        union all
        select annotation_set_id from reviewed_files
        where tenant_id = ${tenantId} and dataset_id = ${datasetId} and audio_file_id = ${id})`);
    await deleteAnnotationsOfAudio(tx, tenantId, datasetId, id);
    await tx.query(sql.fragment`delete from audio_files where tenant_id = ${tenantId} and id = ${id}`);
  });
}

const length = z.object({ id: z.string(), duration_ms: z.number().nullable(), uploaded: z.boolean() });

/**
 * Returns those of the ids that are files of the dataset, with their durations in ms. A duration is null if the header
 * does not state it and the file is not decoded yet. Locks the files against deletion until the transaction ends.
 */
export async function lengthsOfAudio(
  db: Db,
  tenantId: string,
  datasetId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number | null | "not uploaded">> {
  const rows = await db.any(sql.type(length)`
    select id, duration_ms, ${uploaded} as uploaded from audio_files
    where ${withId(ids, { tenant_id: tenantId, dataset_id: datasetId })} for key share`);
  return new Map(rows.map((row) => [row.id, row.uploaded ? row.duration_ms : "not uploaded"]));
}

const candidate = z.object({ id: z.string(), filename: z.string(), duration_ms: z.number().nullable() });
export type AudioCandidate = z.infer<typeof candidate>;

/**
 * Finds confirmed files of the dataset by id, and at most two of each name, and locks them against deletion until the transaction
 * ends.
 */
export async function findAudioFiles(
  db: Db,
  tenantId: string,
  datasetId: string,
  ids: readonly string[],
  filenames: readonly string[],
): Promise<readonly AudioCandidate[]> {
  return await db.any(sql.type(candidate)`
    select id, filename, duration_ms from audio_files
    where id = any(array(
        select unnest(${sql.array([...ids], "uuid")})
        union all
        select found.id from unnest(${sql.array([...filenames], "text")}) as wanted (filename)
        -- The comparison of pairs fits the index of names alone, and the limit keeps this a look-up for each name.
        cross join lateral (
          select id from audio_files
          where tenant_id = ${tenantId} and ${uploaded}
            and (filename, dataset_id) between (wanted.filename, ${datasetId}::uuid) and (wanted.filename, ${datasetId}::uuid)
          limit 2
        ) found))
      and (tenant_id = ${tenantId} and dataset_id = ${datasetId}) is true and ${uploaded}
    order by id for key share`);
}

/** Returns those of the ids that are files of the dataset, with their names. */
export async function namesOfAudio(db: Db, tenantId: string, datasetId: string, ids: readonly string[]) {
  const rows = await db.any(sql.type(z.object({ id: z.string(), filename: z.string() }))`
    select id, filename from audio_files
    where ${withId(ids, { tenant_id: tenantId, dataset_id: datasetId })}`);
  return new Map(rows.map((row) => [row.id, row.filename]));
}
