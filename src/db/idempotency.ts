// Records which resources a POST request with an Idempotency-Key created, so that a repeated request creates nothing
// twice. Called by src/api/idempotency.ts inside the transaction that creates the resource.
import { sql } from "slonik";
import { z } from "zod";
import { requestInProgress } from "../errors.ts";
import { deleteOld } from "./deletion.ts";
import type { Db } from "./driver/page.ts";

/** Identifies a request by its tenant and SHA-256 digests. */
export interface RequestKey {
  readonly tenantId: string;
  /** Digest of method, path and idempotency key. */
  readonly scope: Buffer;
  /** Digest of the input. */
  readonly fingerprint: Buffer;
}

const seen = z.object({ same: z.boolean(), created_ids: z.array(z.string()), report: z.unknown() });

/**
 * Locks the request until the transaction ends and returns what it created before; null when it is new. `same` is false when the
 * same key came with another input. Rejects with requestInProgress when another transaction holds the lock.
 */
export async function lockRequestKey(db: Db, key: RequestKey) {
  // The lock is 64 bits of a hash. If two different requests collide, one is refused as being in progress.
  const number = Buffer.concat([Buffer.from(key.tenantId), key.scope]);
  const locked = await db.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended(${number.toString("hex")}, 0)) as locked`);
  if (!locked) throw requestInProgress();
  // A separate statement: it must see what other transactions committed before this one got the lock.
  return await db.maybeOne(sql.type(seen)`
    select fingerprint = ${sql.binary(key.fingerprint)} as same, created_ids, report
    from idempotency_keys
    where tenant_id = ${key.tenantId} and scope = ${sql.binary(key.scope)}
      and created_at > now() - interval '24 hours'`);
}

/** Records the ids of the resources that the request created, and further members of its response (`report`). */
export async function insertRequestKey(
  db: Db,
  key: RequestKey,
  createdIds: readonly string[],
  report: unknown = null,
): Promise<void> {
  await db.query(sql.fragment`
    insert into idempotency_keys (tenant_id, scope, fingerprint, created_ids, report)
    values (${key.tenantId}, ${sql.binary(key.scope)}, ${sql.binary(key.fingerprint)},
      ${sql.array([...createdIds], "uuid")}, ${report === null ? null : sql.jsonb(report as never)})
    on conflict (tenant_id, scope) do update
      set fingerprint = excluded.fingerprint, created_ids = excluded.created_ids, report = excluded.report,
        created_at = excluded.created_at`);
}

/** Deletes at most `limit` records older than 24 hours and returns how many. Called by the operator's sweep. */
export const purgeRequestKeys = (db: Db, limit: number) =>
  deleteOld(db, "idempotency_keys", "24 hours", limit);
