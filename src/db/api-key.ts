// API keys: only their SHA-256 digest is kept. Asked once by every request (src/api/authenticate.ts).
import { sql } from "slonik";
import { z } from "zod";
import { apiKeyNotFound } from "../errors.ts";
import type { Origin } from "./audit.ts";
import { newId } from "./id.ts";
import type { Db } from "./page.ts";
import { hasPlace, takeTurn } from "./quota.ts";

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
  /** Null when the key opens nothing. */
  admitted: z.boolean().nullable(),
  /** Seconds until the full burst of the default rate is free again; the other one likewise. */
  used: z.number().nullable(),
  policy_used: z.number().nullable(),
});
export type CallerRow = z.infer<typeof caller>;
const callerOrNone = z.union([caller, z.object({ id: z.null() })]);

/** Requests at a steady rate, and so many at once. In seconds, as the database counts. */
export interface Rate {
  /** For one request at the steady rate. */
  readonly gap: number;
  /** For as many requests as may come at once. Infinity: no limit. */
  readonly span: number;
}

/** The rates that a request counts against: the default one, and the one with the number `policy` (1: none besides). */
export interface RatesOfRequest {
  readonly rate: Rate;
  readonly policy: number;
  readonly policyRate: Rate;
}

/**
 * The key with this digest, unless it is revoked, and whether each of so many requests is within its tenant's rates, as
 * if they had come one after the other. One statement, never cached, so that revocation holds at once on every replica
 * and rates are exact. By a function of the database: its tenant is not known yet, so no row is visible.
 */
export async function manyCallers(
  db: Db,
  hash: Buffer,
  requests: readonly RatesOfRequest[],
): Promise<readonly (CallerRow | null)[]> {
  // The driver takes no infinite numbers, Postgres reads them as text.
  const numbers = (of: (request: RatesOfRequest) => number) =>
    sql.array(
      requests.map((request) => String(of(request))),
      "float8",
    );
  const rows = await db.any(sql.type(callerOrNone)`
    select id, tenant_id, expired, suspended, unnoticed, admitted, used, policy_used
    from unnest(${numbers(({ rate }) => rate.gap)}, ${numbers(({ rate }) => rate.span)},
        ${numbers(({ policy }) => policy)}, ${numbers(({ policyRate }) => policyRate.gap)},
        ${numbers(({ policyRate }) => policyRate.span)})
      with ordinality as r (gap, span, policy, policy_gap, policy_span, n)
    left join lateral admit_caller(${sql.binary(hash)}, gap, span, policy::int, policy_gap, policy_span) on true
    order by n`);
  return rows.map((row) => (row.id === null ? null : row));
}

/** Whether a key that opened a request still does. Asked again by answers that take their time. */
export async function isKeyOpen(db: Db, tenantId: string, id: string): Promise<boolean> {
  return await db.exists(sql.type(z.object({}))`
    select from api_keys k join tenants t on t.id = k.tenant_id
    where k.tenant_id = ${tenantId} and k.id = ${id} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now()) and t.suspended_at is null`);
}

/** Notes that a key is in use, at most once a minute: a write for every request would be the most frequent of all. */
export async function touchApiKey(db: Db, id: string): Promise<void> {
  await db.query(sql.type(z.object({}))`
    update api_keys set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '60 seconds')`);
}

export interface NewApiKey {
  readonly name: string;
  readonly prefix: string;
  readonly hash: Buffer;
  readonly expiresAt: string | null;
}

/**
 * Adds a key, and notes in the audit log who did if `by` says so. Null when its prefix is taken (make another key and
 * call again) or when the tenant has `most` keys already; 0: no limit.
 */
export async function insertApiKey(
  db: Db,
  tenantId: string,
  key: NewApiKey,
  { by = null, most = 0 }: { by?: Origin | null; most?: number } = {},
): Promise<ApiKeyRow | null> {
  return await db.transaction(async (tx) => {
    if (most > 0) await takeTurn(tx, "api_keys", tenantId);
    return await tx.maybeOne(sql.type(row)`
      with made as (
        insert into api_keys (id, tenant_id, name, key_prefix, key_hash, expires_at)
        select ${newId()}, ${tenantId}, ${key.name}, ${key.prefix}, ${sql.binary(key.hash)}, ${key.expiresAt}
        where ${hasPlace("api_keys", tenantId, most, sql.fragment`revoked_at is null`)}
        on conflict do nothing
        returning ${columns}
      ), ${noted("made", "api_key.created", tenantId, by)}
      select ${columns} from made`);
  });
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
    ), ${noted("gone", "api_key.revoked", tenantId, by)}
    select id from gone`);
  return revoked !== null;
}

/**
 * Puts another key in place of one: with its name and, if it had an end, with the same life from now on. The old one
 * works for `overlapSeconds` more, 0: not any more. Null when the prefix is taken, as with insertApiKey; apiKeyNotFound.
 */
export async function rotateApiKey(
  db: Db,
  tenantId: string,
  id: string,
  next: Pick<NewApiKey, "prefix" | "hash"> & { overlapSeconds: number },
  { by, most }: { by: Origin; most: number },
): Promise<ApiKeyRow | null> {
  const life = z.object({ name: z.string(), expires_at: z.number().nullable() });
  return await db.transaction(async (tx) => {
    const old = await tx.maybeOne(sql.type(life)`
      select name, now() + (expires_at - created_at) as expires_at from api_keys
      where tenant_id = ${tenantId} and id = ${id} and revoked_at is null for update`);
    if (old === null) throw apiKeyNotFound();
    const expiresAt = old.expires_at === null ? null : new Date(old.expires_at).toISOString();
    const key = { ...next, name: old.name, expiresAt };
    const made = await insertApiKey(tx, tenantId, key, { most: next.overlapSeconds === 0 ? 0 : most, by });
    if (made === null) return null;
    await tx.query(sql.type(z.object({}))`
      with changed as (
        update api_keys set
          revoked_at = case when ${next.overlapSeconds}::int = 0 then now() end,
          expires_at = case when ${next.overlapSeconds}::int = 0 then expires_at
            else least(expires_at, now() + make_interval(secs => ${next.overlapSeconds}::int)) end
        where tenant_id = ${tenantId} and id = ${id}
        returning id, key_prefix
      ), ${noted("changed", "api_key.rotated", tenantId, by)}
      select from changed`);
    return made;
  });
}

/** A part of a statement: a line in the audit log for each row of its part `keys`. */
function noted(keys: string, action: string, tenantId: string, by: Origin | null) {
  return sql.fragment`noted as (
    insert into audit_log (tenant_id, action, api_key_id, key_prefix, actor_key_id, ip, request_id)
    select ${tenantId}::uuid, ${action}, id, key_prefix, ${by?.actorKeyId ?? null}::uuid,
      ${by === null || by.ip === "" ? null : by.ip}::inet, ${by?.requestId ?? null}
    from ${sql.identifier([keys])} where ${by !== null}
  )`;
}

/** Whose key it is, unless it is revoked. For plosive-admin, which serves no tenant. */
export async function maybeOneOwnerOfKey(db: Db, id: string): Promise<string | null> {
  return await db.maybeOneFirst(sql.type(z.object({ tenant_id: z.string() }))`
    select tenant_id from api_keys where id = ${id} and revoked_at is null`);
}
