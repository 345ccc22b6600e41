// The records for what only the leader may do, as runtime/fence.ts is for Kubernetes: a process that was frozen goes on in
// the middle of a reconcile, with facts of long ago and the time of now, and another one may lead by then. Made by
// operator.ts.
import type { Database, Queries } from "../src/db/job.ts";
import { RetryError } from "./runtime/outcome.ts";

const asked = ["any", "anyFirst", "exists", "maybeOne", "maybeOneFirst", "one", "oneFirst", "query"] as const;

/** Rejects all work once this replica does not lead; a transaction that has begun is rolled back. */
export function fencedDatabase(db: Database, leads: () => boolean): Database {
  const check = () => {
    if (!leads()) throw new RetryError("this replica does not lead any more");
  };
  return fence(db, check);
}

function fence<D extends Queries>(db: D, check: () => void): D {
  const guarded = asked.map((name) => {
    const ask = db[name] as (query: unknown) => Promise<unknown>;
    return [
      name,
      async (query: unknown) => {
        check();
        return ask(query);
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
