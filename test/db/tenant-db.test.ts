// The database as one tenant sees it: visible rows, the life of the setting, and the effect of an error.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { insertDataset } from "../../src/db/dataset.ts";
import type { Db } from "../../src/db/driver/page.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();

async function tenantWithDataset(name: string): Promise<{ id: string; db: Db }> {
  const id = await insertTenant(database.pool, name);
  const db = database.apiPool.asTenant(id);
  await insertDataset(db, id, { name, description: null, artifactTypes: [] });
  return { id, db };
}

const names = (db: Db) =>
  db.anyFirst(sql.type(z.object({ name: z.string() }))`select name from datasets order by name`);
const setting = sql.type(z.object({ tenant: z.string().nullable() }))`
  select nullif(current_setting('app.tenant_id', true), '') as tenant`;

describe("a tenant's database", () => {
  it("shows its own rows only, to single statements and to transactions", async () => {
    const [a, b] = [await tenantWithDataset("a"), await tenantWithDataset("b")];
    expect(await names(a.db)).toEqual(["a"]);
    expect(await names(b.db)).toEqual(["b"]);
    expect(await a.db.transaction((tx) => names(tx))).toEqual(["a"]);
    expect(await names(database.apiPool)).toEqual([]);
  });

  it("stays bound to its tenant when many tenants share connections concurrently", async () => {
    const tenants = await Promise.all(Array.from({ length: 5 }, (_, i) => tenantWithDataset(`many ${i}`)));
    const rounds = Array.from({ length: 40 }, (_, i) => tenants[i % tenants.length]!);
    const seen = await Promise.all(
      rounds.map(({ db, id }, i) =>
        i % 3 === 0
          ? db.transaction(async (tx) => [id, await tx.oneFirst(setting), await names(tx)])
          : Promise.all([id, db.oneFirst(setting), names(db)]),
      ),
    );
    for (const [i, [id, tenant, found]] of seen.entries()) {
      expect(tenant).toBe(id);
      expect(found).toEqual([`many ${i % tenants.length}`]);
    }
    const afterwards = await Promise.all(
      Array.from({ length: 10 }, () => database.apiPool.oneFirst(setting)),
    );
    expect(new Set(afterwards)).toEqual(new Set([null]));
  });

  it("returns the rows, row counts, types and errors of its statements", async () => {
    const { db } = await tenantWithDataset("kinds");
    const row = z.object({ at: z.number(), n: z.number(), list: z.array(z.number()), nothing: z.null() });
    const at = Date.UTC(2026, 0, 2);
    expect(
      await db.one(sql.type(row)`
        select '2026-01-02T00:00:00Z'::timestamptz as at, 9007199254740991::bigint as n,
          array[1, 2]::bigint[] as list, null as nothing`),
    ).toEqual({ at, n: 9007199254740991, list: [1, 2], nothing: null });
    const change = sql.type(z.object({}))`update datasets set description = ${"x"} where name = ${"kinds"}`;
    expect((await db.query(change)).rowCount).toBe(1);
    expect(await db.maybeOne(sql.type(z.object({}))`select from datasets where false`)).toBeNull();
    expect(
      await db.any(sql.type(z.object({ i: z.number() }))`select generate_series(1, 3) as i`),
    ).toHaveLength(3);
    await expect(db.query(sql.type(z.object({}))`select 1 / 0`)).rejects.toMatchObject({ code: "22012" });
    await expect(db.query(sql.type(z.object({}))`select nothing from nowhere`)).rejects.toMatchObject({
      code: "42P01",
    });
    expect(await names(db)).toEqual(["kinds"]);
  });

  it("writes nothing when its statement or transaction fails, and keeps rows that were written before a savepoint", async () => {
    const { id, db } = await tenantWithDataset("kept");
    const add = (tx: Db, name: string) =>
      insertDataset(tx, id, { name, description: null, artifactTypes: [] });
    await expect(
      db.transaction(async (tx) => {
        await add(tx, "lost");
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    await db.transaction(async (tx) => {
      await add(tx, "first");
      await tx
        .transaction(async (inner) => {
          await add(inner, "lost too");
          throw new Error("only this");
        })
        .catch(() => {});
      await add(tx, "second");
    });
    expect(await names(db)).toEqual(["first", "kept", "second"]);
  });

  it("rejects queries on other connections from inside its transaction", async () => {
    const { db } = await tenantWithDataset("outside");
    const other = () => database.apiPool.oneFirst(setting);
    await expect(db.transaction(other)).rejects.toThrow("another connection");
  });
});
