// API keys: only their SHA-256 digest is kept. Asked once by every request (src/api/middleware/authenticate.ts).
import { sql } from "slonik";
import { z } from "zod";
import { newId } from "./id.ts";
import type { Db } from "./page.ts";

const row = z.object({
  id: z.string(),
  name: z.string(),
  key_prefix: z.string(),
  created_at: z.number(),
  expires_at: z.number().nullable(),
  last_used_at: z.number().nullable(),
});
const columns = sql.fragment`id, name, key_prefix, created_at, expires_at, last_used_at`;

export type ApiKeyRow = z.infer<typeof row>;

const caller = z.object({
  id: z.string(),
  tenant_id: z.string(),
  expired: z.boolean(),
  suspended: z.boolean(),
  /** Whether its use has not been noted for a minute. */
  unnoticed: z.boolean(),
});

/** The key with this digest, unless it is revoked. One look into a unique index; never cached, so that revocation
 * holds at once on every replica. By a function of the database: its tenant is not known yet, so no row is visible. */
export async function maybeOneCaller(db: Db, hash: Buffer): Promise<z.infer<typeof caller> | null> {
  return await db.maybeOne(sql.type(caller)`
    select id, tenant_id, expired, suspended, unnoticed from caller_of_key(${sql.binary(hash)})`);
}

/** Notes that a key is in use, at most once a minute: a write for every request would be the most frequent of all. */
export async function touchApiKey(db: Db, id: string): Promise<void> {
  await db.query(sql.type(z.object({}))`
    update api_keys set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '60 seconds')`);
}

/** Adds a key. Null when its prefix is taken: make another key and call again. */
export async function insertApiKey(
  db: Db,
  tenantId: string,
  key: { name: string; prefix: string; hash: Buffer; expiresAt: string | null },
): Promise<ApiKeyRow | null> {
  return await db.maybeOne(sql.type(row)`
    insert into api_keys (id, tenant_id, name, key_prefix, key_hash, expires_at)
    values (${newId()}, ${tenantId}, ${key.name}, ${key.prefix}, ${sql.binary(key.hash)}, ${key.expiresAt})
    on conflict do nothing
    returning ${columns}`);
}

/** All keys that are not revoked, newest first. */
export async function listApiKeys(db: Db, tenantId: string): Promise<readonly ApiKeyRow[]> {
  return await db.any(sql.type(row)`
    select ${columns} from api_keys where tenant_id = ${tenantId} and revoked_at is null
    order by created_at desc, id desc`);
}

/** How many keys are not revoked. */
export async function countApiKeys(db: Db, tenantId: string): Promise<number> {
  return await db.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from api_keys where tenant_id = ${tenantId} and revoked_at is null`);
}

/** Whether there was such a key to revoke. */
export async function revokeApiKey(db: Db, tenantId: string, id: string): Promise<boolean> {
  const revoked = await db.query(sql.type(z.object({}))`
    update api_keys set revoked_at = now()
    where tenant_id = ${tenantId} and id = ${id} and revoked_at is null`);
  return revoked.rowCount === 1;
}
