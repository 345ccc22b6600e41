// Sessions of the dashboard, and sign-in links that nobody has opened yet: one table, which holds only digests of their
// tokens (migration 0036). Called by src/api/dashboard, api-key.ts, plosive-admin and the operator's sweep.
import { sql } from "slonik";
import { z } from "zod";
import { sessionEnded } from "../errors.ts";
import { dashboardSession } from "../schemas/dashboard.ts";
import { auditEntry, type Origin } from "./audit.ts";
import { rowOf } from "./driver/fields.ts";
import type { Db } from "./driver/page.ts";

const nothing = z.object({});
const row = rowOf(dashboardSession);

const key = z.object({ key_hash: z.instanceof(Buffer), key_prefix: z.string() });
export type KeyOfSession = z.infer<typeof key>;

/** Starts a session of a key that was just checked. */
export async function insertSession(
  db: Db,
  tenantId: string,
  { digest, keyId, prefix }: { digest: Buffer; keyId: string; prefix: string },
  by: Origin,
): Promise<void> {
  await db.query(sql.type(nothing)`
    with made as (
      insert into dashboard_sessions (digest, tenant_id, api_key_id, last_used_at, expires_at)
      values (${sql.binary(digest)}, ${tenantId}, ${keyId}, now(), now() + interval '8 hours')
      returning api_key_id as id, ${prefix}::text as key_prefix
    ), ${auditEntry("made", "session.started", tenantId, by)}
    select from made`);
}

/** Returns the session with its key and tenant. Rejects with sessionEnded. */
export async function oneSession(db: Db, tenantId: string, digest: Buffer) {
  return await db.expecting(sessionEnded).one(sql.type(row)`
    select t.id as tenant_id, t.name as tenant_name, k.id as key_id, k.key_prefix, k.name as key_name, k.scopes,
      k.expires_at as key_expires_at, s.expires_at
    from dashboard_sessions s join api_keys k on k.id = s.api_key_id join tenants t on t.id = s.tenant_id
    where s.tenant_id = ${tenantId} and s.digest = ${sql.binary(digest)}`);
}

/** An SQL condition: whether a session of the tenant is open. */
export const isSessionOpen = (tenantId: string, digest: Buffer) => sql.fragment`exists (
  select from dashboard_sessions s
  where s.tenant_id = ${tenantId} and s.digest = ${sql.binary(digest)}
    and is_session_open(s.last_used_at, s.expires_at))`;

/** Returns the key of an open session, also if the key is revoked, or null. `touches`: prolongs the session. */
export async function maybeOneKeyOfSession(
  db: Db,
  digest: Buffer,
  touches: boolean,
): Promise<KeyOfSession | null> {
  return await db.maybeOne(sql.type(key)`
    select key_hash, key_prefix from key_of_session(${sql.binary(digest)}, ${touches})`);
}

/** Uses up a sign-in link and returns its key, or null. */
export async function useSignInLink(db: Db, digest: Buffer): Promise<KeyOfSession | null> {
  return await db.maybeOne(sql.type(key)`
    select key_hash, key_prefix from use_sign_in_link(${sql.binary(digest)})`);
}

/** Ends a session; false when there is no such session. */
export async function endSession(
  db: Db,
  digest: Buffer,
  { ip, requestId }: Omit<Origin, "actorKeyId">,
): Promise<boolean> {
  return await db.oneFirst(sql.type(z.object({ ended: z.boolean() }))`
    select end_session(${sql.binary(digest)}, ${ip === "" ? null : ip}::inet, ${requestId}) as ended`);
}

/** Adds a sign-in link for a key; false when the tenant has no such key or it is revoked. */
export async function insertSignInLink(
  db: Db,
  tenantId: string,
  link: { digest: Buffer; keyId: string },
  by: Origin,
): Promise<boolean> {
  const made = await db.maybeOne(sql.type(nothing)`
    with key as (
      select id, key_prefix from api_keys
      where tenant_id = ${tenantId} and id = ${link.keyId} and revoked_at is null
    ), made as (
      insert into dashboard_sessions (digest, tenant_id, api_key_id, expires_at)
      select ${sql.binary(link.digest)}, ${tenantId}, id, now() + interval '10 minutes' from key
    ), ${auditEntry("key", "sign_in_link.created", tenantId, by)}
    select from key`);
  return made !== null;
}

/** Deletes ended sessions and expired links, and returns how many. Called by the operator's sweep. */
export async function purgeSessions(db: Db): Promise<number> {
  const purged = await db.query(sql.type(nothing)`
    delete from dashboard_sessions where not is_session_open(coalesce(last_used_at, now()), expires_at)`);
  return purged.rowCount;
}
