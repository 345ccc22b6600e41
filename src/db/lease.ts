// A lock across processes, for work that does not fit into one transaction: a row that its holder renews. Unlike an advisory
// lock it occupies no connection. Used by the confirm step of uploads.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "slonik";
import { requestInProgress } from "../errors.ts";
import type { Db } from "./driver/page.ts";

/** After a crash of its holder, the lease is free again after this time. */
const leaseMs = 15_000;
const renewMs = 5_000;
const retryMs = 250;
const otherHolder = "Another request for the same upload is still in progress";

/** Renews the lease; rejects with requestInProgress if another holder has taken it since. */
export type RequireHeld = () => Promise<void>;

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
  const holder = randomUUID();
  const until = sql.fragment`now() + make_interval(secs => ${leaseMs / 1000}::double precision)`;
  const take = () =>
    db.query(sql.fragment`
      insert into leases (tenant_id, id, holder, expires_at) values (${tenantId}, ${id}, ${holder}, ${until})
      on conflict (tenant_id, id) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where leases.expires_at < now()`);
  const deadline = performance.now() + maxWaitMs;
  while ((await take()).rowCount === 0) {
    if (performance.now() > deadline) throw requestInProgress(otherHolder);
    await pause(retryMs);
  }
  const mine = sql.fragment`tenant_id = ${tenantId} and id = ${id} and holder = ${holder}`;
  const requireHeld = async () => {
    const renewed = await db.query(sql.fragment`update leases set expires_at = ${until} where ${mine}`);
    if (renewed.rowCount === 0) throw requestInProgress(otherHolder);
  };
  // If a renewal fails, the next one may succeed in time.
  const renewal = setInterval(() => void requireHeld().catch(() => {}), renewMs);
  try {
    return await work(requireHeld);
  } finally {
    clearInterval(renewal);
    // If this fails, the lease expires.
    await db.query(sql.fragment`delete from leases where ${mine}`).catch(() => {});
  }
}

/** Deletes leases that expired an hour ago and returns how many. Called by the operator's sweep. */
export async function purgeLeases(db: Db): Promise<number> {
  const purged = await db.query(sql.fragment`
    delete from leases where expires_at < now() - interval '1 hour'`);
  return purged.rowCount;
}
