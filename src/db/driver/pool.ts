// The connection pool for Postgres. Each main file (API, operator, bootstrap, plosive-admin) makes one and passes it on
// as an argument.
import { Pool, type QueryConfig } from "pg";
import { shareExceeded } from "../../errors.ts";
import {
  type Connection,
  ConnectionError,
  classified,
  destroy,
  discard,
  isReusable,
  onAnswer,
} from "./connection.ts";
import { type Db, makeQueries, refuseNestedConnection } from "./queries.ts";
import { acquireBoth, makeKeyedSemaphore, makeSemaphore } from "./semaphore.ts";
import { refuseSharedSessions } from "./sessions.ts";
import { parserOf } from "./values.ts";

export interface DatabaseConfig {
  readonly PLOSIVE_DATABASE_URL: string;
  readonly PLOSIVE_DATABASE_POOL: number;
}

/** Statement timeouts in ms. Clients wait for the API's statements, but not for the operator's. */
export const statementTimeoutMs = { api: 5_000, operator: 60_000 } as const;

/** The database role that a process takes after login (migration 0004). Without one it has the rights of its user. */
export type Role = "plosive_api" | "plosive_operator" | "plosive_admin";

export interface PoolState {
  /** Connections that callers use, or that are being opened for a caller. */
  readonly acquiredConnections: number;
  readonly idleConnections: number;
  /** Callers that wait for a connection. */
  readonly waitingClients: number;
}

export interface DatabasePool extends Db {
  readonly configuration: { readonly connectionUri: string; readonly maxPoolSize: number };
  /**
   * Lends one connection to `work` until it ends, for session state such as advisory locks. `discard` closes the
   * connection, so that the pool does not reuse it.
   */
  connect<T>(work: (connection: Db, discard: () => void) => Promise<T>): Promise<T>;
  state(): PoolState;
  /** From now on calls `listener` with the seconds that each caller waited for a connection. */
  onWait(listener: (seconds: number) => void): void;
  /** Refuses new callers, gives the present ones 5 s to end, and closes all connections. */
  end(): Promise<void>;
}

const connectTimeoutMs = 3_000;
const waitTimeoutMs = 5_000;
const idleTimeoutMs = 30_000;
const idleInTransactionMs = 15_000;
/** The part of the API's connections that one tenant's requests may use at the same time. */
const tenantPart = 0.4;
/**
 * The part for the API's statements without a tenant: look-ups of keys and sessions, which anybody can cause. Statements of
 * tenants that are known keep the rest.
 */
const unknownPart = 0.5;
/** If the server is silent for this long after the statement timeout, the connection counts as dead. */
const silenceMs = 5_000;

/**
 * Makes a pool of at most PLOSIVE_DATABASE_POOL connections. Rejects when the database is unreachable. Rows are
 * validated by the schema of their query. `timestamptz` (ms since 1970) and `bigint` arrive as numbers: every bigint in
 * the schema stays below 2^53.
 */
