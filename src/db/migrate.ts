// Brings the database to the schema of this release. Called by the bootstrap Job and by the tests' template database.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { sql } from "slonik";
import { z } from "zod";
import type { DatabasePool } from "./pool.ts";

const folder = join(import.meta.dirname, "migrations");
// Any constant that no one else takes: it makes two bootstrap Jobs wait for each other.
const lock = 7_056_783;

/**
 * A migration that waits for a table stands in the way of everybody who comes after it, for as long as the slowest
 * transaction before it takes. So it waits for a moment only, lets the others pass, and comes again.
 */
export interface LockPatience {
  readonly lockTimeoutMs: number;
  readonly pauseMs: number;
  /** Then it gives up. */
  readonly totalMs: number;
  /** What it waits for. */
  readonly heard: (reason: string) => void;
}

const usualPatience: LockPatience = {
  lockTimeoutMs: 2_000,
  pauseMs: 5_000,
  totalMs: 15 * 60_000,
  heard: () => {},
};

/**
 * Runs the migrations that are not recorded yet, in order, each in its own transaction. Safe to call from several
 * processes at once. Returns the names that it ran. Tests name `wanted`, to begin where an older release ended.
 */
export async function migrate(
  pool: DatabasePool,
  wanted: readonly string[] = migrationNames(),
  patience: Partial<LockPatience> = {},
): Promise<string[]> {
  // A connection of its own: a file holds many statements, which only the simple query protocol takes.
  const client = new Client({ connectionString: pool.configuration.connectionUri });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [lock]);
    await client.query(
      "create table if not exists schema_migrations (name text primary key, run_at timestamptz not null default now())",
    );
    const done = await client.query<{ name: string }>("select name from schema_migrations");
    const pending = wanted.filter((name) => !done.rows.some((row) => row.name === name));
    for (const name of pending) await runPatiently(client, name, { ...usualPatience, ...patience });
    return pending;
  } finally {
    await client.end();
  }
}

/** Whether every migration of this release has run. Rejects when the database is away. Asked by /readyz. */
export async function isMigrated(pool: DatabasePool): Promise<boolean> {
  const exists = await pool.oneFirst(
    sql.type(z.object({ exists: z.boolean() }))`
      select to_regclass('schema_migrations') is not null as "exists"`,
  );
  if (!exists) return false;
  const done = await pool.anyFirst(
    sql.type(z.object({ name: z.string() }))`select name from schema_migrations`,
  );
  return migrationNames().every((name) => done.includes(name));
}

function migrationNames(): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort();
}

async function runPatiently(client: Client, name: string, patience: LockPatience): Promise<void> {
  const deadline = performance.now() + patience.totalMs;
  for (;;) {
    try {
      await runMigration(client, name, patience.lockTimeoutMs);
      return;
    } catch (error) {
      if (!outOfPatience.includes((error as { code?: string }).code ?? ""))
        throw new Error(`migration ${name} failed`, { cause: error });
      const reason = `migration ${name} cannot lock its tables: ${await whoHolds(client)}`;
      if (performance.now() > deadline) throw new Error(reason, { cause: error });
      patience.heard(reason);
      await pause(patience.pauseMs);
    }
  }
}

/** lock_timeout, or a deadlock with somebody who has one of the tables and wants another. */
const outOfPatience = ["55P03", "40P01"];

async function runMigration(client: Client, name: string, lockTimeoutMs: number): Promise<void> {
  await client.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
  try {
    await client.query(readFileSync(join(folder, name), "utf8"));
    await client.query("insert into schema_migrations (name) values ($1)", [name]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** The oldest transactions, which are the likeliest. Not what they do: that may be a tenant's. */
async function whoHolds(client: Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; usename: string; age: number }>(`
    select pid, usename, extract(epoch from now() - xact_start)::int as age from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 3`);
  const told = rows.map(({ pid, usename, age }) => `${pid} (user ${usename}, for ${age} s)`);
  return told.length === 0
    ? "whoever held them has just ended"
    : `the oldest transactions are of the server processes ${told.join(", ")}`;
}
