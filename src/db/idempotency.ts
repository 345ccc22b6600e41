// What POST requests with an Idempotency-Key made, so that the same request sent again makes nothing twice.
// Called by src/api/idempotency.ts inside the transaction that makes the resource.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";

/** Who asks for what under which key, and with which input; the last two are SHA-256 digests. */
export interface RequestKey {
  readonly tenantId: string;
  /** Of method, path and key. */
  readonly scope: Buffer;
  /** Of the input. */
  readonly fingerprint: Buffer;
}

const seen = z.object({
  locked: z.boolean(),
  same: z.boolean().nullable(),
  created_ids: z.array(z.string()).nullable(),
  report: z.unknown(),
});

/**
 * What the request made before, if anything. `locked` is false while another transaction works on it; otherwise none
 * other does until this transaction ends.
 */
export async function lockRequestKey(db: Db, key: RequestKey): Promise<z.infer<typeof seen>> {
  // The lock's number is 64 bits of the digest: two requests that share it by chance only wait for each other.
  const number = Buffer.concat([Buffer.from(key.tenantId), key.scope]);
  const locked = await db.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended(${number.toString("hex")}, 0)) as locked`);
  if (!locked) return { locked, same: null, created_ids: null, report: null };
  // A statement of its own: it must see what was committed before the lock was free.
  const found = await db.maybeOne(sql.type(seen)`
    select true as locked, fingerprint = ${sql.binary(key.fingerprint)} as same, created_ids, report
    from idempotency_keys
    where tenant_id = ${key.tenantId} and scope = ${sql.binary(key.scope)}
      and created_at > now() - interval '24 hours'`);
  return found ?? { locked, same: null, created_ids: null, report: null };
}

/** Remembers what the request made, and what its answer said besides. */
export async function insertRequestKey(
  db: Db,
  key: RequestKey,
  createdIds: readonly string[],
  report: unknown = null,
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    insert into idempotency_keys (tenant_id, scope, fingerprint, created_ids, report)
    values (${key.tenantId}, ${sql.binary(key.scope)}, ${sql.binary(key.fingerprint)},
      ${sql.array([...createdIds], "uuid")}, ${report === null ? null : sql.jsonb(report as never)})
    on conflict (tenant_id, scope) do update
      set fingerprint = excluded.fingerprint, created_ids = excluded.created_ids, report = excluded.report,
        created_at = excluded.created_at`);
}

/** Forgets what is older than a day. Called by the operator's sweep. Returns how many. */
export async function purgeRequestKeys(db: Db): Promise<number> {
  const purged = await db.query(sql.type(z.object({}))`
    delete from idempotency_keys where created_at < now() - interval '24 hours'`);
  return purged.rowCount;
}
