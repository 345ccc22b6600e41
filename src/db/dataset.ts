// Datasets. Every function takes the tenant and treats datasets of other tenants as not found. Called by src/api/routes
// and by the insert functions of jobs.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import {
  annotationSetCopying,
  artifactTypeInUse,
  datasetInUse,
  datasetNotFound,
  quotaExceeded,
} from "../errors.ts";
import { dataset } from "../schemas/dataset.ts";
import { rowsPerRequest } from "./annotation-copy.ts";
import { isUnmarkedExpired } from "./audio-file.ts";
import { deletePiece, seeDeleted } from "./deletion.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { newId } from "./driver/id.ts";
import { contains, type Db, fits, type PageRequest, selectPage } from "./driver/page.ts";
import { type AudioQuota, requireBelowQuota, requireBytes } from "./quota.ts";

const artifactTypes = z.array(
  z.object({ name: z.string(), description: z.string().nullable().default(null) }),
);

const row = rowOf(dataset, { artifact_types: artifactTypes });

export type DatasetRow = z.infer<typeof row>;
export type ArtifactTypes = z.input<typeof artifactTypes>;

const columns = columnsOf(
  row.omit({ audio_file_count: true, total_duration_ms: true, embedded_audio_file_count: true }),
);
/**
 * The numbers of the rows that are called `lines`. Triggers keep them (migration 0024); the duration and the number of
 * embedded files are those of files that training can use.
 */
const counts = {
  columns: sql.fragment`coalesce(u.audio_files, 0) - (
      select count(*) from audio_files f
      where f.tenant_id = lines.tenant_id and f.dataset_id = lines.id and ${isUnmarkedExpired}
    ) as audio_file_count,
    coalesce(u.usable_ms, 0) as total_duration_ms, coalesce(u.usable_files, 0) as embedded_audio_file_count`,
  join: sql.fragment`left join dataset_usage u on u.tenant_id = lines.tenant_id and u.dataset_id = lines.id`,
};

/** Returns one page of the tenant's datasets, newest first. */
export async function listDatasets(db: Db, tenantId: string, query: PageRequest & { name?: string }) {
  const from = sql.fragment`datasets where ${fits({ tenant_id: tenantId }, contains(sql.fragment`name`, query.name))}`;
  return await selectPage(db, row, { columns, from, extra: counts }, query);
}

/** Returns the dataset; rejects with datasetNotFound. */
export async function oneDataset(db: Db, tenantId: string, id: string): Promise<DatasetRow> {
  return await db.expecting(datasetNotFound).one(sql.type(row)`
    select lines.*, ${counts.columns}
    from (select ${columns} from datasets where tenant_id = ${tenantId} and id = ${id}) lines ${counts.join}`);
}

const named = z.object({ id: z.string(), name: z.string(), artifact_types: artifactTypes });

/** Returns name and types without counting files; rejects with datasetNotFound. `lock`: a locking clause. */
export const oneNamed = (db: Db, tenantId: string, id: string, lock = sql.fragment``) =>
  db.expecting(datasetNotFound).one(sql.type(named)`
    select id, name, artifact_types from datasets where tenant_id = ${tenantId} and id = ${id} ${lock}`);

/**
 * Returns name and types; rejects with datasetNotFound. Until the transaction ends the dataset is not deleted and loses no
 * types: updateDataset locks the row for update, which conflicts with this key share lock.
 */
export const oneDatasetForShare = (tx: Db, tenantId: string, id: string) =>
  oneNamed(tx, tenantId, id, sql.fragment`for key share`);

/** Locks the dataset against changes by others until the transaction ends, and returns it as oneDatasetForShare does. */
export const lockDataset = (tx: Db, tenantId: string, id: string) =>
  oneNamed(tx, tenantId, id, sql.fragment`for update`);

/**
 * Returns the names of the dataset's types and locks them until the transaction ends. With `forChange` the caller may
 * change them; without it others may lock them too. Rejects with datasetNotFound.
 */
export async function lockTypes(
  db: Db,
  tenantId: string,
  id: string,
  forChange: boolean,
): Promise<readonly string[]> {
  const lock = forChange ? sql.fragment`for no key update` : sql.fragment`for share`;
  return (await oneNamed(db, tenantId, id, lock)).artifact_types.map((type) => type.name);
}

/** Adds types to the dataset. The caller holds the lock of lockTypes. */
export async function addTypes(
  db: Db,
  tenantId: string,
  id: string,
  names: readonly string[],
): Promise<void> {
  const types = stored(names.map((name) => ({ name })));
  await db.query(sql.fragment`
    update datasets set artifact_types = artifact_types || ${sql.jsonb(types)}, updated_at = now()
    where tenant_id = ${tenantId} and id = ${id}`);
}