export async function makeDatabase(
  config: DatabaseConfig,
  statementTimeout: number = statementTimeoutMs.api,
  role?: Role,
): Promise<DatabasePool> {
  const size = config.PLOSIVE_DATABASE_POOL;
  const address = config.PLOSIVE_DATABASE_URL;
  const settings = sessionSettings(statementTimeout, role);
  const connections = new Pool({
    connectionString: address,
    max: size,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    query_timeout: statementTimeout + silenceMs,
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser: parserOf },
    // pg takes the time for one query too, which its types lack.
    onConnect: (connection) =>
      connection.query({ text: settings, query_timeout: connectTimeoutMs } as QueryConfig),
  });
  // The statement that runs on a connection reports its failure.
  connections.on("error", () => {});
  connections.on("connect", (connection) => {
    connection.on("error", () => discard(connection as Connection));
    onAnswer(connection as Connection, () => {
      answeredAt = performance.now();
    });
  });
  // One slot per connection: callers wait only here, in order, and at most 5 s.
  const slots = makeSemaphore(size, waitTimeoutMs);
  const lent = new Set<Connection>();
  let acquired = 0;
  let waiting = 0;
  let ending: Promise<void> | undefined;
  let onWait: (seconds: number) => void = () => {};

  /** Whether the last attempt to connect failed. */
  let isUnreachable = false;
  /** When the server last sent something, or when the first of the present statements began. */
  let answeredAt = 0;
  // A server that is well has ended its oldest statement by then: the API's statement timeout is no longer.
  const isAway = () => isUnreachable || (lent.size > 0 && performance.now() - answeredAt >= waitTimeoutMs);
  // During an outage the tenant's other requests only wait for a connection, too.
  const share = makeKeyedSemaphore(Math.max(1, Math.ceil(size * tenantPart)), waitTimeoutMs, () =>
    isAway()
      ? new ConnectionError("timed out, and the database is away")
      : shareExceeded("database connections"),
  );
  const unknown = makeSemaphore(Math.max(1, Math.ceil(size * unknownPart)), waitTimeoutMs);
  const acquireUnknown = () => acquireBoth(unknown.acquire, slots.acquire);
  const lendTo = async <T>(work: (connection: Connection) => Promise<T>, tenantId?: string): Promise<T> => {
    refuseNestedConnection();
    // Only clients of the API send requests of their own accord.
    if (role !== "plosive_api") return await lend(work);
    if (tenantId === undefined) return await lend(work, acquireUnknown);
    const release = await share(tenantId);
    try {
      return await lend(work);
    } finally {
      release();
    }
  };
  const lend = async <T>(
    work: (connection: Connection) => Promise<T>,
    acquire: () => Promise<() => void> = slots.acquire,
  ): Promise<T> => {
    if (ending !== undefined) throw new ConnectionError("the pool has ended");
    const asked = performance.now();
    waiting += 1;
    const leave = await acquire().finally(() => {
      waiting -= 1;
    });
    acquired += 1;
    onWait((performance.now() - asked) / 1_000);
    try {
      const connection = await classified(undefined, connections.connect()).catch((error: unknown) => {
        isUnreachable = true;
        throw error;
      });
      isUnreachable = false;
      if (lent.size === 0) answeredAt = performance.now();
      lent.add(connection);
      try {
        return await work(connection);
      } finally {
        lent.delete(connection);
        connection.release(!isReusable(connection));
      }
    } finally {
      acquired -= 1;
      leave();
    }
  };
  // Fails at once when the database is unreachable.
  try {
    await (size > 1 ? refuseSharedSessions(lend) : lend(async () => {}));
  } catch (error) {
    await connections.end();
    throw error;
  }
  const end = async () => {
    // The callers that came before have their slots first; the wait is limited to 5 s.
    const isQuiet = await slots.acquire(size).then(
      () => true,
      () => false,
    );
    for (const connection of lent) destroy(connection);
    const ended = connections.end();
    if (isQuiet) await ended;
  };

  return {
    ...makeQueries(lendTo),
    configuration: { connectionUri: address, maxPoolSize: size },
    connect: (work) =>
      lendTo((connection) =>
        work(
          makeQueries((use) => use(connection)),
          () => discard(connection),
        ),
      ),
    state: () => ({
      acquiredConnections: acquired,
      idleConnections: connections.idleCount,
      waitingClients: waiting,
    }),
    onWait: (listener) => {
      onWait = listener;
    },
    end: () => {
      ending ??= end();
      return ending;
    },
  };
}

/**
 * The statements with which a session begins. As start-up parameters they would cost no round trip, but connection poolers such
 * as pgbouncer refuse most of them.
 */
const sessionSettings = (statementTimeout: number, role: Role | undefined): string =>
  [
    ...(role === undefined ? [] : [`role = ${role}`, ...plannerSettings[role]]),
    `statement_timeout = ${statementTimeout}`,
    `idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
    // The formats that values.ts parses; they override settings of the server and the database.
    ...["datestyle = ISO", "timezone = UTC"],
  ]
    .map((setting) => `set ${setting}`)
    .join("; ");

/**
 * Planner settings. The API runs many short statements that find their rows by an index, whatever the parameters are.
 * force_generic_plan: Postgres estimates the unknown LIMIT of a page as a tenth of the table, so it would plan each
 * page anew, a third of the time of a list. random_page_cost: by default Postgres prefers sequential scans of small
 * tables, one for each label that refers to a row, and keeps that plan as the table grows; but hot data is in memory,
 * where random reads cost the same. The operator keeps the defaults: its statements are few, and some are large.
 */
const plannerSettings: Record<Role, readonly string[]> = {
  plosive_api: ["plan_cache_mode = force_generic_plan", "random_page_cost = 1.1"],
  plosive_operator: [],
  plosive_admin: [],
};
