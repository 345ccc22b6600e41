// The order of the purge queue: tenants take turns, and what is due longest goes first.
import { sql } from "slonik";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { deletePurgeEntries, manyDuePurges, postponePurge } from "../../src/db/operator/purge-queue.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertTenant } from "../support/rows.ts";

const database = useDatabase();
const week = 7 * 86_400;

afterEach(() => database.execute(sql.fragment`delete from leftovers`));

interface Left {
  readonly kind?: "at once" | "after grace";
  /** Before now, in minutes. */
  readonly age: number;
  readonly times?: number;
}

const leave = (tenant: string, target: string, { kind = "at once", age, times = 1 }: Left) =>
  database.execute(sql.fragment`
    insert into leftovers (tenant_id, kind, target, at_once, created_at, try_at)
    select ${tenant}, 'upload', ${target} || '-' || n, ${kind === "at once"}, moment, moment
    from generate_series(1, ${times}) n, (select now() - make_interval(mins => ${age}) as moment) m`);
const due = (limit: number, installation = defaultInstallation) =>
  manyDuePurges(database.operatorPool, { installation, graceSeconds: week, limit });
const targets = async (limit: number) => (await due(limit)).map(({ target }) => target);
const minutes = (days: number) => days * 24 * 60;

it("gives each tenant its turn, however many entries of another one are older", async () => {
  const [many, few] = [await insertTenant(database.pool), await insertTenant(database.pool)];
  await leave(many, "late", { kind: "after grace", age: minutes(8), times: 300 });
  await leave(many, "old", { age: minutes(2), times: 300 });
  await leave(few, "new", { age: 1, times: 2 });
  const batch = await due(10);
  expect(batch.map(({ tenant_id }) => tenant_id).slice(0, 4)).toEqual([many, few, many, few]);
  expect(batch.filter(({ tenant_id }) => tenant_id === many).length).toBeLessThanOrEqual(8);
});

it("hands out all that is due, each once", async () => {
  const tenants = await Promise.all([1, 2, 3].map(() => insertTenant(database.pool)));
  for (const [i, tenant] of tenants.entries()) {
    await leave(tenant, "a", { age: 5, times: 7 * i + 1 });
    await leave(tenant, "b", { kind: "after grace", age: minutes(8), times: 3 });
    await leave(tenant, "young", { kind: "after grace", age: minutes(6), times: 2 });
    await leave(tenant, "later", { age: -60, times: 2 });
  }
  const seen: number[] = [];
  for (let batch = await due(10); batch.length > 0; batch = await due(10)) {
    expect(batch.length).toBeLessThanOrEqual(10);
    seen.push(...batch.map(({ id }) => id));
    await deletePurgeEntries(
      database.operatorPool,
      batch.map(({ id }) => id),
    );
  }
  expect([seen.length, new Set(seen).size]).toEqual([1 + 8 + 15 + 9, 33]);
});

it("begins with what is due longest: its time counts, not its age", async () => {
  const tenant = await insertTenant(database.pool);
  await leave(tenant, "due for a day", { kind: "after grace", age: minutes(8) });
  await leave(tenant, "due for two days", { age: minutes(2) });
  await leave(tenant, "due for an hour", { age: 60 });
  await leave(tenant, "due for three days", { kind: "after grace", age: minutes(10) });
  expect(await targets(3)).toEqual(["due for three days-1", "due for two days-1", "due for a day-1"]);
});

it("tries a failed entry again at its time, also one that waited for the grace period", async () => {
  const tenant = await insertTenant(database.pool);
  await leave(tenant, "a", { kind: "after grace", age: minutes(8) });
  const [entry] = await due(1);
  await postponePurge(database.operatorPool, entry!.id, "unreachable");
  expect(await due(1)).toEqual([]);
  const left = await database.pool.one(sql.type(z.object({ attempts: z.number(), waits: z.boolean() }))`
    select attempts, try_at > now() as waits from leftovers where id = ${entry!.id}`);
  expect(left).toEqual({ attempts: 1, waits: true });
  await database.execute(sql.fragment`update leftovers set try_at = now()`);
  expect(await targets(1)).toEqual(["a-1"]);
});
