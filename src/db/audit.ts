// What was done with API keys and which of them were refused: for whoever looks into a break-in. Never the keys, only
// their first characters. Written by the key routes in the same transaction as the change, and by authentication.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";

/** Where a request came from. */
export interface Origin {
  /** The key that was used. */
  readonly actorKeyId: string | null;
  readonly ip: string;
  readonly requestId: string;
}

export interface KeyChange {
  readonly action: "api_key.created" | "api_key.revoked" | "api_key.rotated";
  readonly keyId: string;
  readonly prefix: string;
}

export async function insertAudit(
  db: Db,
  tenantId: string,
  change: KeyChange,
  origin: Origin,
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    insert into audit_log (tenant_id, action, api_key_id, key_prefix, actor_key_id, ip, request_id)
    values (${tenantId}, ${change.action}, ${change.keyId}, ${change.prefix}, ${origin.actorKeyId},
      ${origin.ip === "" ? null : origin.ip}, ${origin.requestId})`);
}

export interface Refusal {
  /** Null: nobody has such a key. */
  readonly tenantId: string | null;
  readonly reason: "unknown" | "expired" | "suspended";
  readonly prefix: string;
}

/** Works without a tenant: through a function of the database. */
export async function insertRefusal(
  db: Db,
  refusal: Refusal,
  origin: Omit<Origin, "actorKeyId">,
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    select note_refused_key(${refusal.tenantId}, ${refusal.reason}, ${refusal.prefix},
      ${origin.ip === "" ? null : origin.ip}::inet, ${origin.requestId})`);
}

/** Forgets what is older than 400 days. Called by the operator's sweep. Returns how many. */
export async function purgeAudit(db: Db): Promise<number> {
  const purged = await db.query(sql.type(z.object({}))`
    delete from audit_log where created_at < now() - interval '400 days'`);
  return purged.rowCount;
}
