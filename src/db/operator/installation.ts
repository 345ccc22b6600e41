// The installations that share the database (docs/adr/0031-installations-that-share-a-database.md). Called by
// controllers/installation.ts, controllers/sweep.ts, controllers/runs/endpoint.ts and plosive-admin.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "../driver/page.ts";

/**
 * Records that the operator with this identity works for the installation. Returns false, without an effect, if another
 * identity did so within the last `staleSeconds`.
 */
export async function holdInstallation(
  db: Db,
  name: string,
  identity: string,
  staleSeconds: number,
): Promise<boolean> {
  const held = await db.query(sql.fragment`
    insert into installations as i (name, identity) values (${name}, ${identity})
    on conflict (name) do update set identity = excluded.identity, seen_at = now()
    where i.identity is null or i.identity = excluded.identity
      or i.seen_at < now() - make_interval(secs => ${staleSeconds}::double precision)`);
  return held.rowCount > 0;
}

/** Records that this operator has ended its work, so that another one need not wait. */
export async function releaseInstallation(db: Db, name: string, identity: string): Promise<void> {
  await db.query(sql.fragment`
    update installations set identity = null where name = ${name} and identity = ${identity}`);
}

/** Records that a replica of the run endpoint works for the installation. Without an effect until an operator has worked for it. */
export async function recordRuns(db: Db, name: string): Promise<void> {
  await db.query(sql.fragment`update installations set runs_seen_at = now() where name = ${name}`);
}

/** Returns the seconds since a replica of the run endpoint last worked for the installation; null: never. */
export async function secondsWithoutRuns(
  db: Pick<Db, "maybeOneFirst">,
  name: string,
): Promise<number | null> {
  return await db.maybeOneFirst(sql.type(z.object({ seconds: z.number().nullable() }))`
    select extract(epoch from now() - runs_seen_at)::double precision as seconds from installations where name = ${name}`);
}

const state = z.object({
  name: z.string(),
  /** When an operator last worked for it; null: never. */
  seen_at: z.number().nullable(),
  /** Seconds since then. */
  silent_seconds: z.number().nullable(),
  is_running: z.boolean(),
  open_jobs: z.number(),
});
export type InstallationState = z.infer<typeof state>;

/** Returns every installation that has had an operator or has open jobs, by name. */
export function manyInstallations(db: Pick<Db, "any">): Promise<readonly InstallationState[]> {
  return db.any(sql.type(state)`
    select name, seen_at, silent_seconds, is_running, open_jobs from installation_states()`);
}

/**
 * Hands the open jobs of an installation, its models and its entries of the purge queue to another one. Returns how many jobs,
 * or null, without an effect, if an operator still works for the former. For plosive-admin, whose role cannot change jobs
 * otherwise.
 */
export function moveJobs(db: Pick<Db, "oneFirst">, from: string, to: string): Promise<number | null> {
  return db.oneFirst(sql.type(z.object({ moved: z.number().nullable() }))`
    select move_jobs(${from}, ${to}) as moved`);
}
