// Tenant isolation in the database alone: which tables have it, what each role may do, and that no row of one tenant
// can refer to a row of another. The tables come from the catalog, so that a new table is covered.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Db } from "../../src/db/driver/page.ts";
import type { Role } from "../../src/db/driver/pool.ts";
import { claimDeliveries } from "../../src/db/webhook-delivery.ts";
import { type Client, useApi } from "../support/api.ts";
import {
  makeFullWorld,
  manyTenantTables,
  pictureOf,
  type TenantTable,
  tenantless,
} from "../support/isolation.ts";

const api = useApi();
let tables: readonly TenantTable[];
let a: Client;
let b: Client;
beforeAll(async () => {
  tables = await manyTenantTables(api.db);
  [a, b] = [await api.tenant(), await api.tenant()];
  await makeFullWorld(a, api.db);
  await makeFullWorld(b, api.db);
  await api.settle();
});

const text = z.object({ value: z.string() });
const count = z.object({ count: z.number() });
const rowsOf = (db: Db, table: string) =>
  db.oneFirst(sql.type(count)`select count(*) as count from ${sql.identifier([table])}`);

/** The privileges of a role on a table, including those on single columns: select, insert, ... */
async function rightsOf(role: Role, table: string): Promise<readonly string[]> {
  const kinds = ["select", "insert", "update", "delete", "truncate", "references", "trigger"];
  return await api.db.anyFirst(sql.type(text)`
    select kind as value from unnest(${sql.array(kinds, "text")}) kind
    where has_table_privilege(${role}, ${table}, kind)
      or (kind in ('select', 'insert', 'update') and has_any_column_privilege(${role}, ${table}, kind))`);
}

describe("every table", () => {
  it("has row-level security, also for its owner, with a policy by tenant, or a reason to have none", async () => {
    const found = await api.db.any(sql.type(
      z.object({ name: z.string(), secure: z.boolean(), policies: z.number() }),
    )`
      select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as secure,
        (select count(*) from pg_policy where polrelid = c.oid and polname = 'of_tenant') as policies
      from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`);
    expect(found.length).toBeGreaterThan(20);
    for (const { name, secure, policies } of found)
      expect([name, secure, policies]).toEqual([name, !(name in tenantless), name in tenantless ? 0 : 1]);
  });

  it("has rows in the test data of the two tenants", async () => {
    for (const { name, column } of tables)
      for (const { tenantId } of [a, b]) {
        const present = await api.db.oneFirst(sql.type(count)`
          select count(*) as count from ${sql.identifier([name])} where ${sql.identifier([column])} = ${tenantId}`);
        expect([name, present > 0]).toEqual([name, true]);
      }
  });

  it("shows the API nothing without a tenant, and to a tenant only its own rows", async () => {
    let readable = 0;
    for (const { name, column } of tables) {
      if (!(await rightsOf("plosive_api", name)).includes("select")) continue;
      readable += 1;
      expect([name, await rowsOf(api.pool, name)]).toEqual([name, 0]);
      const owners = await api.pool.asTenant(a.tenantId).anyFirst(sql.type(text)`
        select distinct ${sql.identifier([column])}::text as value from ${sql.identifier([name])}`);
      expect([name, owners]).toEqual([name, [a.tenantId]]);
    }
    expect(readable).toBeGreaterThan(15);
  });

  it("rejects rows that the API writes for another tenant or for none", async () => {
    const before = await pictureOf(api.db, b.tenantId);
    const asA = api.pool.asTenant(a.tenantId);
    for (const { name, column } of tables) {
      const [table, tenant] = [sql.identifier([name]), sql.identifier([column])];
      const rights = await rightsOf("plosive_api", name);
      const columns = await api.db.anyFirst(sql.type(text)`
        select attname::text as value from pg_attribute
        where attrelid = ${name}::regclass and attnum > 0 and not attisdropped
          and has_column_privilege('plosive_api', ${name}, attname, 'update')`);
      if (columns[0] !== undefined) {
        const column = sql.identifier([columns[0]]);
        const changed = await asA.query(sql.type(z.object({}))`
          update ${table} set ${column} = ${column} where ${tenant} = ${b.tenantId}`);
        expect([name, changed.rowCount]).toEqual([name, 0]);
      }
      if (rights.includes("delete")) {
        const gone = await asA.query(
          sql.type(z.object({}))`delete from ${table} where ${tenant} = ${b.tenantId}`,
        );
        expect([name, gone.rowCount]).toEqual([name, 0]);
      }
      if (rights.includes("insert"))
        for (const db of [asA, api.pool]) {
          // Row-level security fails before any other constraint: the row's tenant is not the tenant of the session.
          const row = sql.type(z.object({}))`insert into ${table} (${tenant}) values (${b.tenantId})`;
          await expect(db.query(row), name).rejects.toSatisfy((error) =>
            ["42501", "23502", "23503"].includes(codeOf(error)),
          );
        }
    }
    expect(await pictureOf(api.db, b.tenantId)).toEqual(before);
  });
});

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error
    ? String(error.code)
    : error instanceof Error
      ? codeOf(error.cause)
      : "";