/** Rejects with datasetNotFound unless the dataset exists and belongs to the tenant. */
export async function requireDataset(db: Db, tenantId: string, id: string): Promise<void> {
  const exists = await db.exists(sql.fragment`
    select from datasets where tenant_id = ${tenantId} and id = ${id}`);
  if (!exists) throw datasetNotFound();
}

/**
 * Locks the datasets of files against deletion. `audioFileIds`: a query for the ids of the files. Lock order, as in deleteDataset:
 * datasets before their files.
 */
export async function protectDatasetsOf(
  tx: Db,
  tenantId: string,
  audioFileIds: FragmentSqlToken,
): Promise<void> {
  await tx.query(sql.fragment`
    select id from datasets
    where tenant_id = ${tenantId} and id in (
      select dataset_id from audio_files
      where tenant_id = ${tenantId} and id in (${audioFileIds}))
    order by id for key share`);
}

const audioRoom = z.object({ audio_files: z.number(), audio_bytes: z.number(), unconfirmed: z.number() });

/** Files of a tenant without audio: each may have 37 KB of metadata, and no quota counts those that have expired. */
export const maxUnconfirmed = 10_000;

/** The number of a tenant's files with the status; counts no further than maxUnconfirmed. */
const countAudio = (tenantId: string, status: "pending_upload" | "expired") => sql.fragment`(
  select count(*) from (
    select from audio_files where tenant_id = ${tenantId} and status = ${sql.literalValue(status)} limit ${maxUnconfirmed}) f)`;

/** Rejects with datasetNotFound, or with quotaExceeded when the files would exceed the quota of dataset or tenant. */
export async function requireAudioRoom(
  db: Db,
  tenantId: string,
  id: string,
  files: readonly { readonly size_bytes: number }[],
  quota: AudioQuota,
): Promise<void> {
  const present = await db.expecting(datasetNotFound).one(sql.type(audioRoom)`
    select coalesce(u.audio_files, 0) as audio_files, coalesce(t.audio_bytes, 0) as audio_bytes,
      ${countAudio(tenantId, "pending_upload")} + ${countAudio(tenantId, "expired")} as unconfirmed
    from datasets d
    left join dataset_usage u on u.tenant_id = d.tenant_id and u.dataset_id = d.id
    left join tenant_usage t on t.tenant_id = d.tenant_id
    where d.tenant_id = ${tenantId} and d.id = ${id}`);
  if (quota.maxFiles > 0 && present.audio_files + files.length > quota.maxFiles)
    throw quotaExceeded(`A dataset has at most ${quota.maxFiles} audio files; it has ${present.audio_files}`);
  if (present.unconfirmed + files.length > maxUnconfirmed)
    throw quotaExceeded(
      `An account has at most ${maxUnconfirmed} audio files whose upload is not confirmed; confirm or delete some. Expired ones are deleted after a day`,
    );
  requireBytes(present.audio_bytes, sizeOf(files), quota);
}

const sizeOf = (files: readonly { readonly size_bytes: number }[]) =>
  files.reduce((sum, file) => sum + file.size_bytes, 0);

/**
 * Adds a dataset and returns it; rejects with quotaExceeded when the tenant has `max` datasets already (0: no limit).
 */
export async function insertDataset(
  db: Db,
  tenantId: string,
  dataset: { name: string; description: string | null; artifactTypes: ArtifactTypes },
  max = 0,
): Promise<DatasetRow> {
  return await db.transaction(async (tx) => {
    await requireBelowQuota(tx, "datasets", tenantId, max, () =>
      quotaExceeded(`An account has at most ${max} datasets; delete one first`),
    );
    return await tx.one(sql.type(row)`
      insert into datasets (id, tenant_id, name, description, artifact_types)
      values (${newId()}, ${tenantId}, ${dataset.name}, ${dataset.description}, ${sql.jsonb(stored(dataset.artifactTypes))})
      returning ${columns}, 0 as audio_file_count, 0 as total_duration_ms, 0 as embedded_audio_file_count`);
  });
}

/**
 * Changes the given members. Rejects with artifactTypeInUse when annotations use a type that would be removed, or with
 * annotationSetCopying while detections are copied into a set of the dataset.
 */
