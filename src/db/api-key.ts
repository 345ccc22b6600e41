// API keys. Only their SHA-256 digests are stored. Every request looks up its key once (src/api/authenticate.ts).
import { sql } from "slonik";
import { z } from "zod";
import { apiKeyNotFound, insufficientScope, quotaExceeded } from "../errors.ts";
import { apiKey, type KeyScope, keyScopes, mayGrant } from "../schemas/api-key.ts";
import { roles } from "../schemas/role.ts";
import { auditEntry, type Origin } from "./audit.ts";
import { isSessionOpen } from "./dashboard-session.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { newId } from "./driver/id.ts";
import type { Db } from "./driver/page.ts";
import { requireBelowQuota } from "./quota.ts";

const row = rowOf(apiKey);
const columns = columnsOf(row);

export type ApiKeyRow = z.infer<typeof row>;

const caller = z.object({
  /** Null: a session of a user, which has a role. */
  id: z.string().nullable(),
  tenant_id: z.string(),
  expired: z.boolean(),
  suspended: z.boolean(),
  scopes: z.array(z.enum(keyScopes)),
  role: z.enum(roles).nullable(),
  /** Whether last_used_at is older than a minute. */
  unnoticed: z.boolean(),
  /** Whether the request is within the rate limits; null when the key is expired or its tenant suspended. */
  admitted: z.boolean().nullable(),
  /** Seconds until the full burst of the default rate limit is available again; policy_used: of the other one. */
  used: z.number().nullable(),
  policy_used: z.number().nullable(),
});
export type CallerRow = z.infer<typeof caller>;
const callerOrNone = z.union([caller, z.object({ tenant_id: z.null() })]);

/** A rate limit: a steady rate and a burst, both in seconds, as the database function takes them. */
export interface Rate {
  /** Seconds between two requests at the steady rate. */
  readonly gap: number;
  /** Seconds that a full burst takes at the steady rate. Infinity: no limit. */
  readonly span: number;
}

/** The rate limits of a request: the default one, and the one with the number `policy` (1: only the default one). */
export interface RatesOfRequest {
  readonly rate: Rate;
  readonly policy: number;
  readonly policyRate: Rate;
}

/**
 * Looks up the key, or the session of a user, with this digest and counts the requests against the rate limits of its tenant,
 * one after the other. Returns one row per request; null when it is unknown, revoked or ended. One statement, never cached, so that revocation
 * takes effect at once on every replica and rate limits are exact. It calls a database function: row-level security
 * hides all rows until the tenant is known.
 */
export async function manyCallers(
  db: Db,
  hash: Buffer,
  requests: readonly RatesOfRequest[],
): Promise<readonly (CallerRow | null)[]> {
  // Infinity is passed as text: slonik accepts no infinite numbers, Postgres parses them.
  const numbers = (of: (request: RatesOfRequest) => number) =>
    sql.array(
      requests.map((request) => String(of(request))),
      "float8",
    );
  const rows = await db.any(sql.type(callerOrNone)`
    select id, tenant_id, case when id is null then '{}' else scopes_of_key(id) end as scopes,
      case when id is null and tenant_id is not null then role_of_session(${sql.binary(hash)}) end as role, expired, suspended, unnoticed, admitted, used, policy_used
    from unnest(${numbers(({ rate }) => rate.gap)}, ${numbers(({ rate }) => rate.span)},
        ${numbers(({ policy }) => policy)}, ${numbers(({ policyRate }) => policyRate.gap)},
        ${numbers(({ policyRate }) => policyRate.span)})
      with ordinality as r (gap, span, policy, policy_gap, policy_span, n)
    left join lateral admit_caller(${sql.binary(hash)}, gap, span, policy::int, policy_gap, policy_span) on true
    order by n`);
  // A session that ended within the statement has no role, and must not count as one that may do everything.
  return rows.map((row) => (row.tenant_id === null || (row.id === null && row.role === null) ? null : row));
}

/**
 * Whether the key and the session that the request came with, or the one of both that there is, are still valid. Called repeatedly by
 * responses that stay open (event streams, long polls).
 */
export async function isKeyOpen(
  db: Db,
  { tenantId, keyId, session }: { tenantId: string; keyId: string | null; session: Buffer | null },
): Promise<boolean> {
  const isOpen = sql.fragment`exists (
    select from api_keys k where k.tenant_id = ${tenantId} and k.id = ${keyId} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now()))`;
  return await db.exists(sql.fragment`
    select from tenants t where t.id = ${tenantId} and t.suspended_at is null
      and ${keyId === null ? sql.fragment`true` : isOpen}
      and ${session === null ? sql.fragment`${keyId !== null}` : isSessionOpen(tenantId, session)}`);
}

/** Updates last_used_at, at most once a minute: a write for every request would be the most frequent write of all. */
export async function touchApiKey(db: Db, id: string): Promise<void> {
  await db.query(sql.fragment`
    update api_keys set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '60 seconds')`);
}

export interface NewApiKey {
  readonly name: string;
  readonly prefix: string;
  readonly hash: Buffer;
  readonly expiresAt: string | null;
  /** Default: everything. */
  readonly scopes?: readonly KeyScope[];
}