describe("the API's role", () => {
  it("can neither take another role, nor change the schema, nor write tables of the operator", async () => {
    const refused = [
      sql.unsafe`set role plosive_operator`,
      sql.unsafe`set role plosive_admin`,
      sql.unsafe`set row_security = off; select 1`,
      sql.unsafe`alter table datasets disable row level security`,
      sql.unsafe`create table mine ()`,
      sql.unsafe`create function mine() returns int language sql as 'select 1'`,
      sql.unsafe`insert into detections default values`,
      sql.unsafe`insert into models default values`,
      sql.unsafe`insert into tenants default values`,
      sql.unsafe`select isolate_tenant('tenants')`,
      sql.unsafe`select from pg_authid`,
    ];
    for (const statement of refused)
      await expect(api.pool.query(statement), statement.sql).rejects.toSatisfy((error) =>
        ["42501", "42601"].includes(codeOf(error)),
      );
    for (const table of Object.keys(tenantless))
      expect([table, await rightsOf("plosive_api", table)]).toEqual([
        table,
        table === "schema_migrations" ? ["select"] : [],
      ]);
  });

  it.each(["plosive_api", "plosive_operator", "plosive_admin"] as const)(
    "%s is bound by row-level security and owns nothing",
    async (role) => {
      const facts = await api.db.one(sql.type(
        z.object({ free: z.boolean(), owns: z.number(), able: z.boolean() }),
      )`
        select rolsuper or rolbypassrls or rolcanlogin or rolcreaterole as free,
          (select count(*) from pg_class where relowner = r.oid) as owns,
          has_schema_privilege(r.oid, 'public', 'create') as able
        from pg_roles r where rolname = ${role}`);
      expect(facts).toEqual({ free: false, owns: 0, able: false });
    },
  );

  it("is safe from search_path attacks: functions with the owner's rights fix their search_path and are not executable for PUBLIC", async () => {
    const found = await api.db.any(sql.type(
      z.object({ name: z.string(), path: z.string().nullable(), open: z.boolean() }),
    )`
      select p.proname as name,
        (select c from unnest(p.proconfig) c where c like 'search_path=%') as path,
        has_function_privilege('public', p.oid, 'execute') as open
      from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef`);
    expect(found.length).toBeGreaterThan(5);
    for (const { name, path, open } of found) {
      // Without an explicit pg_temp at the end, temporary tables of the caller come first in the search_path.
      expect([name, path]).toEqual([name, expect.stringMatching(/^search_path=[^$]*\bpg_temp$/)]);
      expect([name, open]).toEqual([name, false]);
    }
  });
});

