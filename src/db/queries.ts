// What may be asked of the database, on a pool, on one connection or inside a transaction alike: slonik's methods and its
// `sql`, run by us. Slonik's own way through a query costs three times as much (docs/adr/0012-own-query-layer.md).
// Made by pool.ts.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type CommonQueryMethods,
  DataIntegrityError,
  NotFoundError,
  type QueryResultRow,
  type QuerySqlToken,
  SchemaValidationError,
} from "slonik";
import type { Connection } from "./connection.ts";

export interface Db
  extends Pick<
    CommonQueryMethods,
    "any" | "anyFirst" | "exists" | "maybeOne" | "maybeOneFirst" | "one" | "oneFirst"
  > {
  query(query: QuerySqlToken): Promise<{ readonly rowCount: number }>;
  /**
   * Commits when the handler resolves, rolls back when it rejects. Once more, up to five times, when the server asks for
   * it: serialization failures and deadlocks. So is a statement outside of transactions. Inside a transaction: a savepoint.
   */
  transaction<T>(handler: (tx: Db) => Promise<T>): Promise<T>;
  /** The same, as one tenant sees it (row-level security). */
  asTenant(tenantId: string): Db;
}

/** Lends a connection for as long as `work` takes. */
export type Lend = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

const retries = 5;

const insideTransaction = new AsyncLocalStorage<true>();

/** Whoever has a connection and asks for another can wait for ever, with everybody else who does the same. */
export function refuseForeignConnection(): void {
  if (insideTransaction.getStore())
    throw new Error("the work of a transaction asked for a foreign connection: it must use its own");
}

interface Rows {
  readonly rows: readonly QueryResultRow[];
  readonly rowCount: number;
}

/** `depth`: of how many transactions inside each other these are the queries. */
export function makeQueries(lend: Lend, tenantId?: string, depth = 0): Db {
  const run = async (query: QuerySqlToken): Promise<Rows> => {
    // A transaction has named its tenant at its begin.
    const statement = {
      text: query.sql,
      values: query.values,
      tenantId: depth === 0 ? tenantId : undefined,
    };
    const ask = () => lend((connection) => connection.run(statement));
    const { rows, rowCount } = depth === 0 ? await retried(ask) : await ask();
    return { rows: parsed(query, rows as QueryResultRow[]), rowCount };
  };
  const all = async (query: QuerySqlToken) => (await run(query)).rows;
  const atMostOne = async (query: QuerySqlToken) => {
    const rows = await all(query);
    if (rows.length > 1) throw new DataIntegrityError("the query gave more rows than one", query);
    return rows[0] ?? null;
  };
  const exactlyOne = async (query: QuerySqlToken) => {
    const row = await atMostOne(query);
    if (row === null) throw new NotFoundError("the query gave no row", query);
    return row;
  };
  const queries = {
    any: all,
    anyFirst: async (query: QuerySqlToken) => (await all(query)).map(first),
    maybeOne: atMostOne,
    maybeOneFirst: async (query: QuerySqlToken) => {
      const row = await atMostOne(query);
      return row === null ? null : first(row);
    },
    one: exactlyOne,
    oneFirst: async (query: QuerySqlToken) => first(await exactlyOne(query)),
    exists: async (query: QuerySqlToken) =>
      first(await exactlyOne({ ...query, sql: `select exists(${query.sql})`, parser: undefined } as never)),
    query: run,
    transaction: <T>(handler: (tx: Db) => Promise<T>) =>
      depth === 0
        ? retried(() =>
            lend((connection) =>
              within(connection, {
                begin: begin(tenantId),
                commit: "commit",
                rollback: "rollback",
                tenantId,
                depth,
                handler,
              }),
            ),
          )
        : lend((connection) =>
            within(connection, {
              begin: `savepoint s${depth}`,
              commit: `release savepoint s${depth}`,
              rollback: `rollback to savepoint s${depth}`,
              tenantId,
              depth,
              handler,
            }),
          ),
    asTenant: (id: string) => {
      if (depth > 0) throw new Error("a transaction has the tenant that it began with");
      return makeQueries(lend, checkedId(id));
    },
  };
  return queries as unknown as Db;
}

interface Transaction<T> {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
  readonly tenantId: string | undefined;
  readonly depth: number;
  readonly handler: (tx: Db) => Promise<T>;
}

async function within<T>(connection: Connection, transaction: Transaction<T>): Promise<T> {
  try {
    await connection.command(transaction.begin);
    const tx = makeQueries((work) => work(connection), transaction.tenantId, transaction.depth + 1);
    const result = await insideTransaction.run(true, () => transaction.handler(tx));
    // Postgres answers the commit of a transaction in which a statement failed with a rollback and no error.
    if ((await connection.command(transaction.commit)) === "ROLLBACK")
      throw new Error("a transaction was to be committed although a statement in it had failed");
    return result;
  } catch (error) {
    // After a refused commit too: Postgres tells of it before it gives the locks back, and whoever tries again must not
    // meet them. A broken connection rolls back by itself.
    await connection.command(transaction.rollback).catch(() => {});
    throw error;
  }
}

/** Both in one message; `local` is until the transaction ends. */
const begin = (tenantId: string | undefined) =>
  tenantId === undefined ? "begin" : `begin; set local app.tenant_id = '${tenantId}'`;

/** It becomes part of a statement. */
function checkedId(id: string): string {
  if (!/^[0-9a-f-]{36}$/i.test(id)) throw new Error("a tenant's id must be a UUID");
  return id;
}

async function retried<T>(attempt: () => Promise<T>): Promise<T> {
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

/** Every row passes the schema that stands beside its query: a column that changed its type fails loudly. */
function parsed(query: QuerySqlToken, rows: readonly QueryResultRow[]): readonly QueryResultRow[] {
  const schema = query.parser?.["~standard"];
  if (schema === undefined) return rows;
  return rows.map((row) => {
    const outcome = schema.validate(row);
    if (outcome instanceof Promise) throw new Error("a row schema must not be asynchronous");
    if (outcome.issues) throw new SchemaValidationError(query, row, outcome.issues);
    return outcome.value as QueryResultRow;
  });
}
