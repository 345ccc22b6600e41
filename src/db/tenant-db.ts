// The database restricted to one tenant: every statement and transaction sets the tenant for row-level security
// (migration 0004), only until it ends. Made for each request by src/api/answer.ts, and by code that works for one
// tenant at a time.
import type { Db } from "./page.ts";

/**
 * Restricts `db`, a pool or a connection outside any transaction, to one tenant. Setting the tenant needs no round
 * trip: it is sent with the statement, or with the `begin` of the transaction.
 */
export function tenantDatabase(db: Db, tenantId: string): Db {
  return db.asTenant(tenantId);
}
