// What was done with API keys and which of them were refused: for whoever looks into a break-in. Never the keys, only
// their first characters. What is done with keys is noted in the statement that does it (api-key.ts), refusals here, by
// authentication.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";

/** Where a request came from. Not from the API: without address. */
export interface Origin {
  /** The key that was used. */
  readonly actorKeyId: string | null;
  readonly ip: string;
  readonly requestId: string | null;
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