describe("the operator's role", () => {
  it("reads jobs and files of all tenants, and neither keys nor secrets nor what webhooks receive", async () => {
    for (const table of ["training_jobs", "inference_files", "audio_files", "models"])
      expect(await rowsOf(api.operatorPool, table)).toBeGreaterThanOrEqual(2);
    for (const table of ["api_keys", "rate_limits", "events"])
      expect([table, await rightsOf("plosive_operator", table)]).toEqual([table, []]);
    for (const [table, rights] of Object.entries({
      annotations: ["select", "insert", "delete"],
      reviewed_files: ["select", "insert", "delete"],
      webhooks: ["select", "update", "delete"],
      webhook_deliveries: ["select", "update", "delete"],
      tenants: ["select"],
      models: ["select", "insert", "update"],
    }))
      expect([table, await rightsOf("plosive_operator", table)]).toEqual([table, rights]);
    const columns = async (table: string, right: string) =>
      (
        await api.db.anyFirst(sql.type(text)`
          select column_name as value from information_schema.columns
          where table_schema = 'public' and table_name = ${table}
            and has_column_privilege('plosive_operator', table_name::text, column_name::text, ${right})`)
      ).toSorted();
    expect(await columns("tenants", "select")).toEqual(["id", "suspended_at"]);
    const dataset = ["artifact_types", "deleted_at", "id", "name", "tenant_id"];
    expect(await columns("datasets", "select")).toEqual(dataset);
    // The right to update is for locks only; so is that of models.
    expect(await columns("datasets", "update")).toEqual(["updated_at"]);
    expect(await columns("annotation_sets", "update")).toEqual(["copying", "revision"]);
    expect(await columns("models", "update")).toEqual(["description"]);
    const state = ["disabled_reason", "enabled", "failing_since"];
    expect(await columns("webhooks", "select")).toEqual(
      ["deleted_at", ...state, "id", "tenant_id"].toSorted(),
    );
    expect(await columns("webhooks", "update")).toEqual([...state, "throttled_until"]);
    const delivery = ["attempts", "id", "status", "tenant_id", "webhook_id"];
    expect(await columns("webhook_deliveries", "select")).toEqual(delivery);
  });

  it("adds labels and reviewed files only to a set that is being copied, and deletes only what its tenant has deleted", async () => {
    const none = z.object({});
    const before = await pictureOf(api.db, a.tenantId);
    const seeDeleted = sql.type(none)`select set_config('app.sees_deleted', 'on', true)`;
    for (const statement of [
      sql.fragment`insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type,
          start_ms, end_ms)
        select gen_random_uuid(), tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, 5, 6
        from annotations where tenant_id = ${a.tenantId} limit 1`,
      sql.fragment`insert into reviewed_files select * from reviewed_files where tenant_id = ${a.tenantId} limit 1`,
      sql.fragment`update inference_jobs set deleted_at = now() where tenant_id = ${a.tenantId}`,
    ])
      await expect(
        api.operatorPool.transaction(async (tx) => {
          await tx.query(seeDeleted);
          await tx.query(sql.type(none)`${statement}`);
        }),
        statement.sql,
      ).rejects.toMatchObject({ code: "42501" });
    const tables = [
      "annotations",
      "reviewed_files",
      "annotation_sets",
      "datasets",
      "inference_jobs",
      "webhook_deliveries",
      "webhooks",
    ];
    await api.operatorPool.transaction(async (tx) => {
      await tx.query(seeDeleted);
      for (const table of tables) {
        const gone = await tx.query(sql.type(none)`
          delete from ${sql.identifier([table])} where tenant_id = ${a.tenantId}`);
        expect([table, gone.rowCount]).toEqual([table, 0]);
      }
    });
    expect(await pictureOf(api.db, a.tenantId)).toEqual(before);
  });
});

/** Functions with the owner's rights that the API may call, and why they show it nothing of another tenant. */
const ownersFunctions: Readonly<Record<string, string>> = {
  admit_caller: "returns the tenant and the use of the one key whose digest the caller knows",
  end_session: "returns whether it ended the one session whose token's digest the caller knows",
  event_lags: "returns two ages, of all tenants together",
  forget_events: "returns how many rows it deleted, of all tenants together",
  key_of_session:
    "returns the key's digest and prefix of the one session whose token's digest the caller knows",
  last_event_seq: "returns a number of the tenant of the session",
  note_refused_key: "returns nothing",
  role_of_session: "returns the role of the one session whose token's digest the caller knows",
  scopes_of_key: "returns the scopes of the one key whose id the caller knows",
  stamp_events: "returns how many events it numbered, of all tenants together",
  use_sign_in_link:
    "returns the key's digest and prefix of the one link whose token's digest the caller knows",
};