export async function updateDataset(
  db: Db,
  tenantId: string,
  id: string,
  change: { name?: string; description?: string | null; artifact_types?: ArtifactTypes },
): Promise<DatasetRow> {
  return await db.transaction(async (tx) => {
    const locked = await lockDataset(tx, tenantId, id);
    const kept = change.artifact_types?.map((type) => type.name);
    const removed = locked.artifact_types
      .map((type) => type.name)
      .filter((name) => kept?.includes(name) === false);
    if (removed.length > 0) await refuseUsedTypes(tx, tenantId, id, removed);
    await tx.query(sql.fragment`
      update datasets set
        name = coalesce(${change.name ?? null}, name),
        description = case when ${change.description !== undefined} then ${change.description ?? null} else description end,
        artifact_types = ${change.artifact_types === undefined ? sql.fragment`artifact_types` : sql.jsonb(stored(change.artifact_types))},
        updated_at = now()
      where tenant_id = ${tenantId} and id = ${id}`);
    return await oneDataset(tx, tenantId, id);
  });
}

/**
 * Deletes the dataset with its audio, sets and annotations; a large one disappears at once and is deleted in the background.
 * Rejects with datasetInUse while a job uses it.
 */
export async function deleteDataset(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    // Lock order of every writer of annotations: the sets, then the dataset.
    await tx.query(sql.fragment`
      select id from annotation_sets where tenant_id = ${tenantId} and dataset_id = ${id} order by id for update`);
    await lockDataset(tx, tenantId, id);
    const running = await tx.oneFirst(sql.type(z.object({ count: z.number() }))`
      select (select count(*) from training_jobs where tenant_id = ${tenantId} and dataset_id = ${id}
          and status in ('pending', 'queued', 'running', 'cancelling'))
        + (select count(distinct j.id) from inference_jobs j
            join inference_files f on f.tenant_id = j.tenant_id and f.inference_job_id = j.id
            join audio_files a on a.tenant_id = f.tenant_id and a.id = f.audio_file_id
          where j.tenant_id = ${tenantId} and a.dataset_id = ${id}
            and j.status in ('pending', 'queued', 'running', 'cancelling')) as count`);
    if (running > 0)
      throw datasetInUse(`${running} unfinished jobs use the dataset; cancel them or wait for them`);
    await seeDeleted(tx);
    await tx.query(sql.fragment`
      update datasets set deleted_at = now() where tenant_id = ${tenantId} and id = ${id}`);
    // A trigger lets published sets of a deleted dataset become drafts (migration 0022): their labels can be deleted then.
    const sets = await tx.any(sql.type(z.object({ id: z.string(), annotation_count: z.number() }))`
      update annotation_sets set status = 'draft', deleted_at = coalesce(deleted_at, now()), copying = null
      where tenant_id = ${tenantId} and dataset_id = ${id} returning id, annotation_count`);
    const found = await tx.maybeOneFirst(sql.type(z.object({ audio_files: z.number() }))`
      select audio_files from dataset_usage where tenant_id = ${tenantId} and dataset_id = ${id}`);
    const files = found ?? 0;
    // A set takes as long as a hundred annotations, and each file may be a reviewed file of each set.
    if (sets.reduce((sum, set) => sum + set.annotation_count + files + 100, files) > rowsPerRequest) return;
    for (const set of sets) while (!(await deletePiece(tx, "annotation_set", tenantId, set.id)));
    while (!(await deletePiece(tx, "dataset", tenantId, id)));
  });
}

async function refuseUsedTypes(db: Db, tenantId: string, id: string, names: string[]): Promise<void> {
  // The statistics of the sets, which triggers keep: the labels of a dataset can be millions.
  const used = await db.anyFirst(sql.type(z.object({ artifact_type: z.string() }))`
    select distinct by_type.key as artifact_type
    from annotation_sets s cross join lateral jsonb_each_text(s.annotations_by_type) by_type
    where s.tenant_id = ${tenantId} and s.dataset_id = ${id} and by_type.value::bigint > 0
      and by_type.key = any(${sql.array(names, "text")})
    order by 1`);
  if (used.length > 0)
    throw artifactTypeInUse(`Annotations of the dataset use these types: ${used.join(", ")}`);
  // Detections that are still to be copied into a draft are in no statistics yet.
  const isToBeUsed = await db.exists(sql.fragment`
    select from annotation_sets s
    join detections d on d.tenant_id = s.tenant_id and d.inference_job_id = (s.copying ->> 'inference_job_id')::uuid
    where s.tenant_id = ${tenantId} and s.dataset_id = ${id} and s.copying is not null
      and d.artifact_type = any(${sql.array(names, "text")})`);
  if (isToBeUsed) throw annotationSetCopying();
}

/** Fills in absent members with null, so that the stored jsonb has a fixed shape. */
function stored(types: ArtifactTypes): { name: string; description: string | null }[] {
  return types.map(({ name, description }) => ({ name, description: description ?? null }));
}
