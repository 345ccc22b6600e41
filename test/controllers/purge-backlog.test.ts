// A purge queue that is never empty: the rows that expire are deleted nevertheless.
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import { poll } from "../support/poll.ts";
import { insertModel, insertTenant } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const { database } = useOperator({ graceSeconds: 0 });

const count = (table: string) =>
  database.pool.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from ${sql.identifier([table])}`);

it("holds up no expiry", async () => {
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  // A purged entry leaves the next one. The model is in use, so its entries need no request to the store.
  await database.execute(sql.fragment`
    create function leave_again() returns trigger language plpgsql security definer as $$
    begin
      insert into public.leftovers (tenant_id, kind, target, at_once) select tenant_id, kind, target, true from gone;
      return null;
    end $$`);
  await database.execute(sql.fragment`
    create trigger leftovers_again after delete on leftovers
    referencing old table as gone for each statement execute function leave_again()`);
  await database.execute(sql.fragment`
    insert into leftovers (tenant_id, kind, target, at_once)
    select ${tenant}, 'model', training_job_id::text, true from models, generate_series(1, 200) where id = ${model}`);
  const last = () =>
    database.pool.oneFirst(sql.type(z.object({ id: z.number() }))`select max(id) as id from leftovers`);
  const first = await last();
  try {
    await poll("the queue to be worked off", async () => (await last()) > first);
    await database.execute(sql.fragment`
      insert into audit_log (tenant_id, action, reason, created_at)
      values (${tenant}, 'api_key.refused', 'old', now() - interval '401 days')`);
    await poll("the old line to be deleted", async () => (await count("audit_log")) === 0, 30_000);
    expect(await count("leftovers")).toBeGreaterThanOrEqual(200);
  } finally {
    await database.execute(sql.fragment`drop trigger leftovers_again on leftovers`);
  }
});
