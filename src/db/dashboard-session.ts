// Sessions of the dashboard, of keys and of users, and sign-in links that nobody has opened yet: one table, which holds only
// digests of their tokens (migrations 0036 and 0041). Called by src/api/dashboard, api-key.ts, plosive-admin and the operator's sweep.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { sessionEnded } from "../errors.ts";
import { dashboardSession } from "../schemas/dashboard.ts";
import { permissionsOf, type Role } from "../schemas/role.ts";
import { auditEntry, inetOf, type Origin, userOfSession } from "./audit.ts";
import { rowOf } from "./driver/fields.ts";
import type { Db } from "./driver/page.ts";
import { lockQuota } from "./quota.ts";

/** `accounts` holds only ids. */
const row = rowOf(dashboardSession, { accounts: z.array(z.string()) });

const key = z.object({ key_hash: z.instanceof(Buffer), key_prefix: z.string() });
export type KeyOfSession = z.infer<typeof key>;

/** Open sessions of a key, or of a user in an account: each costs look-ups of its own. */
const maxSessions = 50;

/** Starts a session, and ends the oldest ones of its key or user beyond `maxSessions`. Returns false if `insert` made none. */
async function startSession(
  db: Db,
  tenantId: string,
  digest: Buffer,
  { ip, requestId }: Pick<Origin, "ip" | "requestId">,
  insert: FragmentSqlToken,
) {
  return await db.transaction(async (tx) => {
    await lockQuota(tx, "dashboard_sessions", tenantId);
    if ((await tx.query(insert)).rowCount === 0) return false;
    await tx.query(sql.fragment`
      select end_session(surplus.digest, ${inetOf(ip)}, ${requestId}) from (
        select s.digest from dashboard_sessions made join dashboard_sessions s on s.tenant_id = made.tenant_id
          and (s.api_key_id = made.api_key_id or (s.issuer, s.subject) = (made.issuer, made.subject))
        where made.tenant_id = ${tenantId} and made.digest = ${sql.binary(digest)} and s.digest <> made.digest
          and is_session_open(s.last_used_at, s.expires_at)
        order by s.created_at desc offset ${maxSessions - 1}
      ) surplus`);
    return true;
  });
}

/** Starts a session of a key that was just checked. */
export async function insertSession(
  db: Db,
  tenantId: string,
  { digest, keyId, prefix }: { digest: Buffer; keyId: string; prefix: string },
  by: Origin,
): Promise<void> {
  const insert = sql.fragment`
    with made as (
      insert into dashboard_sessions (digest, tenant_id, api_key_id, last_used_at, expires_at)
      values (${sql.binary(digest)}, ${tenantId}, ${keyId}, now(), now() + interval '8 hours')
      returning api_key_id as id, ${prefix}::text as key_prefix
    ), ${auditEntry("made", "session.started", tenantId, by)}
    select from made`;
  await startSession(db, tenantId, digest, by, insert);
}

/** A user as the OpenID provider names it, and what it may do where. */
export interface UserOfSession {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly role: Role;
  /** Ids of the other accounts in which the user has a role. */
  readonly accounts: readonly string[];
}

/** Starts a session of a user; false when there is no such tenant or it is suspended. */
export async function insertUserSession(
  db: Db,
  tenantId: string,
  digest: Buffer,
  { issuer, subject, name, role, accounts }: UserOfSession,
  by: Pick<Origin, "ip" | "requestId">,
): Promise<boolean> {
  const insert = sql.fragment`
    with s as (
      insert into dashboard_sessions (digest, tenant_id, issuer, subject, user_name, role, accounts, last_used_at, expires_at)
      select ${sql.binary(digest)}, id, ${issuer}, ${subject}, ${name}, ${role}, ${sql.array([...accounts], "uuid")},
        now(), now() + interval '8 hours'
      from tenants where id = ${tenantId} and suspended_at is null
      returning issuer, subject, user_name
    ), noted as (
      insert into audit_log (tenant_id, action, dashboard_user, ip, request_id)
      select ${tenantId}::uuid, 'session.started', ${userOfSession}, ${inetOf(by.ip)}, ${by.requestId} from s
    )
    select from s`;
  return await startSession(db, tenantId, digest, by, insert);
}

