// What deleted rows left behind in the object store and in Kubernetes (table leftovers, filled by triggers), and uploads
// that nobody confirmed. Called by controllers/leftovers.ts on the leader.
import { sql } from "slonik";
import { z } from "zod";
import type { Queries } from "./job.ts";
import { storable } from "./storable.ts";

const nothing = z.object({});

const leftover = z.object({
  id: z.number(),
  tenant_id: z.string(),
  kind: z.enum(["upload", "audio", "embedding", "inference_audio", "model", "run", "resource"]),
  target: z.string(),
  /** A row refers to it again: a retried job to the upload of the one before, a model to what its training left. */
  in_use: z.boolean(),
});
export type Leftover = z.infer<typeof leftover>;

/** What is due, oldest first: at once, or after the grace period. */
export async function manyDueLeftovers(
  db: Queries,
  options: { graceSeconds: number; limit: number },
): Promise<readonly Leftover[]> {
  const grace = sql.fragment`make_interval(secs => ${options.graceSeconds}::double precision)`;
  return await db.any(sql.type(leftover)`
    select l.id, l.tenant_id, l.kind, l.target,
      case l.kind
        when 'inference_audio' then exists (
          select from inference_files
          where audio_file_id is null and object_key = 'inference/' || l.tenant_id || '/' || l.target)
        when 'model' then exists (
          select from models where tenant_id = l.tenant_id and training_job_id = l.target::uuid)
        else false
      end as in_use
    from (
      (select * from leftovers where at_once and try_at <= now() order by try_at limit ${options.limit})
      union all
      (select * from leftovers where not at_once and created_at <= now() - ${grace} and try_at <= now()
       order by created_at limit ${options.limit})
    ) l order by l.id limit ${options.limit}`);
}

/** How many could not be taken away so far. */
export function countFailingLeftovers(db: Queries): Promise<number> {
  return db.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from leftovers where attempts > 0`);
}

/** They are gone from where they were. */
export async function deleteLeftovers(db: Queries, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(sql.type(nothing)`delete from leftovers where id = any(${sql.array([...ids], "int8")})`);
}

/** Tried again later, up to an hour later. */
export async function postponeLeftover(db: Queries, id: number, error: string): Promise<void> {
  await db.query(sql.type(nothing)`
    update leftovers set attempts = attempts + 1, last_error = ${storable(error.slice(0, 1000))},
      try_at = now() + least(interval '1 hour', interval '5 seconds' * 2 ^ least(attempts, 16))
    where id = ${id}`);
}

/**
 * Marks uploads that were not confirmed in time, and deletes what has been marked for a day; uploads to inference jobs
 * are deleted at once. At most `limit` of each. Returns how many.
 */
export async function expireUploads(db: Queries, limit: number): Promise<number> {
  const changed = await db.oneFirst(sql.type(z.object({ changed: z.number() }))`
    with expired as (
      update audio_files set status = 'expired', updated_at = now()
      where id in (
        select id from audio_files where status = 'pending_upload' and upload_expires_at <= now()
        order by upload_expires_at limit ${limit} for update skip locked)
        and status = 'pending_upload'
      returning id
    ), forgotten as (
      delete from audio_files
      where id in (
        select id from audio_files f where status = 'expired' and upload_expires_at <= now() - interval '1 day'
          and not exists (
            select from annotations a
            where a.tenant_id = f.tenant_id and a.dataset_id = f.dataset_id and a.audio_file_id = f.id)
        order by upload_expires_at limit ${limit} for update skip locked)
      returning id
    ), dropped as (
      delete from inference_files
      where id in (
        select id from inference_files where status = 'pending_upload' and upload_expires_at <= now()
        order by upload_expires_at limit ${limit} for update skip locked)
      returning id
    )
    select (select count(*) from expired) + (select count(*) from forgotten) + (select count(*) from dropped)
      as changed`);
  return changed;
}
