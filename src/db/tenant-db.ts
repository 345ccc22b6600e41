// The database as one tenant sees it: every statement and every transaction names the tenant for row-level security
// (migration 0004), until it ends and no longer. Made for each request by src/api/answer.ts, and by whoever works for one
// tenant at a time.
import { tenantScope } from "./driver.ts";
import type { Db } from "./page.ts";

const methods = [
  "any",
  "anyFirst",
  "exists",
  "many",
  "manyFirst",
  "maybeOne",
  "maybeOneFirst",
  "one",
  "oneFirst",
  "query",
  "record",
  "stream",
] as const;

/**
 * `db` is a pool or a connection, outside of any transaction. A statement costs one round trip, as without a tenant;
 * a transaction one more at its begin and one at its end, and inside it another is a savepoint.
 */
export function tenantDatabase(db: Db, tenantId: string): Db {
  const single = methods.map((name) => {
    const method = db[name] as (...args: unknown[]) => Promise<unknown>;
    return [name, (...args: unknown[]) => tenantScope.run(tenantId, () => method.apply(db, args))];
  });
  return {
    ...(Object.fromEntries(single) as Omit<Db, "transaction">),
    transaction: (handler, retryLimit) =>
      tenantScope.run(tenantId, () => db.transaction(handler, retryLimit)),
  };
}