/** Returns the session with its key or user, and its tenant. Rejects with sessionEnded. */
export async function oneSession(db: Db, tenantId: string, digest: Buffer) {
  const session = await db.expecting(sessionEnded).one(sql.type(row)`
    select t.id as tenant_id, t.name as tenant_name, k.id as key_id, k.key_prefix, k.name as key_name,
      s.user_name, s.role, s.accounts, coalesce(k.scopes, '{}') as scopes, k.expires_at as key_expires_at, s.expires_at
    from dashboard_sessions s left join api_keys k on k.id = s.api_key_id join tenants t on t.id = s.tenant_id
    where s.tenant_id = ${tenantId} and s.digest = ${sql.binary(digest)}`);
  return session.role === null ? session : { ...session, scopes: [...permissionsOf[session.role]] };
}

/** Returns the tenant's name, or null if there is no such tenant or it is suspended. */
export async function maybeOneAccount(db: Db, id: string): Promise<string | null> {
  return await db.maybeOneFirst(sql.type(z.object({ name: z.string() }))`
    select name from tenants where id = ${id} and suspended_at is null`);
}

/** An SQL condition: whether a session of the tenant is open. */
export const isSessionOpen = (tenantId: string, digest: Buffer) => sql.fragment`exists (
  select from dashboard_sessions s
  where s.tenant_id = ${tenantId} and s.digest = ${sql.binary(digest)}
    and is_session_open(s.last_used_at, s.expires_at))`;

/**
 * Returns the key of an open session, also if the key is revoked, or null. `touches`: prolongs the session. For a user's
 * session: the digest itself, with an empty prefix.
 */
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
  { ip, requestId }: Pick<Origin, "ip" | "requestId">,
): Promise<boolean> {
  return await db.oneFirst(sql.type(z.object({ ended: z.boolean() }))`
    select end_session(${sql.binary(digest)}, ${inetOf(ip)}, ${requestId}) as ended`);
}

/** Adds a sign-in link for a key; false when the tenant has no such key or it is revoked. */
export async function insertSignInLink(
  db: Db,
  tenantId: string,
  link: { digest: Buffer; keyId: string },
  by: Origin,
): Promise<boolean> {
  const made = await db.query(sql.fragment`
    with key as (
      select id, key_prefix from api_keys
      where tenant_id = ${tenantId} and id = ${link.keyId} and revoked_at is null
    ), made as (
      insert into dashboard_sessions (digest, tenant_id, api_key_id, expires_at)
      select ${sql.binary(link.digest)}, ${tenantId}, id, now() + interval '10 minutes' from key
    ), ${auditEntry("key", "sign_in_link.created", tenantId, by)}
    select from key`);
  return made.rowCount > 0;
}

const listed = z.object({
  user_name: z.string().nullable(),
  subject: z.string().nullable(),
  role: z.string().nullable(),
  key_prefix: z.string().nullable(),
  created_at: z.number(),
  last_used_at: z.number(),
});

/** Returns the open sessions of a tenant, oldest first. Called by plosive-admin. */
export async function listSessions(db: Db, tenantId: string): Promise<readonly z.infer<typeof listed>[]> {
  return await db.any(sql.type(listed)`
    select s.user_name, s.subject, s.role, k.key_prefix, s.created_at, s.last_used_at
    from dashboard_sessions s left join api_keys k on k.id = s.api_key_id
    where s.tenant_id = ${tenantId} and is_session_open(s.last_used_at, s.expires_at)
    order by s.created_at`);
}

/** Ends the sessions of a tenant, or only those of one user, and returns how many. Called by plosive-admin. */
export async function endSessions(
  db: Db,
  tenantId: string,
  subject: string | null,
  requestId: string,
): Promise<number> {
  // The notification ends event streams: those that still have a session go on.
  const { ended } = await db.one(sql.type(z.object({ ended: z.number(), told: z.unknown() }))`
    with s as (
      delete from dashboard_sessions
      where tenant_id = ${tenantId} and last_used_at is not null and (${subject}::text is null or subject = ${subject})
      returning api_key_id, issuer, subject, user_name
    ), noted as (
      insert into audit_log (tenant_id, action, api_key_id, dashboard_user, request_id)
      select ${tenantId}::uuid, 'session.ended', api_key_id, case when subject is not null then ${userOfSession} end,
        ${requestId}
      from s
    )
    select count(*) as ended, pg_notify('plosive_keys', ${tenantId}::text) as told from s`);
  return ended;
}

/** Deletes ended sessions and expired links, and returns how many. Called by the operator's sweep. */
export async function purgeSessions(db: Db): Promise<number> {
  const purged = await db.query(sql.fragment`
    delete from dashboard_sessions where not is_session_open(coalesce(last_used_at, now()), expires_at)`);
  return purged.rowCount;
}
