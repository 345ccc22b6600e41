// The migrations and the pool, on a real Postgres.
import { SchemaValidationError, sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isMigrated, migrate } from "../../src/db/migrate.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();

describe("migrate", () => {
  it("runs nothing on a database that is up to date", async () => {
    expect(await isMigrated(database.pool)).toBe(true);
    expect(await migrate(database.pool)).toEqual([]);
  });

  it("says that a database without a recorded migration is not migrated, and runs each one once when called at the same time", async () => {
    await database.pool.query(sql.unsafe`drop schema public cascade`);
    await database.pool.query(sql.unsafe`create schema public`);
    expect(await isMigrated(database.pool)).toBe(false);
    const runs = await Promise.all([migrate(database.pool), migrate(database.pool), migrate(database.pool)]);
    expect(runs.flat()).toEqual([...new Set(runs.flat())]);
    expect(runs.flat().length).toBeGreaterThan(0);
    expect(await isMigrated(database.pool)).toBe(true);
  });
});

describe("the pool", () => {
  it("refuses a row that is not what its query promised", async () => {
    const query = database.pool.one(sql.type(z.object({ n: z.string() }))`select 1::int as n`);
    await expect(query).rejects.toBeInstanceOf(SchemaValidationError);
  });

  it("gives times as milliseconds and large integers as numbers", async () => {
    const row = await database.pool.one(
      sql.type(z.object({ at: z.number(), size: z.number() }))`
        select '2026-01-31T12:00:00.250Z'::timestamptz as at, 2147483648::bigint as size`,
    );
    expect(row).toEqual({ at: Date.parse("2026-01-31T12:00:00.250Z"), size: 2_147_483_648 });
  });
});
