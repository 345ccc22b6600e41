// Migrates the database to the schema of this release. Called by the bootstrap Job and for the tests' template
// database.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { sql } from "slonik";
import { z } from "zod";
import { defaultInstallation } from "../../schemas/installation.ts";
import type { DatabasePool } from "./pool.ts";

const folder = join(import.meta.dirname, "../migrations");
// Key of the advisory lock that serializes bootstrap Jobs: any constant that no other code uses.
const lock = 7_056_783;

/**
 * How a migration waits for table locks. While it waits, every later statement on the table queues behind it, for as
 * long as the slowest earlier transaction takes. So it waits only for a moment, lets the others pass, and tries again.
 */
export interface LockRetry {
  readonly lockTimeoutMs: number;
  readonly pauseMs: number;
  /** The migration fails after this time. */
  readonly totalMs: number;
  /** Called after each blocked attempt, with what blocks the migration. */
  readonly onBlocked: (reason: string) => void;
}

const defaultRetry: LockRetry = {
  lockTimeoutMs: 2_000,
  pauseMs: 5_000,
  totalMs: 15 * 60_000,
  onBlocked: () => {},
};

/**
 * Runs the migrations that are not recorded yet, in order, and returns their names. Each runs in its own transaction,
 * except those that begin with "-- online".
 * Several processes may call it at once. Tests pass `wanted` to build the schema of an older release. Job rows from before
 * migration 0047 belong to `installation`.
 */
export async function migrate(
  pool: DatabasePool,
  wanted: readonly string[] = names,
  { installation = defaultInstallation, ...retry }: Partial<LockRetry> & { installation?: string } = {},
): Promise<string[]> {
  // A separate connection: a file holds many statements, which only the simple query protocol accepts.
  const client = new Client({ connectionString: pool.configuration.connectionUri });
  // Otherwise the end of the connection during a pause would end the process. The next statement fails.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("select set_config('app.installation', $1, false)", [installation]);
    // Not pg_advisory_lock: `create index concurrently` waits for all running statements, also for those that wait for it.
    while (!(await client.query("select pg_try_advisory_lock($1) as locked", [lock])).rows[0].locked)
      await pause(500);
    await client.query(
      "create table if not exists schema_migrations (name text primary key, run_at timestamptz not null default now())",
    );
    const done = await client.query<{ name: string }>("select name from schema_migrations");
    const pending = wanted.filter((name) => !done.rows.some((row) => row.name === name));
    for (const name of pending) await runWithRetry(client, name, { ...defaultRetry, ...retry });
    return pending;
  } finally {
    await client.end();
  }
}

const undefinedTable = "42P01";

/** Whether every migration of this release has run. Rejects when the database is unreachable. Called by /readyz. */
export async function isMigrated(pool: DatabasePool): Promise<boolean> {
  const done = await pool
    .anyFirst(sql.type(z.object({ name: z.string() }))`select name from schema_migrations`)
    .catch((error: { code?: string }) => {
      if (error.code === undefinedTable) return [] as string[];
      throw error;
    });
  return names.every((name) => done.includes(name));
}

const names = readdirSync(folder)
  .filter((name) => /^\d{4}_.*\.sql$/.test(name))
  .sort();

async function runWithRetry(client: Client, name: string, retry: LockRetry): Promise<void> {
  const deadline = performance.now() + retry.totalMs;
  for (;;) {
    try {
      await runMigration(client, name, retry.lockTimeoutMs);
      return;
    } catch (error) {
      if (!lockFailures.includes((error as { code?: string }).code ?? ""))
        throw new Error(`migration ${name} failed`, { cause: error });
      const reason = `migration ${name} cannot lock its tables: ${await oldestTransactions(client)}`;
      if (performance.now() > deadline) throw new Error(reason, { cause: error });
      retry.onBlocked(reason);
      await pause(retry.pauseMs);
    }
  }
}

/** SQLSTATEs of lock_timeout, and of a deadlock with a transaction that locks the same tables in another order. */
const lockFailures = ["55P03", "40P01"];

/**
 * First line of migrations whose statements run one by one, outside a transaction, such as `create index concurrently`. After
 * a failure all statements run again.
 */
const online = "-- online\n";

async function runMigration(client: Client, name: string, lockTimeoutMs: number): Promise<void> {
  const text = readFileSync(join(folder, name), "utf8");
  if (text.startsWith(online)) {
    // No lock timeout: these statements wait for earlier transactions without blocking later ones.
    for (const statement of text.split(/;\n/)) if (statement.trim() !== "") await client.query(statement);
    await client.query("insert into schema_migrations (name) values ($1)", [name]);
    return;
  }
  await client.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
  try {
    await client.query(text);
    await client.query("insert into schema_migrations (name) values ($1)", [name]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/**
 * Describes the oldest transactions, the likeliest holders of the locks. Omits their SQL: it may contain tenant data.
 */
async function oldestTransactions(client: Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; usename: string; age: number }>(`
    select pid, usename, extract(epoch from now() - xact_start)::int as age from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 3`);
  const transactions = rows.map(({ pid, usename, age }) => `${pid} (user ${usename}, for ${age} s)`);
  return transactions.length === 0
    ? "the transaction that held them has just ended"
    : `the oldest transactions belong to the server processes ${transactions.join(", ")}`;
}