describe("a function with the owner's rights", () => {
  it("that the API may call is one of those that show nothing of another tenant", async () => {
    const found = await api.db.anyFirst(sql.type(text)`
      select proname::text as value from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef
        and has_function_privilege('plosive_api', oid, 'execute')`);
    expect([...found].sort()).toEqual(Object.keys(ownersFunctions));
  });

  it("that claims deliveries or finds background work is for the operator alone, who finds what the API was refused", async () => {
    const limits = { webhook: 100, tenant: 100, host: 100 };
    const claim = { now: Date.now(), leaseMs: 1_000, limit: 100, inFlight: [], limits };
    const next = sql.type(z.object({}))`select from next_background_work()`;
    const asA = api.pool.asTenant(a.tenantId);
    for (const db of [api.pool, asA]) {
      // As the loops of the previous release do while an upgrade is under way.
      await expect(claimDeliveries(db, claim)).rejects.toMatchObject({ code: "42501" });
      await expect(db.query(next)).rejects.toMatchObject({ code: "42501" });
    }
    const claimed = await claimDeliveries(api.operatorPool, claim);
    for (const { tenantId } of [a, b])
      expect(claimed).toContainEqual(expect.objectContaining({ tenant_id: tenantId, attempt: 1 }));
    expect((await api.operatorPool.query(next)).rowCount).toBe(0);
  });
});

/** Until the transaction is rolled back, only foreign keys and check constraints restrict the table's rows. */
async function dropOtherChecks(tx: Db, table: string): Promise<void> {
  const t = sql.identifier([table]);
  await tx.query(sql.type(z.object({}))`alter table ${t} disable trigger user`);
  const unique = await tx.anyFirst(sql.type(text)`
    select conname as value from pg_constraint where conrelid = ${table}::regclass and contype in ('p', 'u')`);
  for (const name of unique)
    await tx.query(
      sql.type(z.object({}))`alter table ${t} drop constraint ${sql.identifier([name])} cascade`,
    );
}

// Logs, which keep the ids of deleted resources.
const copied = ["audit_log.actor_key_id", "audit_log.api_key_id", "job_events.job_id"];

describe("a foreign key", () => {
  it("to a tenant's row contains the tenant", async () => {
    const keys = await api.db.any(sql.type(
      z.object({ from: z.string(), to: z.string(), columns: z.array(z.string()) }),
    )`
      select c.conrelid::regclass::text as "from", c.confrelid::regclass::text as "to",
        (select array_agg(attname::text order by ord) from unnest(c.conkey) with ordinality k (num, ord)
          join pg_attribute on attrelid = c.conrelid and attnum = num) as columns
      from pg_constraint c where c.contype = 'f' and c.connamespace = 'public'::regnamespace`);
    expect(keys.length).toBeGreaterThan(15);
    for (const { from, to, columns } of keys)
      expect([from, to, columns[0]], `${from} (${columns})`).toEqual([from, to, "tenant_id"]);
  });

  it("to a row of another tenant is rejected, even for a role that bypasses row-level security", async () => {
    const columns = await api.db.any(sql.type(z.object({ table: z.string(), column: z.string() }))`
      select c.relname as "table", a.attname as "column"
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0
        and a.atttypid = 'uuid'::regtype and a.attname like '%\_id' and a.attname <> 'tenant_id'`);
    const foreign: string[] = [];
    for (const { table, column } of columns) {
      if (table in tenantless) continue;
      const [t, c] = [sql.identifier([table]), sql.identifier([column])];
      const theirs = await api.db.maybeOneFirst(sql.type(text)`
        select ${c}::text as value from ${t} where tenant_id = ${b.tenantId} and ${c} is not null limit 1`);
      if (theirs === null) throw new Error(`the world has no row with ${table}.${column}`);
      const outcomeOf = async (before: (tx: Db) => Promise<void>): Promise<string> => {
        const write = api.db.transaction(async (tx) => {
          await before(tx);
          const { rowCount } = await tx.query(sql.type(z.object({}))`
            update ${t} set ${c} = ${theirs}
            where ctid = (select ctid from ${t} where tenant_id = ${a.tenantId} limit 1)`);
          throw new Error(rowCount === 1 ? "accepted" : "the tenant has no row to update");
        });
        return await write.catch((error: Error) => codeOf(error) || error.message);
      };
      // A unique constraint, or the trigger of published sets, may reject the row before the foreign key does.
      let outcome = await outcomeOf(async () => {});
      if (["23505", "PL001"].includes(outcome)) outcome = await outcomeOf((tx) => dropOtherChecks(tx, table));
      if (outcome === "accepted") foreign.push(`${table}.${column}`);
      else expect([table, column, outcome]).toEqual([table, column, "23503"]);
    }
    expect(foreign.sort()).toEqual(copied);
  });
});
