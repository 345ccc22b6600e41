// Gathers confirmed audio files into embedding jobs: one job for what a tenant uploaded in a row, not one per file.
// Called by controllers/sweep.ts on the leader, and by controllers/embedding-job for a custom resource that was there first.
import { sql } from "slonik";
import { z } from "zod";
import { noFiles } from "../errors.ts";
import { mostFilesPerShard, requireShards } from "./adoption.ts";
import type { Database, Transaction } from "./job.ts";
import type { AppliedResource } from "./quota.ts";

export type GatherOptions = {
  quietSeconds: number;
  longestWaitSeconds: number;
  filesPerShard: number;
  maxShards: number;
};

/** Each is the condition of an index. */
const isNew = sql.fragment`(status = 'processing' and embedding_job_id is null)`;
const isToRenew = sql.fragment`(status = 'ready' and embedding_status = 'pending')`;
const waits = sql.fragment`(${isNew} or ${isToRenew})`;

/**
 * Makes the embedding jobs that are due, each in its own transaction, and returns their ids. New uploads have jobs of their
 * own: what is embedded again does not hold them up, and there is one such job of a tenant at a time.
 */
export async function gatherEmbeddingJobs(
  db: Database,
  options: GatherOptions,
  newId: () => string,
): Promise<string[]> {
  const due = {
    uploads: sql.fragment`
      select tenant_id from audio_files where ${isNew} group by tenant_id
      having max(uploaded_at) < now() - make_interval(secs => ${options.quietSeconds}::double precision)
          or min(uploaded_at) < now() - make_interval(secs => ${options.longestWaitSeconds}::double precision)`,
    renewals: sql.fragment`
      select distinct tenant_id from audio_files where ${isToRenew} and not exists (
        select from embedding_jobs j join audio_files f on f.embedding_job_id = j.id
        where j.tenant_id = audio_files.tenant_id and j.status in ('pending', 'queued', 'running', 'cancelling')
          and f.status = 'ready' and f.embedding_status = 'processing')`,
  };
  const made: string[] = [];
  for (const [which, tenants] of [
    [isNew, due.uploads],
    [isToRenew, due.renewals],
  ] as const)
    for (const tenant of await db.anyFirst(sql.type(z.object({ tenant_id: z.string() }))`${tenants}`)) {
      const id = await db.transaction((tx) => gatherFor(tx, tenant, which, newId(), options));
      if (id !== null) made.push(id);
    }
  return made;
}

async function gatherFor(
  tx: Transaction,
  tenant: string,
  which: typeof waits,
  id: string,
  options: GatherOptions,
): Promise<string | null> {
  const { filesPerShard, maxShards } = options;
  const files = await lockWaitingFiles(tx, tenant, which, filesPerShard * maxShards);
  if (files.length === 0) return null;
  const shardCount = Math.ceil(files.length / filesPerShard);
  await tx.query(sql.type(z.object({}))`
    insert into embedding_jobs (id, tenant_id, shard_count) values (${id}, ${tenant}, ${shardCount})`);
  await place(
    tx,
    id,
    files.map((file, index) => [file, Math.floor(index / filesPerShard)]),
  );
  return id;
}

/** The job of a custom resource, on the files that wait now. noFiles; validationFailed when its shards do not fit them. */
export async function insertEmbeddingJob(
  db: Database,
  tenant: string,
  shards: number,
  resource: AppliedResource,
): Promise<void> {
  await db.transaction(async (tx) => {
    const files = await lockWaitingFiles(tx, tenant, waits, shards * mostFilesPerShard);
    if (files.length === 0) throw noFiles("No uploaded files of the tenant wait for their embeddings");
    requireShards(shards, files.length);
    await tx.query(sql.type(z.object({}))`
      insert into embedding_jobs (id, tenant_id, shard_count, resource_name, submitted_at)
      values (${resource.uid}, ${tenant}, ${shards}, ${resource.name}, now())`);
    await place(
      tx,
      resource.uid,
      files.map((file, index) => [file, Math.floor((index * shards) / files.length)]),
    );
  });
}

/** New uploads first, the oldest of them before the others. A file that another process is changing just now is left to the next job. */
async function lockWaitingFiles(
  tx: Transaction,
  tenant: string,
  which: typeof waits,
  limit: number,
): Promise<readonly string[]> {
  return await tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from audio_files
    where tenant_id = ${tenant} and ${which}
    order by status = 'ready', uploaded_at, id limit ${limit} for update skip locked`);
}

const datasetRow = z.object({ tenant: z.string(), dataset: z.string() });
const againRow = z.object({ files: z.number(), left_alone: z.number() });

/** Now, by the clock that embedding jobs are dated by. */
export async function presentTime(db: Pick<Transaction, "oneFirst">): Promise<string> {
  return await db.oneFirst(sql.type(z.object({ now: z.string() }))`
    select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`);
}

/** Datasets of one tenant, or of all, with files whose embeddings are older than `before`. For plosive-admin's role. */
export async function manyDatasetsEmbeddedBefore(
  db: Pick<Transaction, "any">,
  tenant: string | null,
  before: string,
): Promise<readonly z.infer<typeof datasetRow>[]> {
  return await db.any(sql.type(datasetRow)`
    select * from datasets_embedded_before(${tenant}::uuid, ${before}::timestamptz)`);
}

/**
 * Gives these files of a dataset back to the gatherer, with their labels: how many, and how many were left alone because a
 * training job reads them. For plosive-admin, whose role may call this function and see no file.
 */
export async function embedAgain(
  db: Pick<Transaction, "one">,
  dataset: string,
  before: string,
): Promise<z.infer<typeof againRow>> {
  return await db.one(sql.type(againRow)`select * from embed_again(${dataset}, ${before}::timestamptz)`);
}

async function place(tx: Transaction, id: string, placed: (string | number)[][]): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update audio_files set embedding_job_id = ${id}, embedding_shard = placed.shard,
           embedding_status = 'processing', updated_at = now()
    from ${sql.unnest(placed, ["uuid", "int4"])} as placed (id, shard)
    where audio_files.id = placed.id`);
}
