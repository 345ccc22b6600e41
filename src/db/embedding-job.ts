// Gathers confirmed audio files into embedding jobs: one job for what a tenant uploaded in a row, not one per file.
// Called by controllers/sweep.ts on the leader.
import { sql } from "slonik";
import { z } from "zod";
import type { Database, Transaction } from "./job.ts";

export type GatherOptions = {
  quietSeconds: number;
  longestWaitSeconds: number;
  filesPerShard: number;
  maxShards: number;
};

/** Makes the embedding jobs that are due, each in its own transaction, and returns their ids. */
export async function gatherEmbeddingJobs(
  db: Database,
  options: GatherOptions,
  newId: () => string,
): Promise<string[]> {
  const tenants = await db.anyFirst(sql.type(z.object({ tenant_id: z.string() }))`
    select tenant_id from audio_files
    where status = 'processing' and embedding_job_id is null
    group by tenant_id
    having max(uploaded_at) < now() - make_interval(secs => ${options.quietSeconds}::double precision)
        or min(uploaded_at) < now() - make_interval(secs => ${options.longestWaitSeconds}::double precision)`);
  const made: string[] = [];
  for (const tenant of tenants) {
    const id = await db.transaction((tx) => gatherFor(tx, tenant, newId(), options));
    if (id !== null) made.push(id);
  }
  return made;
}

async function gatherFor(
  tx: Transaction,
  tenant: string,
  id: string,
  options: GatherOptions,
): Promise<string | null> {
  const { filesPerShard, maxShards } = options;
  // A file that another process is changing just now is left to the next job.
  const files = await tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from audio_files
    where tenant_id = ${tenant} and status = 'processing' and embedding_job_id is null
    order by uploaded_at, id limit ${filesPerShard * maxShards} for update skip locked`);
  if (files.length === 0) return null;
  const shardCount = Math.ceil(files.length / filesPerShard);
  await tx.query(sql.type(z.object({}))`
    insert into embedding_jobs (id, tenant_id, shard_count) values (${id}, ${tenant}, ${shardCount})`);
  const placed = files.map((file, index) => [file, Math.floor(index / filesPerShard)]);
  await tx.query(sql.type(z.object({}))`
    update audio_files set embedding_job_id = ${id}, embedding_shard = placed.shard,
           embedding_status = 'processing', updated_at = now()
    from ${sql.unnest(placed, ["uuid", "int4"])} as placed (id, shard)
    where audio_files.id = placed.id`);
  return id;
}
