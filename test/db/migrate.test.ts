// The migrations and the connection pool on a real Postgres.
import { readdirSync } from "node:fs";
import { SchemaValidationError, sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isMigrated, migrate } from "../../src/db/driver/migrate.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();

describe("migrate", () => {
  it("runs nothing on a database that is up to date", async () => {
    expect(await isMigrated(database.pool)).toBe(true);
    expect(await migrate(database.pool)).toEqual([]);
  });

  it("reports a database without migrations as not migrated, and runs each migration once when called concurrently", async () => {
    await database.pool.query(sql.unsafe`drop schema public cascade`);
    await database.pool.query(sql.unsafe`create schema public`);
    expect(await isMigrated(database.pool)).toBe(false);
    const runs = await Promise.all([migrate(database.pool), migrate(database.pool), migrate(database.pool)]);
    expect(runs.flat().sort()).toEqual(readdirSync("src/db/migrations").sort());
    expect(await isMigrated(database.pool)).toBe(true);
  });
});

describe("a migration that needs a table which a long transaction has locked", () => {
  const older = "0012_number_of_training_jobs.sql";
  const none = sql.type(z.object({}));

  /** A database of an older release, in which a long transaction has read the table datasets. */
  async function withReader(work: (end: () => Promise<unknown>) => Promise<void>): Promise<void> {
    await database.pool.query(none`drop schema public cascade`);
    await database.pool.query(none`create schema public`);
    const names = readdirSync("src/db/migrations").sort();
    await migrate(database.pool, names.slice(0, names.indexOf(older) + 1));
    await database.pool.connect(async (reader) => {
      await reader.query(none`begin`);
      await reader.query(none`select from datasets`);
      await work(() => reader.query(none`rollback`));
    });
  }

  it("lets other statements pass, reports the blocking session, and runs when the transaction has ended", async () => {
    await withReader(async (end) => {
      const reasons: string[] = [];
      const running = migrate(database.pool, undefined, {
        lockTimeoutMs: 100,
        pauseMs: 50,
        onBlocked: (reason) => reasons.push(reason),
      });
      await poll("the migration to come again", async () => reasons.length > 1);
      // A lock request that stays in the queue would block this statement for as long as the reader runs, longer than
      // the statement timeout.
      await database.pool.query(none`select from datasets`);
      expect(reasons[0]).toMatch(
        /^migration 0013_\w+\.sql cannot lock its tables: the oldest .*processes \d+ \(user \w+, for \d+ s\)/,
      );
      expect(await isMigrated(database.pool)).toBe(false);
      await end();
      expect((await running)[0]).toBe("0013_deletion_of_published_sets.sql");
      expect(await isMigrated(database.pool)).toBe(true);
    });
  });

  it("fails and has a name when its connection ends while it waits for the next try", async () => {
    await withReader(async (end) => {
      const ended: Promise<void>[] = [];
      const running = migrate(database.pool, undefined, {
        lockTimeoutMs: 50,
        pauseMs: 2_000,
        onBlocked: () =>
          ended.push(
            database.execute(sql.fragment`
              select pg_terminate_backend(pid) from pg_locks
              where locktype = 'advisory' and objid = 7056783 and pid <> pg_backend_pid()
                and database = (select oid from pg_database where datname = current_database())`),
          ),
      });
      await expect(running).rejects.toThrow(/^migration 0013_\w+\.sql failed$/);
      expect(ended).toHaveLength(1);
      await Promise.all(ended);
      await end();
      await migrate(database.pool);
    });
  });

  it("fails with the same message after its time limit and has changed nothing", async () => {
    await withReader(async (end) => {
      const running = migrate(database.pool, undefined, { lockTimeoutMs: 50, pauseMs: 10, totalMs: 100 });
      await expect(running).rejects.toThrow("cannot lock its tables");
      expect(await isMigrated(database.pool)).toBe(false);
      await end();
      await migrate(database.pool);
      expect(await isMigrated(database.pool)).toBe(true);
    });
  });
});

describe("the pool", () => {
  it("rejects a row that does not match the schema of its query", async () => {
    const query = database.pool.one(sql.type(z.object({ n: z.string() }))`select 1::int as n`);
    await expect(query).rejects.toBeInstanceOf(SchemaValidationError);
  });

  it("returns times as milliseconds and large integers as numbers", async () => {
    const row = await database.pool.one(
      sql.type(z.object({ at: z.number(), size: z.number() }))`
        select '2026-01-31T12:00:00.250Z'::timestamptz as at, 2147483648::bigint as size`,
    );
    expect(row).toEqual({ at: Date.parse("2026-01-31T12:00:00.250Z"), size: 2_147_483_648 });
  });
});