/**
 * Adds a key, and an entry in the audit log if `by` is given. Returns null when another key has the same prefix (call
 * again with a new key). Rejects with quotaExceeded when the tenant has `max` keys already (0: no limit).
 */
export async function insertApiKey(
  db: Db,
  tenantId: string,
  key: NewApiKey,
  { by = null, max = 0 }: { by?: Origin | null; max?: number } = {},
): Promise<ApiKeyRow | null> {
  return await db.transaction(async (tx) => {
    const exceeded = () => quotaExceeded(`An account can have at most ${max} API keys; revoke one first`);
    await requireBelowQuota(tx, "api_keys", tenantId, max, exceeded, sql.fragment`revoked_at is null`);
    return await tx.maybeOne(sql.type(row)`
      with made as (
        insert into api_keys (id, tenant_id, name, key_prefix, key_hash, expires_at, scopes)
        values (${newId()}, ${tenantId}, ${key.name}, ${key.prefix}, ${sql.binary(key.hash)}, ${key.expiresAt},
          ${sql.array([...(key.scopes ?? [])], "text")})
        on conflict do nothing
        returning ${columns}
      ), ${auditEntry("made", "api_key.created", tenantId, by)}
      select ${columns} from made`);
  });
}

/** Returns all keys that are not revoked, newest first. */
export async function listApiKeys(db: Db, tenantId: string): Promise<readonly ApiKeyRow[]> {
  return await db.any(sql.type(row)`
    select ${columns} from api_keys where tenant_id = ${tenantId} and revoked_at is null
    order by created_at desc, id desc`);
}

/** Revokes a key; false when there is no such key or it is revoked already. */
export async function revokeApiKey(
  db: Db,
  tenantId: string,
  id: string,
  by: Origin | null = null,
): Promise<boolean> {
  const revoked = await db.maybeOne(sql.type(z.object({ id: z.string() }))`
    with gone as (
      update api_keys set revoked_at = now()
      where tenant_id = ${tenantId} and id = ${id} and revoked_at is null
      returning id, key_prefix
    ), ${auditEntry("gone", "api_key.revoked", tenantId, by)}
    select id from gone`);
  return revoked !== null;
}

const heritage = row.pick({ name: true, expires_at: true, scopes: true });

/**
 * Returns what a new key in place of this one has, and locks this one until the transaction ends. Rejects with apiKeyNotFound, also if
 * it is revoked.
 */
export const lockApiKey = (tx: Db, tenantId: string, id: string) =>
  tx.expecting(apiKeyNotFound).one(sql.type(heritage)`
    select name, scopes,
      -- RFC 3339 ends with the year 9999. Without the case, least would ignore a null.
      case when expires_at is not null then least(now() + (expires_at - created_at), '9999-12-31 23:59:59.999Z') end as expires_at
    from api_keys
    where tenant_id = ${tenantId} and id = ${id} and revoked_at is null for update`);

/**
 * Replaces a key with a new one of the same name and scopes and, if the old one expires, with the same lifetime from now on. The
 * old key stays valid for `overlapSeconds`; with 0 it is revoked at once. Returns null as insertApiKey does; rejects
 * with apiKeyNotFound, or with insufficientScope if the key `by` lacks scopes of the old key.
 */
export async function rotateApiKey(
  db: Db,
  tenantId: string,
  id: string,
  next: Pick<NewApiKey, "prefix" | "hash"> & { overlapSeconds: number; by: readonly string[] },
  { by, max }: { by: Origin; max: number },
): Promise<ApiKeyRow | null> {
  return await db.transaction(async (tx) => {
    const old = await lockApiKey(tx, tenantId, id);
    if (!mayGrant(next.by, old.scopes)) throw insufficientScope("all scopes of the other key", next.by);
    const expiresAt = old.expires_at === null ? null : new Date(old.expires_at).toISOString();
    const key = { ...next, name: old.name, scopes: old.scopes, expiresAt };
    const made = await insertApiKey(tx, tenantId, key, { max: next.overlapSeconds === 0 ? 0 : max, by });
    if (made === null) return null;
    await tx.query(sql.fragment`
      with changed as (
        update api_keys set
          revoked_at = case when ${next.overlapSeconds}::int = 0 then now() end,
          expires_at = case when ${next.overlapSeconds}::int = 0 then expires_at
            else least(expires_at, now() + make_interval(secs => ${next.overlapSeconds}::int)) end
        where tenant_id = ${tenantId} and id = ${id}
        returning id, key_prefix
      ), ${auditEntry("changed", "api_key.rotated", tenantId, by)}
      select from changed`);
    return made;
  });
}

/** Returns the tenant of a key that is not revoked, or null. For plosive-admin, which does not run as one tenant. */
export async function maybeOneOwnerOfKey(db: Db, id: string): Promise<string | null> {
  return await db.maybeOneFirst(sql.type(z.object({ tenant_id: z.string() }))`
    select tenant_id from api_keys where id = ${id} and revoked_at is null`);
}
