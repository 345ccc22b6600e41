// A lock across processes, for work that does not fit into one transaction: a row that its holder renews. Unlike an advisory
// lock it occupies no connection. Used by the confirm step of uploads, and for shares that hold across processes (api/shares.ts).
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type FragmentSqlToken, sql } from "slonik";
import { requestInProgress } from "../errors.ts";
import type { Db } from "./driver/page.ts";
import { BusyError } from "./driver/semaphore.ts";

/** After a crash of its holder, the lease is free again after this time. */
const leaseMs = 15_000;
const renewMs = 5_000;
const retryMs = 250;
const otherHolder = "Another request for the same upload is still in progress";

/** Renews the lease; rejects with requestInProgress if another holder has taken it since. */
export type RequireHeld = () => Promise<void>;

export interface Lease {
  readonly requireHeld: RequireHeld;
  /** Frees the lease, at once or after `restMs`. If the database fails, tries again in the background until the lease has expired. */
  release(restMs?: number): Promise<void>;
}

/**
 * Takes one of the tenant's leases `ids` (UUIDs) as soon as one is free. Returns undefined if other holders have all of them for
 * `maxWaitMs`.
 */
export async function takeLease(
  db: Db,
  tenantId: string,
  ids: readonly string[],
  maxWaitMs: number,
): Promise<Lease | undefined> {
  const holder = randomUUID();
  const after = (ms: number) => sql.fragment`now() + make_interval(secs => ${ms / 1000}::double precision)`;
  const take = async (id: string) => {
    const { rowCount } = await db.query(sql.fragment`
      insert into leases (tenant_id, id, holder, expires_at) values (${tenantId}, ${id}, ${holder}, ${after(leaseMs)})
      on conflict (tenant_id, id) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where leases.expires_at < now()`);
    return rowCount > 0;
  };
  const takeAny = async () => {
    for (const id of ids) if (await take(id)) return id;
    return undefined;
  };
  const isDone = (statement: FragmentSqlToken) => () =>
    db.query(statement).then(
      () => true,
      () => false,
    );
  const deadline = performance.now() + maxWaitMs;
  let id: string | undefined;
  try {
    id = await takeAny();
    while (id === undefined) {
      if (performance.now() > deadline) return undefined;
      await pause(retryMs);
      id = await takeAny();
    }
  } catch (error) {
    // Then no statement was sent.
    if (error instanceof BusyError) throw error;
    // The database may have committed before the response was lost.
    const taken = sql.fragment`tenant_id = ${tenantId} and id = any(${sql.array(ids, "uuid")}) and holder = ${holder}`;
    void retryUntilExpired(isDone(sql.fragment`delete from leases where ${taken}`));
    throw error;
  }
  const mine = sql.fragment`tenant_id = ${tenantId} and id = ${id} and holder = ${holder}`;
  const requireHeld = async () => {
    const renewed = await db.query(sql.fragment`
      update leases set expires_at = ${after(leaseMs)} where ${mine}`);
    if (renewed.rowCount === 0) throw requestInProgress(otherHolder);
  };
  // If a renewal fails, the next one may succeed in time.
  const renewal = setInterval(() => void requireHeld().catch(() => {}), renewMs).unref();
  return {
    requireHeld,
    release: async (restMs = 0) => {
      clearInterval(renewal);
      // Another holder, so that a renewal that is on its way does not end the rest.
      const freed =
        restMs > 0
          ? sql.fragment`update leases set holder = gen_random_uuid(), expires_at = ${after(restMs)} where ${mine}`
          : sql.fragment`delete from leases where ${mine}`;
      const isFreed = isDone(freed);
      if (!(await isFreed())) void retryUntilExpired(isFreed);
    },
  };
}

/** After an outage of the database, a lease that nobody holds must not keep others waiting until it expires. */
async function retryUntilExpired(isFreed: () => Promise<boolean>): Promise<void> {
  const expired = performance.now() + leaseMs;
  while (performance.now() < expired) {
    await pause(2 * retryMs, undefined, { ref: false });
    if (await isFreed()) return;
  }
}

/**
 * Runs `work` while it holds the lease `id` of the tenant. Waits for another holder, at most `maxWaitMs`, and then rejects
 * with requestInProgress. A holder that is stopped for longer than the lease loses it, so `work` calls its argument before
 * what it cannot undo.
 */
export async function withLease<T>(
  db: Db,
  tenantId: string,
  id: string,
  work: (requireHeld: RequireHeld) => Promise<T>,
  maxWaitMs = 30_000,
): Promise<T> {
  const lease = await takeLease(db, tenantId, [id], maxWaitMs);
  if (lease === undefined) throw requestInProgress(otherHolder);
  try {
    return await work(lease.requireHeld);
  } finally {
    await lease.release();
  }
}

/** Deletes leases that expired an hour ago and returns how many. Called by the operator's sweep. */
export async function purgeLeases(db: Db): Promise<number> {
  const purged = await db.query(sql.fragment`
    delete from leases where expires_at < now() - interval '1 hour'`);
  return purged.rowCount;
}
