// A migrated database for each test file, copied from one template. Called at the top of test files: `const database =
// useDatabase()`, then `database.pool` inside the tests. Fails the file if it leaves connections open. Test data are
// written as the owner; the code under test connects as in an installation, with the rights of its role.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { sql } from "slonik";
import { afterAll, beforeAll, inject } from "vitest";
import { z } from "zod";
import { migrate } from "../../src/db/driver/migrate.ts";
import type { Db } from "../../src/db/driver/page.ts";
import { type DatabasePool, makeDatabase, type Role, statementTimeoutMs } from "../../src/db/driver/pool.ts";

/** A server that outlives a run keeps the template of each version of the migrations. */
const template = `plosive_template_${versionOf(join(import.meta.dirname, "../../src/db/migrations"))}`;

function versionOf(folder: string): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 12);
}

export interface TestDatabase {
  /** postgres:// address of the owner, who bypasses row-level security. */
  readonly url: string;
  readonly pool: DatabasePool;
  /** The address for processes that open their own pool, of a user with exactly the rights of the role. */
  urlOf(role: Role): string;
  /** The API's own pool, without a tenant. */
  readonly apiPool: DatabasePool;
  /** The operator's own pool. */
  readonly operatorPool: DatabasePool;
  /** Runs one statement as the owner. */
  execute(statement: ReturnType<typeof sql.fragment>): Promise<void>;
}

/** A database for the calling file, created before its tests and dropped after them. */
export function useDatabase(): TestDatabase {
  let made: Awaited<ReturnType<typeof createDatabase>> | undefined;
  let pool: DatabasePool | undefined;
  let apiPool: DatabasePool | undefined;
  let operatorPool: DatabasePool | undefined;
  beforeAll(async () => {
    made = await createDatabase();
    // What the tests themselves insert must not time out on a busy machine.
    const at = (url: string) => ({ PLOSIVE_DATABASE_URL: url, PLOSIVE_DATABASE_POOL: 10 });
    pool = await makeDatabase(at(made.url), statementTimeoutMs.operator);
    apiPool = await makeDatabase(at(loginOf(made.url, "plosive_api")), undefined, "plosive_api");
    const operator = at(loginOf(made.url, "plosive_operator"));
    operatorPool = await makeDatabase(operator, statementTimeoutMs.operator, "plosive_operator");
  });
  afterAll(async () => {
    await pool?.end();
    await apiPool?.end();
    await operatorPool?.end();
    await made?.drop();
  });
  const need = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("the database exists only while tests run");
    return value;
  };
  return {
    get url() {
      return need(made).url;
    },
    get pool() {
      return need(pool);
    },
    get apiPool() {
      return need(apiPool);
    },
    get operatorPool() {
      return need(operatorPool);
    },
    urlOf: (role) => loginOf(need(made).url, role),
    execute: (statement) => execute(need(pool), statement),
  };
}

/** Runs one statement that no part of the product has. */
export async function execute(db: Db, statement: ReturnType<typeof sql.fragment>): Promise<void> {
  await db.query(sql.type(z.object({}))`${statement}`);
}

const roles: readonly Role[] = ["plosive_api", "plosive_operator", "plosive_admin"];

/** The same database with a user that is a member of the role: test_plosive_api, ... */
export function loginOf(url: string, role: Role): string {
  const login = new URL(url);
  login.username = `test_${role}`;
  return login.href;
}

/** Creates a database. drop() rejects if a connection to it is still open, which means a leaked pool. */
export async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asAdmin(async (admin) => {
    // Several test files start at once. The lock lets one of them create the template and makes concurrent copies wait.
    await admin.query("select pg_advisory_lock(1)");
    const found = await admin.query("select from pg_database where datname = $1", [template]);
    if (found.rowCount === 0) await makeTemplate(admin);
    await admin.query(`create database ${name} template ${template}`);
  });
  return {
    url: urlOf(name),
    drop: () =>
      asAdmin(async (admin) => {
        const leaked = await openConnections(admin, name);
        await admin.query(`drop database ${name} with (force)`);
        if (leaked > 0)
          throw new Error(`${leaked} database connections were left open: a pool was not ended`);
      }),
  };
}

async function makeTemplate(admin: Client): Promise<void> {
  // Has another name until it is complete: a failed migration must not leave a partial template.
  await admin.query(`drop database if exists ${template}_new with (force)`);
  await admin.query(`create database ${template}_new`);
  const pool = await makeDatabase({
    PLOSIVE_DATABASE_URL: urlOf(`${template}_new`),
    PLOSIVE_DATABASE_POOL: 2,
  });
  try {
    await migrate(pool);
    for (const role of roles) {
      const found = await admin.query("select from pg_roles where rolname = $1", [`test_${role}`]);
      if (found.rowCount === 0) await admin.query(`create role test_${role} login in role ${role}`);
    }
  } finally {
    await pool.end();
  }
  await openConnections(admin, `${template}_new`);
  await admin.query(`alter database ${template}_new rename to ${template}`);
}

/** Counts the open connections after a moment, since the server notices a closed socket later than its owner. */
async function openConnections(admin: Client, name: string): Promise<number> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const found = await admin.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
      [name],
    );
    const count = found.rows[0]?.count ?? 0;
    if (count === 0 || Date.now() > deadline) return count;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function asAdmin(use: (admin: Client) => Promise<void>): Promise<void> {
  const admin = new Client({ connectionString: inject("servers").postgresUrl });
  await admin.connect();
  try {
    await use(admin);
  } finally {
    await admin.end();
  }
}

function urlOf(name: string): string {
  const url = new URL(inject("servers").postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}
