// The connections to Postgres. Made once by each main file (API, operator, bootstrap) and passed on as an argument.
import {
  createPool,
  createTypeParserPreset,
  type DatabasePool,
  type Interceptor,
  SchemaValidationError,
} from "slonik";
import { makeDriver } from "./driver.ts";
import { makeLimit } from "./limit.ts";

export type { DatabasePool };

export interface DatabaseConfig {
  readonly PLOSIVE_DATABASE_URL: string;
  readonly PLOSIVE_DATABASE_POOL: number;
}

/** How long one statement may take, in ms: clients wait for the API, nobody for the operator. */
export const statementTimeoutMs = { api: 5_000, operator: 60_000 } as const;

/** What a process may do, whoever it logs in as (migration 0004). Without one it has the rights of its login. */
export type Role = "plosive_api" | "plosive_operator" | "plosive_admin";

/**
 * A pool of at most PLOSIVE_DATABASE_POOL connections. Rejects when the database cannot be reached: the driver asks
 * it for its types first. Rows pass the schema of their query; `timestamptz` and `bigint` arrive as numbers
 * (milliseconds since 1970; every bigint of ours stays below 2^53).
 */
export async function makeDatabase(
  config: DatabaseConfig,
  statementTimeout: number = statementTimeoutMs.api,
  role?: Role,
): Promise<DatabasePool> {
  const pool = await createPool(addressFor(config.PLOSIVE_DATABASE_URL, role), {
    maxPoolSize: config.PLOSIVE_DATABASE_POOL,
    driverFactory: makeDriver,
    poolName: "plosive",
    connectionTimeout: 3_000,
    // A failed attempt is told to the caller, who knows better whether to try again.
    connectionRetryLimit: 0,
    statementTimeout,
    idleInTransactionSessionTimeout: 15_000,
    idleTimeout: 30_000,
    // No statement of ours leaves state in a session, so DISCARD ALL would only cost a round trip at every release.
    resetConnection: async () => {},
    interceptors: [rowSchema],
    typeParsers: [
      ...createTypeParserPreset().filter(({ name }) => name !== "int8"),
      { name: "int8", parse: Number },
    ],
  });
  // What fails rejects where it was asked for. An event without a listener would end the process on top of that.
  pool.on("error", () => {});
  return queued(pool, config.PLOSIVE_DATABASE_POOL);
}

/** The role is part of how a session starts: it costs no round trip, and no statement comes before it. */
function addressFor(address: string, role: Role | undefined): string {
  if (role === undefined) return address;
  const url = new URL(address);
  const options = url.searchParams.get("options");
  url.searchParams.set("options", `${options === null ? "" : `${options} `}-c role=${role}`);
  return url.href;
}

const methods = [
  "any",
  "anyFirst",
  "connect",
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
  "transaction",
] as const;

/**
 * The pool with a queue of ours in front of its own. Its own forgets who waits when the database goes away: what waits
 * for a connection that then cannot be made waits for ever (slonik 49, createConnectionPool). With a place for each
 * connection nobody ever waits in there, and here nobody waits longer than 5 seconds.
 */
function queued(pool: DatabasePool, size: number): DatabasePool {
  const limit = makeLimit(size, 5_000);
  const wrapped = methods.map((name) => {
    const method = pool[name] as (...args: unknown[]) => Promise<unknown>;
    return [name, (...args: unknown[]) => limit(() => method(...args))];
  });
  return Object.assign(pool, Object.fromEntries(wrapped));
}

/** Parses every row by the schema that stands beside its query: a column that changed its type fails loudly. */
const rowSchema: Interceptor = {
  name: "row-schema",
  transformRow: ({ resultParser }, query, row) => {
    if (resultParser === undefined) return row;
    const parsed = resultParser["~standard"].validate(row);
    if (parsed instanceof Promise) throw new Error("a row schema must not be asynchronous");
    if (parsed.issues) throw new SchemaValidationError(query, row, parsed.issues);
    return parsed.value as typeof row;
  },
};
