// The pool behind pgbouncer: with sessions it works as without it, with transactions it refuses to start.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { sql } from "slonik";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { startPgbouncer } from "../../tools/pgbouncer.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();

/** The address of the database behind a pooler. */
async function behind(settings: Readonly<Record<string, string>>): Promise<string> {
  // Not below $TMPDIR: pgbouncer runs as the user of Postgres.
  const dir = mkdtempSync("/tmp/plosive-pooler-");
  chmodSync(dir, 0o755);
  const url = new URL(database.urlOf("plosive_api"));
  const server = { host: url.hostname, port: Number(url.port) };
  const pooler = await startPgbouncer({
    ...{ dir: join(dir, "pgbouncer"), address: "127.0.0.1", server },
    settings,
  });
  onTestFinished(async () => {
    await pooler.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  url.port = String(pooler.port);
  return url.href;
}

const present = sql.type(z.object({ role: z.string(), timeout: z.string(), mark: z.string().nullable() }))`
  select current_user as role, current_setting('statement_timeout') as timeout, current_setting('app.mark', true) as mark`;

it("begins each session with its own settings, on connections that other clients had", async () => {
  const PLOSIVE_DATABASE_URL = await behind({ pool_mode: "session" });
  for (const timeout of [4_000, 7_000]) {
    const config = { PLOSIVE_DATABASE_URL, PLOSIVE_DATABASE_POOL: 2 };
    const pool = await makeDatabase(config, timeout, "plosive_api");
    const { role, timeout: own, mark } = await pool.one(present);
    expect({ role, own }).toEqual({ role: "plosive_api", own: `${timeout / 1000}s` });
    // Nothing of the first client is left to the second one.
    expect(mark ?? "").toBe("");
    await pool.connect((connection) =>
      connection.query(sql.unsafe`select set_config('app.mark', 'kept', false)`),
    );
    await pool.end();
  }
});

const ofTransactions: Record<string, string>[] = [
  {},
  { server_round_robin: "1", min_pool_size: "2" },
  { default_pool_size: "1" },
];

it.each(ofTransactions)(
  "refuses a pooler of transactions, where one client's role would hold for another: %j",
  async (settings) => {
    const PLOSIVE_DATABASE_URL = await behind({ pool_mode: "transaction", ...settings });
    // With two connections of the server from the start, if the pooler takes turns.
    const others = await Promise.all([connected(PLOSIVE_DATABASE_URL), connected(PLOSIVE_DATABASE_URL)]);
    try {
      const pool = makeDatabase({ PLOSIVE_DATABASE_URL, PLOSIVE_DATABASE_POOL: 2 }, 4_000, "plosive_api");
      await expect(pool).rejects.toThrow(/does not keep sessions.*pool_mode = session/);
    } finally {
      await Promise.all(others.map((other) => other.end()));
    }
  },
);

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}
