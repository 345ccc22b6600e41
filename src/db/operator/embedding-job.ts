// Gathers confirmed audio files into embedding jobs: one job for a tenant's consecutive uploads, not one per file.
// Called by controllers/sweep.ts on the leader, by controllers/embedding-job for adoption, and by plosive-admin.
import { sql } from "slonik";
import { z } from "zod";
import { noFiles } from "../../errors.ts";
import { maxFilesPerShard, requireShards } from "../adoption.ts";
import type { Db } from "../driver/page.ts";
import type { AppliedResource } from "../quota.ts";

export type GatherOptions = {
  /** Runs the jobs. */
  installation: string;
  quietSeconds: number;
  longestWaitSeconds: number;
  filesPerShard: number;
  maxShards: number;
};

/** Conditions for files that wait for embedding. Each matches the condition of a partial index. */
const isNew = sql.fragment`(status = 'processing' and embedding_job_id is null)`;
const isToRenew = sql.fragment`(status = 'ready' and embedding_status = 'pending')`;
const isWaiting = sql.fragment`(${isNew} or ${isToRenew})`;

/**
 * Adds the embedding jobs that are due, each in its own transaction, and returns their ids. New uploads and renewals
 * get separate jobs, so that renewals do not delay uploads. A tenant has one renewal job at a time in each installation: one
 * that is gone must not keep the others from their work.
 */
export async function gatherEmbeddingJobs(
  db: Db,
  options: GatherOptions,
  newId: () => string,
): Promise<string[]> {
  const withUploads = sql.fragment`
    select tenant_id from audio_files where ${isNew} group by tenant_id
    having max(uploaded_at) < now() - make_interval(secs => ${options.quietSeconds}::double precision)
        or min(uploaded_at) < now() - make_interval(secs => ${options.longestWaitSeconds}::double precision)`;
  const withRenewals = sql.fragment`
    select distinct tenant_id from audio_files where ${isToRenew} and not exists (
      select from embedding_jobs j join audio_files f on f.embedding_job_id = j.id
      where j.tenant_id = audio_files.tenant_id and j.installation = ${options.installation}
        and j.status in ('pending', 'queued', 'running', 'cancelling')
        and f.status = 'ready' and f.embedding_status = 'processing')`;
  const made: string[] = [];
  const due = [[isNew, withUploads] as const, [isToRenew, withRenewals] as const];
  for (const [which, tenants] of due)
    for (const tenant of await db.anyFirst(sql.type(z.object({ tenant_id: z.string() }))`${tenants}`)) {
      const id = await db.transaction((tx) => gatherFor(tx, tenant, which, newId(), options));
      if (id !== null) made.push(id);
    }
  return made;
}

async function gatherFor(
  tx: Db,
  tenant: string,
  which: typeof isWaiting,
  id: string,
  options: GatherOptions,
): Promise<string | null> {
  const { installation, filesPerShard, maxShards } = options;
  const files = await lockWaitingFiles(tx, tenant, which, filesPerShard * maxShards);
  if (files.length === 0) return null;
  const shardCount = Math.ceil(files.length / filesPerShard);
  await tx.query(sql.fragment`
    insert into embedding_jobs (id, tenant_id, installation, shard_count)
    values (${id}, ${tenant}, ${installation}, ${shardCount})`);
  await assignFiles(tx, id, files, (index) => Math.floor(index / filesPerShard));
  return id;
}

/**
 * Adds the row of an adopted custom resource, with the tenant's files that wait now. Rejects with noFiles when none
 * waits, with validationFailed when the shards do not fit the number of files.
 */
export async function insertEmbeddingJob(
  db: Db,
  installation: string,
  tenant: string,
  shards: number,
  resource: AppliedResource,
): Promise<void> {
  await db.transaction(async (tx) => {
    const files = await lockWaitingFiles(tx, tenant, isWaiting, shards * maxFilesPerShard);
    if (files.length === 0) throw noFiles("The tenant has no confirmed audio files that wait for embedding");
    requireShards(shards, files.length);
    await tx.query(sql.fragment`
      insert into embedding_jobs (id, tenant_id, installation, shard_count, resource_name, submitted_at)
      values (${resource.uid}, ${tenant}, ${installation}, ${shards}, ${resource.name}, now())`);
    await assignFiles(tx, resource.uid, files, (index) => Math.floor((index * shards) / files.length));
  });
}

/**
 * Locks waiting files: new uploads first, oldest first. Skips files that another transaction holds, which the next job
 * gets, and files of deleted datasets.
 */
const lockWaitingFiles = (tx: Db, tenant: string, which: typeof isWaiting, limit: number) =>
  tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from audio_files
    where tenant_id = ${tenant} and ${which}
      and exists (select from datasets d where d.tenant_id = ${tenant} and d.id = audio_files.dataset_id)
    order by status = 'ready', uploaded_at, id limit ${limit} for update skip locked`);

const datasetRow = z.object({ tenant: z.string(), dataset: z.string() });
const againRow = z.object({ files: z.number(), left_alone: z.number() });

/** Returns the current time by the database's clock, which also sets created_at of embedding jobs. RFC 3339 in UTC. */
export async function presentTime(db: Pick<Db, "oneFirst">): Promise<string> {
  return await db.oneFirst(sql.type(z.object({ now: z.string() }))`
    select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`);
}

/**
 * Returns datasets of one tenant, or of all, with files whose embeddings are older than `before`. For plosive-admin.
 */
export async function manyDatasetsEmbeddedBefore(
  db: Pick<Db, "any">,
  tenant: string | null,
  before: string,
): Promise<readonly z.infer<typeof datasetRow>[]> {
  return await db.any(sql.type(datasetRow)`
    select * from datasets_embedded_before(${tenant}::uuid, ${before}::timestamptz)`);
}

/**
 * Marks the files of a dataset that were embedded before `before` for a new embedding; labels stay. Returns how many,
 * and how many were skipped (`left_alone`) because a training job reads them. For plosive-admin: its role may call this
 * database function but cannot read files.
 */
export const renewEmbeddings = (db: Pick<Db, "one">, dataset: string, before: string) =>
  db.one(sql.type(againRow)`select * from embed_again(${dataset}, ${before}::timestamptz)`);

/** Assigns files to the shards of a job. */
async function assignFiles(
  tx: Db,
  id: string,
  files: readonly string[],
  shardOf: (index: number) => number,
): Promise<void> {
  const placed = files.map((file, index) => [file, shardOf(index)]);
  await tx.query(sql.fragment`
    update audio_files set embedding_job_id = ${id}, embedding_shard = placed.shard,
           embedding_status = 'processing', updated_at = now()
    from ${sql.unnest(placed, ["uuid", "int4"])} as placed (id, shard)
    where audio_files.id = placed.id`);
}
