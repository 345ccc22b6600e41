// The purge queue: objects and custom resources that deleted rows leave behind (table leftovers, filled by triggers);
// also expires uploads that were not confirmed. The leader calls it: controllers/purge-queue.ts and controllers/sweep.ts.
// Only the installation that ran a job can delete its custom resource. The leaders of all installations delete what belongs to
// none; now and then two delete the same object, which does no harm.
import { sql } from "slonik";
import { z } from "zod";
import { countRows, type Db } from "../driver/page.ts";
import { storable } from "../driver/storable.ts";

const entry = z.object({
  id: z.number(),
  tenant_id: z.string(),
  kind: z.enum(["upload", "audio", "embedding", "inference_audio", "model", "run", "resource"]),
  target: z.string(),
  /** A row still refers to the target: a retried job to an upload of the first job, a model to its training's files. */
  in_use: z.boolean(),
});
export type PurgeEntry = z.infer<typeof entry>;

const isFor = (installation: string) =>
  sql.fragment`(l.installation is null or l.installation = ${installation})`;

/**
 * Returns due entries of the installation and of none, those that are due longest first. Tenants take turns, however many entries each has: the first entry
 * of each tenant, then the second ones. An entry is due at once (`at_once`) or after the grace period. Fewer than `limit`
 * does not mean that no more are due.
 */
export async function manyDuePurges(
  db: Db,
  options: { installation: string; graceSeconds: number; limit: number },
): Promise<readonly PurgeEntry[]> {
  const grace = sql.fragment`make_interval(secs => ${options.graceSeconds}::double precision)`;
  const due = sql.fragment`l.tenant_id = t.id and l.try_at <= now() and ${isFor(options.installation)} and`;
  const atOnce = sql.fragment`${due} l.at_once`;
  const afterGrace = sql.fragment`${due} not l.at_once and l.created_at <= now() - ${grace}`;
  // So many of each tenant fill the batch; all together read few more rows than it has.
  const part = sql.fragment`(select greatest(1, ${options.limit}::bigint / count(*)) from waiting)`;
  const next = (isAtOnce: boolean) => sql.fragment`(
    select l.tenant_id from leftovers l
    where ${isAtOnce ? sql.fragment`l.at_once` : sql.fragment`not l.at_once`} and l.tenant_id > t.id
    order by l.tenant_id limit 1)`;
  return await db.any(sql.type(entry)`
    with recursive tenants_with_entries (id) as (
      select '00000000-0000-0000-0000-000000000000'::uuid
      union all
      select least(${next(true)}, ${next(false)}) from tenants_with_entries t where t.id is not null
    ), waiting as materialized (
      select t.id from tenants_with_entries t
      where exists (select from leftovers l where ${atOnce}) or exists (select from leftovers l where ${afterGrace})
    )
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
      select d.*, row_number() over (partition by d.tenant_id order by d.due_at, d.id) as turn
      from waiting t cross join lateral (
        (select l.*, l.try_at as due_at from leftovers l where ${atOnce} order by l.try_at limit ${part})
        union all
        (select l.*, greatest(l.created_at + ${grace}, l.try_at) from leftovers l where ${afterGrace}
         order by l.created_at limit ${part})
      ) d
      order by turn, d.due_at, d.id limit ${options.limit}
    ) l order by l.turn, l.due_at, l.id`);
}

/** Counts the entries of the installation and of none whose deletion has failed at least once. */
export function countFailingPurges(db: Db, installation: string): Promise<number> {
  return countRows(db, sql.fragment`leftovers l where attempts > 0 and ${isFor(installation)}`);
}

/** Removes entries whose targets are deleted. */
export async function deletePurgeEntries(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(sql.fragment`delete from leftovers where id = any(${sql.array([...ids], "int8")})`);
}

/** Records a failed deletion. The next attempt follows after a backoff of 5 seconds to one hour; its grace period is over. */
export async function postponePurge(db: Db, id: number, error: string): Promise<void> {
  await db.query(sql.fragment`
    update leftovers set at_once = true, attempts = attempts + 1, last_error = ${storable(error.slice(0, 1000))},
      try_at = now() + least(interval '1 hour', interval '5 seconds' * 2 ^ least(attempts, 16))
    where id = ${id}`);
}

/**
 * Marks uploads that were not confirmed in time as expired and deletes them one day after they expired; expired uploads
 * to inference jobs are deleted at once. Handles at most `limit` of each and returns how many in total.
 */
export async function expireUploads(db: Db, limit: number): Promise<number> {
  return await db.oneFirst(sql.type(z.object({ changed: z.number() }))`
    with expired as (
      update audio_files set status = 'expired', updated_at = now()
      where id in (
        select id from audio_files where status = 'pending_upload' and upload_expires_at <= now()
        order by upload_expires_at limit ${limit} for update skip locked)
        and status = 'pending_upload'
      returning id
    ), deleted as (
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
    select (select count(*) from expired) + (select count(*) from deleted) + (select count(*) from dropped)
      as changed`);
}
