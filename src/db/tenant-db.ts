// The database as one tenant sees it: every statement and every transaction names the tenant for row-level security
// (migration 0004), until it ends and no longer. Made for each request by src/api/answer.ts, and by whoever works for one
// tenant at a time.
import { type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
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

/** A statement on its own is a transaction of its own; `transaction` is one, and inside it a savepoint, as on the pool. */
export function tenantDatabase(pool: Pick<Db, "transaction">, tenantId: string): Db {
  const transaction: Db["transaction"] = (handler, retryLimit) =>
    pool.transaction(async (tx) => {
      await tx.query(sql.type(z.object({}))`select set_config('app.tenant_id', ${tenantId}, true)`);
      return await handler(tx);
    }, retryLimit);
  const single = methods.map((name) => [
    name,
    (...args: unknown[]) =>
      transaction((tx: DatabaseTransactionConnection) =>
        (tx[name] as (...args: unknown[]) => Promise<unknown>)(...args),
      ),
  ]);
  return { ...(Object.fromEntries(single) as Omit<Db, "transaction">), transaction };
}
