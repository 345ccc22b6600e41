// The query methods: the same on the pool, on one connection and in a transaction. They have slonik's interface and
// take its `sql`, but do not run slonik's own pipeline, which takes three times as long
// (docs/adr/0012-query-layer.md). Made by pool.ts.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type CommonQueryMethods,
  DataIntegrityError,
  type FragmentSqlToken,
  NotFoundError,
  type QueryResultRow,
  type QuerySqlToken,
  SchemaValidationError,
} from "slonik";
import { inSlices } from "../../slices.ts";
import { begin, type Connection, command, run as runOn } from "./connection.ts";

type One = Pick<CommonQueryMethods, "one" | "oneFirst">;
type Statement = FragmentSqlToken | QuerySqlToken;

export interface Db extends One, Pick<CommonQueryMethods, "any" | "anyFirst" | "maybeOne" | "maybeOneFirst"> {
  /** Returns the methods that reject with `missing()` when there is no row. */
  expecting(missing: () => Error): One;
  /** Runs a statement whose rows do not matter: a fragment, because it needs no schema. */
  query(statement: Statement): Promise<{ readonly rowCount: number }>;
  exists(statement: Statement): Promise<boolean>;
  /**
   * Commits when the handler resolves, rolls back when it rejects. After a serialization failure or deadlock it runs
   * again, up to five times; so does a statement outside a transaction. Inside a transaction it uses a savepoint,
   * without retries.
   */
  transaction<T>(handler: (tx: Db) => Promise<T>): Promise<T>;
  /** Returns the same methods, restricted to the rows of one tenant (row-level security). */
  asTenant(tenantId: string): Db;
}

/** Lends a connection to `work` until it ends, out of the tenant's share if there is a tenant. */
export type Lend = <T>(work: (connection: Connection) => Promise<T>, tenantId?: string) => Promise<T>;

const retries = 5;

const insideTransaction = new AsyncLocalStorage<true>();

/** Throws inside a transaction: waiting for a second connection while holding one can deadlock the whole pool. */
export function refuseNestedConnection(): void {
  if (insideTransaction.getStore())
    throw new Error("a transaction requested another connection: run the query on the transaction (tx)");
}

/** `depth`: the nesting level of transactions; 0 is outside any transaction. */
export function makeQueries(lendTo: Lend, tenantId?: string, depth = 0): Db {
  const lend: Lend = (work) => lendTo(work, tenantId);
  const run = async (query: QuerySqlToken) => {
    // Inside a transaction, `begin` has already set the tenant.
    const statement = {
      text: query.sql,
      values: query.values,
      tenantId: depth === 0 ? tenantId : undefined,
    };
    const ask = () => lend((connection) => runOn(connection, statement));
    const { rows, rowCount } = depth === 0 ? await withRetries(ask) : await ask();
    return { rows: await parsed(query, rows as QueryResultRow[]), rowCount };
  };
  const all = async (query: QuerySqlToken) => (await run(query)).rows;
  const atMostOne = async (query: QuerySqlToken) => {
    const rows = await all(query);
    if (rows.length > 1) throw new DataIntegrityError("the query returned more than one row", query);
    return rows[0] ?? null;
  };
  const one = async (query: QuerySqlToken, missing?: () => Error) => {
    const row = await atMostOne(query);
    if (row === null) throw missing?.() ?? new NotFoundError("the query returned no row", query);
    return row;
  };
  const oneOr = (missing?: () => Error) => ({
    one: (query: QuerySqlToken) => one(query, missing),
    oneFirst: async (query: QuerySqlToken) => first(await one(query, missing)),
  });
  const queries = {
    any: all,
    anyFirst: async (query: QuerySqlToken) => (await all(query)).map(first),
    maybeOne: atMostOne,
    maybeOneFirst: async (query: QuerySqlToken) => {
      const row = await atMostOne(query);
      return row === null ? null : first(row);
    },
    ...oneOr(),
    expecting: oneOr,
    exists: async (query: QuerySqlToken) =>
      first(await one({ ...query, sql: `select exists(${query.sql})`, parser: undefined } as never)),
    query: run,
    transaction: <T>(handler: (tx: Db) => Promise<T>) => {
      const attempt = () => lend((connection) => runTransaction(connection, handler, tenantId, depth));
      return depth === 0 ? withRetries(attempt) : attempt();
    },
    asTenant: (id: string) => {
      if (depth > 0) throw new Error("cannot change the tenant inside a transaction");
      return makeQueries(lendTo, checkedId(id));
    },
  };
  return queries as unknown as Db;
}

async function runTransaction<T>(
  connection: Connection,
  handler: (tx: Db) => Promise<T>,
  tenantId: string | undefined,
  depth: number,
): Promise<T> {
  const savepoint = `savepoint s${depth}`;
  const [open, commit, rollback] =
    depth === 0
      ? [begin(tenantId), "commit", "rollback"]
      : [savepoint, `release ${savepoint}`, `rollback to ${savepoint}`];
  try {
    await command(connection, open);
    const tx = makeQueries((work) => work(connection), tenantId, depth + 1);
    const result = await insideTransaction.run(true, () => handler(tx));
    // If a statement of the transaction failed, Postgres reports ROLLBACK for the commit, and no error.
    if ((await command(connection, commit)) === "ROLLBACK")
      throw new Error("cannot commit the transaction: a statement in it failed, so Postgres rolled it back");
    return result;
  } catch (error) {
    // Also after a failed commit: Postgres reports the failure before it releases the locks, and a retry must not meet
    // them. A broken connection rolls back by itself.
    await command(connection, rollback).catch(() => {});
    throw error;
  }
}

/** Validates the id, because it becomes part of an SQL statement. */
function checkedId(id: string): string {
  if (!/^[0-9a-f-]{36}$/i.test(id)) throw new Error("a tenant's id must be a UUID");
  return id;
}

async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = retries; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (left === 0 || !code.startsWith("40")) throw error;
    }
  }
}

const first = (row: QueryResultRow): unknown => Object.values(row)[0];

/** Validates every row with the schema of its query: a column that changed its type causes an error. */
async function parsed(
  query: QuerySqlToken,
  rows: readonly QueryResultRow[],
): Promise<readonly QueryResultRow[]> {
  const schema = query.parser?.["~standard"];
  if (schema === undefined) return rows;
  return await inSlices(rows, (row) => {
    const outcome = schema.validate(row);
    if (outcome instanceof Promise) throw new Error("a row schema must not be asynchronous");
    if (outcome.issues) throw new SchemaValidationError(query, row, outcome.issues);
    return outcome.value as QueryResultRow;
  });
}
