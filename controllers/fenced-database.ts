// Fencing for the database, as runtime/fence.ts is for Kubernetes. A process that was frozen resumes in the middle of a
// reconcile, with old facts and the current time, while another replica may lead already. Created by operator.ts.
import type { Database, Queries } from "../src/db/job.ts";
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
 * rolled back.
 */
export function fencedDatabase(db: Database, leads: () => boolean): Database {
  const check = () => {
    if (!leads()) throw new RetryError("this replica is no longer the leader");
  };
  return fence(db, check);
}

function fence<D extends Queries>(db: D, check: () => void): D {
  const guarded = queryMethods.map((name) => {
    const run = db[name] as (query: unknown) => Promise<unknown>;
    return [
      name,
      async (query: unknown) => {
        check();
        return run(query);
      },
    ];
  });
  const transaction = async <T>(handler: (tx: Queries) => Promise<T>): Promise<T> => {
    check();
    return db.transaction(async (tx) => {
      const result = await handler(fence(tx, check));
      check();
      return result;
    });
  };
  return { ...db, ...Object.fromEntries(guarded), transaction };
}
