// Fencing for the database, as runtime/fence.ts is for Kubernetes. A process that was frozen resumes in the middle of a
// reconcile, with old facts and the current time, while another replica may lead already. Created by operator.ts.

import { isDatabaseUnavailable } from "../src/db/driver/errors.ts";
import type { Db } from "../src/db/driver/page.ts";
import type { DatabasePool } from "../src/db/driver/pool.ts";
import type { OutageSource } from "./runtime/outages.ts";
import { RetryError } from "./runtime/outcome.ts";

const queryMethods = [
  "any",
  "anyFirst",
  "exists",
  "maybeOne",
  "maybeOneFirst",
  "one",
  "oneFirst",
  "query",
] as const;

/**
 * Returns a database that rejects every query with RetryError once this replica does not lead. Open transactions are
 * rolled back. The outcome of every query goes to `outages`.
 */
export function fencedDatabase(db: DatabasePool, leads: () => boolean, outages: OutageSource): DatabasePool {
  const check = () => {
    if (!leads()) throw new RetryError("this replica is no longer the leader");
  };
  const observe = async <T>(result: Promise<T>): Promise<T> => {
    try {
      const value = await result;
      outages.succeeded();
      return value;
    } catch (error) {
      if (isDatabaseUnavailable(error)) outages.failed();
      throw error;
    }
  };
  return fence(db, check, observe);
}

type Observe = <T>(result: Promise<T>) => Promise<T>;

function fence<D extends Db>(db: D, check: () => void, observe: Observe): D {
  const guarded = queryMethods.map((name) => {
    const run = db[name] as (query: unknown) => Promise<unknown>;
    return [
      name,
      async (query: unknown) => {
        check();
        return observe(run(query));
      },
    ];
  });
  const transaction = async <T>(handler: (tx: Db) => Promise<T>): Promise<T> => {
    check();
    return observe(
      db.transaction(async (tx) => {
        const result = await handler(fence(tx, check, observe));
        check();
        return result;
      }),
    );
  };
  return { ...db, ...Object.fromEntries(guarded), transaction };
}
