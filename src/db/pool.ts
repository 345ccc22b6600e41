// The connections to Postgres. Made once by each main file (API, operator, bootstrap) and passed on as an argument.
import type { ClientConfig } from "pg";
import { Connection, ConnectionError } from "./connection.ts";
import { makeLimit } from "./limit.ts";
import { type Db, makeQueries, refuseForeignConnection } from "./queries.ts";

export interface DatabaseConfig {
  readonly PLOSIVE_DATABASE_URL: string;
  readonly PLOSIVE_DATABASE_POOL: number;
}

/** How long one statement may take, in ms: clients wait for the API, nobody for the operator. */
export const statementTimeoutMs = { api: 5_000, operator: 60_000 } as const;

/** What a process may do, whoever it logs in as (migration 0004). Without one it has the rights of its login. */
export type Role = "plosive_api" | "plosive_operator" | "plosive_admin";

export interface PoolState {
  /** Connections that are lent to somebody, or being made for somebody. */
  readonly acquiredConnections: number;
  readonly idleConnections: number;
  /** Callers that wait for a connection. */
  readonly waitingClients: number;
}

export interface DatabasePool extends Db {
  readonly configuration: { readonly connectionUri: string; readonly maxPoolSize: number };
  /** One connection for as long as `work` takes, for what lives in a session; after `discard` nobody gets it again. */
  connect<T>(work: (connection: Db, discard: () => void) => Promise<T>): Promise<T>;
  state(): PoolState;
  /** From now on `heard` is told how long each caller waited for a connection, in seconds. */
  onWait(heard: (seconds: number) => void): void;
  /** Takes no more callers, lets the present ones end for a moment, and closes all connections. */
  end(): Promise<void>;
}

const connectTimeoutMs = 3_000;
const waitTimeoutMs = 5_000;
const idleTimeoutMs = 30_000;
const idleInTransactionMs = 15_000;
/** After the statement timeout the server should long have answered; if it has not, the network is gone. */
const silenceMs = 5_000;
const endTimeoutMs = 5_000;

/**
 * A pool of at most PLOSIVE_DATABASE_POOL connections. Rejects when the database cannot be reached. Rows pass the schema
 * of their query; `timestamptz` and `bigint` arrive as numbers (milliseconds since 1970; every bigint of ours stays below
 * 2^53).
 */
export async function makeDatabase(
  config: DatabaseConfig,
  statementTimeout: number = statementTimeoutMs.api,
  role?: Role,
): Promise<DatabasePool> {
  const size = config.PLOSIVE_DATABASE_POOL;
  const address = addressFor(config.PLOSIVE_DATABASE_URL, role);
  const client: ClientConfig = {
    connectionString: address,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
  };
  // With a place for each connection nobody waits but here, in order, and nobody for ever.
  const places = makeLimit(size, waitTimeoutMs);
  const idle: Connection[] = [await Connection.open(client)];
  const lent = new Set<Connection>();
  let acquired = 0;
  let waiting = 0;
  let isEnded = false;
  let heard: (seconds: number) => void = () => {};

  const take = async (): Promise<Connection> => {
    for (;;) {
      // The one that was used last: the others can then be given up one day.
      const connection = idle.pop() ?? (await Connection.open(client));
      if (!connection.isDead) return connection;
    }
  };
  const giveBack = (connection: Connection) => {
    lent.delete(connection);
    if (connection.isClean && !isEnded) {
      connection.idleSince = performance.now();
      idle.push(connection);
    } else connection.destroy();
  };
  const lend = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    refuseForeignConnection();
    if (isEnded) throw new ConnectionError("the pool has ended");
    const asked = performance.now();
    waiting += 1;
    let isWaiting = true;
    const start = () => {
      if (isWaiting) waiting -= 1;
      isWaiting = false;
    };
    try {
      return await places(async () => {
        start();
        acquired += 1;
        heard((performance.now() - asked) / 1_000);
        try {
          const connection = await take();
          lent.add(connection);
          try {
            return await work(connection);
          } finally {
            giveBack(connection);
          }
        } finally {
          acquired -= 1;
        }
      });
    } finally {
      start();
    }
  };

  const watch = setInterval(() => {
    const now = performance.now();
    for (const connection of lent)
      if (connection.busySince !== null && now - connection.busySince > statementTimeout + silenceMs)
        connection.destroy();
    while (idle[0] !== undefined && (idle[0].isDead || now - idle[0].idleSince > idleTimeoutMs))
      void idle.shift()?.end();
  }, 1_000);
  watch.unref();

  return {
    ...makeQueries(lend),
    configuration: { connectionUri: address, maxPoolSize: size },
    connect: (work) =>
      lend((connection) =>
        work(
          makeQueries((use) => use(connection)),
          () => connection.destroy(),
        ),
      ),
    state: () => ({
      acquiredConnections: acquired,
      idleConnections: idle.length,
      waitingClients: waiting,
    }),
    onWait: (listener) => {
      heard = listener;
    },
    end: async () => {
      isEnded = true;
      clearInterval(watch);
      const deadline = performance.now() + endTimeoutMs;
      while (acquired > 0 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const connection of lent) connection.destroy();
      await Promise.all(idle.splice(0).map((connection) => connection.end()));
    },
  };
}

/** The settings are part of how a session starts: they cost no round trip, and no statement comes before them. */
function addressFor(address: string, role: Role | undefined): string {
  const url = new URL(address);
  const own = role === undefined ? [] : [`-c role=${role}`, plans[role]];
  const options = [url.searchParams.get("options"), ...own, times];
  url.searchParams.set("options", options.filter((option) => option !== null).join(" "));
  return url.href;
}

/** As values.ts reads them, whatever the server or the database is set to. */
const times = "-c datestyle=ISO -c timezone=UTC";

/**
 * The API's statements are many, short, and find their rows by an index whatever the values are; but Postgres takes the
 * unknown LIMIT of a page for a tenth of the table and plans each page anew, which costs a third of a list. And while a
 * table is small it rather reads all of it, once for each label that refers to it, and keeps to that plan as the table
 * grows: what is asked for often is in memory, where a page costs the same wherever it is. The operator's are few, and
 * some are large.
 */
const plans: Record<Role, string | null> = {
  plosive_api: "-c plan_cache_mode=force_generic_plan -c random_page_cost=1.1",
  plosive_operator: null,
  plosive_admin: null,
};
