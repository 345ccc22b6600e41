// Brings the database to the schema of this release. Called by the bootstrap Job and by the tests' template database.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { sql } from "slonik";
import { z } from "zod";
import type { DatabasePool } from "./pool.ts";

const folder = join(import.meta.dirname, "migrations");
// Any constant that no one else takes: it makes two bootstrap Jobs wait for each other.
const lock = 7_056_783;

/**
 * Runs the migrations that are not recorded yet, in order, each in its own transaction. Safe to call from several
 * processes at once. Returns the names that it ran. Tests name `wanted`, to begin where an older release ended.
 */
export async function migrate(
  pool: DatabasePool,
  wanted: readonly string[] = migrationNames(),
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
    for (const name of pending) await runMigration(client, name);
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

async function runMigration(client: Client, name: string): Promise<void> {
  await client.query("begin");
  try {
    await client.query(readFileSync(join(folder, name), "utf8"));
    await client.query("insert into schema_migrations (name) values ($1)", [name]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}
