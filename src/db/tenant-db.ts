// The database as one tenant sees it: every statement and every transaction names the tenant for row-level security
// (migration 0004), until it ends and no longer. Made for each request by src/api/answer.ts, and by whoever works for one
// tenant at a time.
import type { Db } from "./page.ts";

/**
 * `db` is a pool or a connection, outside of any transaction. The name costs no round trip: it travels with the statement,
 * or with the begin of the transaction.
 */
export function tenantDatabase(db: Db, tenantId: string): Db {
  return db.asTenant(tenantId);
}
