// The audit log of API keys, for the investigation of a break-in: changes of keys, refused keys, and sessions of the
// dashboard. It never contains a key, only its first characters. The statements that change keys and sessions log
// themselves (api-key.ts, dashboard-session.ts); authentication logs refusals with this file.
import { sql } from "slonik";
import { deleteOld } from "./deletion.ts";
import type { Db } from "./driver/page.ts";

/** Where a request came from. `ip` is empty when the request did not come through the API. */
export interface Origin {
  /** The key that authenticated the request. */
  readonly actorKeyId: string | null;
  /** Digest of the token of the session that the request came with. If it is a user's, the entry names the user. */
  readonly session?: Buffer | null;
  readonly ip: string;
  readonly requestId: string | null;
}

export interface Refusal {
  /** Null: the key does not exist. */
  readonly tenantId: string | null;
  readonly reason: "unknown" | "expired" | "suspended";
  readonly prefix: string;
}

/** The address of a request in SQL; null when it is not known. */
export const inetOf = (ip = "") => sql.fragment`${ip === "" ? null : ip}::inet`;

/** Logs a refused key. It calls a database function, because there is no tenant to run as. */
export async function insertRefusal(
  db: Db,
  refusal: Refusal,
  origin: Omit<Origin, "actorKeyId" | "session">,
): Promise<void> {
  await db.query(sql.fragment`
    select note_refused_key(${refusal.tenantId}, ${refusal.reason}, ${refusal.prefix},
      ${inetOf(origin.ip)}, ${origin.requestId})`);
}

/** The user of a row `s` of dashboard_sessions, as the audit log names it. */
export const userOfSession = sql.fragment`
  jsonb_build_object('issuer', s.issuer, 'subject', s.subject, 'name', s.user_name)`;

/** A CTE that adds an entry to the audit log for each row of the CTE `keys` (id, key_prefix). */
export function auditEntry(keys: string, action: string, tenantId: string, by: Origin | null) {
  // plosive-admin may not read digests, and has no session.
  const user =
    by?.session == null
      ? sql.fragment`null::jsonb`
      : sql.fragment`(
        select ${userOfSession} from dashboard_sessions s
        where s.tenant_id = ${tenantId} and s.digest = ${sql.binary(by.session)} and s.subject is not null)`;
  return sql.fragment`noted as (
    insert into audit_log (tenant_id, action, api_key_id, key_prefix, actor_key_id, dashboard_user, ip, request_id)
    select ${tenantId}::uuid, ${action}, id, key_prefix, ${by?.actorKeyId ?? null}::uuid, ${user},
      ${inetOf(by?.ip)}, ${by?.requestId ?? null}
    from ${sql.identifier([keys])} where ${by !== null}
  )`;
}

/**
 * Deletes at most `limit` entries older than 400 days and returns how many. Those of erased tenants stay: bootstrap.ts would create the
 * first one again. Called by the operator's sweep.
 */
export const purgeAudit = (db: Db, limit: number) =>
  deleteOld(db, "audit_log", "400 days", limit, sql.fragment`action <> 'tenant.erased'`);
