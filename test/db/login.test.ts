// The database users of the API and the operator: on the embedded database as it is installed, for a new installation
// and for one with rows of an older release, and on databases whose owner has fewer rights.
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertApiKey } from "../../src/db/api-key.ts";
import { bypassesRowSecurity, ensureLogin } from "../../src/db/driver/login.ts";
import { migrate } from "../../src/db/driver/migrate.ts";
import { type DatabasePool, makeDatabase, type Role } from "../../src/db/driver/pool.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { makeDatabaseImage } from "../support/postgres-image.ts";
import { maybeOneCaller } from "../support/rows.ts";

const image = makeDatabaseImage();
let superuser: string;
beforeAll(async () => {
  superuser = await image.start("log_statement=all");
});
afterAll(() => image.remove());

const older = ["0001_initial.sql", "0002_shard_progress.sql", "0003_annotation_set_versions.sql"];
const operatorRoles: readonly Role[] = ["plosive_operator", "plosive_admin"];

function as(address: string, name: string, password: string, database?: string): string {
  const url = new URL(address);
  url.username = name;
  url.password = password;
  if (database !== undefined) url.pathname = `/${database}`;
  return url.href;
}

async function run(address: string, ...statements: string[]) {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

async function withPool<T>(
  address: string,
  use: (pool: DatabasePool) => Promise<T>,
  role?: Role,
): Promise<T> {
  const pool = await makeDatabase(
    { PLOSIVE_DATABASE_URL: address, PLOSIVE_DATABASE_POOL: 2 },
    undefined,
    role,
  );
  try {
    return await use(pool);
  } finally {
    await pool.end();
  }
}

/** Expects a working installation: a key opens its tenant, which sees its own rows only. */
async function expectWorkingApi(owner: string, api: string): Promise<void> {
  const hash = Buffer.from(randomUUID().repeat(2).slice(0, 32));
  const tenants = await withPool(owner, async (pool) => {
    const ids = [await insertTenant(pool, "one"), await insertTenant(pool, "two")];
    await insertApiKey(pool, ids[0]!, { name: "k", prefix: "pl_00000", hash, expiresAt: null });
    for (const id of ids)
      await pool.query(
        sql.unsafe`insert into datasets (id, tenant_id, name) values (${randomUUID()}, ${id}, ${id})`,
      );
    return ids;
  });
  await withPool(
    api,
    async (pool) => {
      const caller = await maybeOneCaller(pool, hash);
      expect(caller?.tenant_id).toBe(tenants[0]);
      const seen = await pool.asTenant(tenants[0]!).anyFirst(sql.unsafe`select name from datasets`);
      expect(seen).toEqual([tenants[0]]);
    },
    "plosive_api",
  );
}

describe("a server without the roles of Plosive", () => {
  it("gives an owner without CREATEROLE an error that contains the statements for an administrator", async () => {
    await run(superuser, "create role plain login password 'plain'", "create database plain owner plain");
    const owner = as(superuser, "plain", "plain", "plain");
    const api = as(owner, "plain_api", "secret");
    await withPool(owner, async (pool) => {
      const failure = await migrate(pool).catch((error: Error) => error);
      expect(failure).toMatchObject({
        cause: { code: "42501", hint: "Let an administrator run: create role plosive_api nologin;" },
      });
      await run(
        superuser,
        ...["api", "operator", "admin"].map((name) => `create role plosive_${name} nologin`),
      );
      expect(await migrate(pool)).not.toHaveLength(0);
    });
    await expect(ensureLogin(owner, api, ["plosive_api"])).rejects.toThrow(
      `plain may not create the database user plain_api. An administrator must run: create role "plain_api" login noinherit password '...'; grant plosive_api to "plain_api";`,
    );
    await run(
      superuser,
      `create role "plain_api" login noinherit password 'secret'`,
      `grant plosive_api to "plain_api"`,
    );
    await ensureLogin(owner, api, ["plosive_api"]);
    await expectWorkingApi(owner, api);
    await expect(ensureLogin(owner, owner, operatorRoles)).rejects.toThrow(
      `plain may not take the role plosive_operator or plosive_admin. An administrator must run: grant plosive_operator, plosive_admin to "plain";`,
    );
  });
});

describe("the embedded database", () => {
  it("gets its users once, and they have the rights of their roles and no others", async () => {
    const api = as(superuser, "plosive_api_login", "the api's password");
    const operator = as(superuser, "plosive_operator_login", "the operator's password");
    await withPool(superuser, migrate);
    await ensureLogin(superuser, api, ["plosive_api"]);
    await ensureLogin(superuser, operator, operatorRoles);
    const kept = () =>
      run(superuser, "select rolname, rolpassword from pg_authid where rolname like '%_login' order by 1");
    const before = await kept();
    expect(before).toHaveLength(2);
    await ensureLogin(superuser, api, ["plosive_api"]);
    await ensureLogin(superuser, operator, operatorRoles);
    expect(await kept()).toEqual(before);

    await expect(run(as(api, "plosive_api_login", "wrong"), "select 1")).rejects.toMatchObject({
      code: "28P01",
    });
    expect(await bypassesRowSecurity(superuser)).toBe(true);
    expect(await bypassesRowSecurity(api)).toBe(false);
    // Without SET ROLE a user does not even have the rights of its role.
    for (const address of [api, operator])
      await expect(run(address, "select from datasets")).rejects.toMatchObject({ code: "42501" });
    await expect(run(api, "set role plosive_operator")).rejects.toMatchObject({ code: "42501" });
    await expect(run(api, "set role plosive_admin")).rejects.toMatchObject({ code: "42501" });
    await expectWorkingApi(superuser, api);
    expect(image.log()).toContain("create role");
    expect(image.log()).not.toMatch(/the api's password|the operator's password/);
  });

  it("accepts a new password from the Secret", async () => {
    const api = as(superuser, "plosive_api_login", "another password: ü");
    await expect(run(api, "select 1")).rejects.toMatchObject({ code: "28P01" });
    await ensureLogin(superuser, api, ["plosive_api"]);
    await run(api, "set role plosive_api");
  });

  it("keeps its rows on an upgrade from a release without row-level security", async () => {
    await run(superuser, "create database older");
    const owner = as(superuser, "plosive", decodeURIComponent(new URL(superuser).password), "older");
    const api = as(owner, "plosive_api_login", "another password: ü");
    const [tenant, dataset, set, job, audio] = Array.from({ length: 5 }, () => randomUUID());
    await withPool(owner, async (pool) => {
      await migrate(pool, older);
      await run(
        owner,
        `insert into tenants (id, name) values ('${tenant}', 'old')`,
        `insert into datasets (id, tenant_id, name) values ('${dataset}', '${tenant}', 'takes')`,
        `insert into annotation_sets (id, tenant_id, dataset_id, version) values ('${set}', '${tenant}', '${dataset}', 1)`,
        `insert into training_jobs (id, tenant_id, dataset_id, annotation_set_id, dataset_name, annotation_set_version,
          config, status) values ('${job}', '${tenant}', '${dataset}', '${set}', 'takes', 1, '{}', 'completed')`,
        `insert into training_job_files values ('${job}', '${audio}', 1000, 'key', 'sha', 10, 'dsp', 'hash')`,
        `insert into training_metrics values ('${job}', 'loss', 1, 0.5)`,
      );
      await migrate(pool);
    });
    await ensureLogin(owner, api, ["plosive_api"]);
    await withPool(
      api,
      async (pool) => {
        const db = pool.asTenant(tenant!);
        expect(await db.anyFirst(sql.unsafe`select name from datasets`)).toEqual(["takes"]);
        expect(await db.anyFirst(sql.unsafe`select audio_file_id from training_job_files`)).toEqual([audio]);
        expect(await db.anyFirst(sql.unsafe`select value from training_metrics`)).toEqual([0.5]);
        const stranger = pool.asTenant(randomUUID());
        expect(await stranger.any(sql.unsafe`select from training_metrics`)).toEqual([]);
      },
      "plosive_api",
    );
    await expectWorkingApi(owner, api);
  });

  it("serves an API that still connects as the owner, with the rights of the API's role", async () => {
    await expectWorkingApi(superuser, superuser);
    await withPool(
      superuser,
      async (pool) => {
        await expect(pool.query(sql.unsafe`create table mine ()`)).rejects.toMatchObject({ code: "42501" });
      },
      "plosive_api",
    );
  });
});

describe("a database whose owner has CREATEROLE but is no superuser", () => {
  it("creates roles and users on a new server and lets its owner take the roles", async () => {
    // The roles belong to the whole server, and the other tests create them as superuser.
    const fresh = makeDatabaseImage();
    try {
      const administrator = await fresh.start();
      await run(
        administrator,
        "create role alone login createrole password 'alone'",
        "create database alone owner alone",
      );
      const owner = as(administrator, "alone", "alone", "alone");
      const api = as(owner, "alone_api", "secret");
      const operator = as(owner, "alone_operator", "secret");
      await withPool(owner, migrate);
      await ensureLogin(owner, api, ["plosive_api"]);
      await ensureLogin(owner, operator, operatorRoles);
      await expectWorkingApi(owner, api);
      // Where all log in as the owner.
      await expect(run(owner, "set role plosive_api")).rejects.toMatchObject({ code: "42501" });
      await ensureLogin(owner, owner, ["plosive_api"]);
      await ensureLogin(owner, owner, operatorRoles);
      await expectWorkingApi(owner, owner);
    } finally {
      await fresh.remove();
    }
  });

  it("takes roles of another installation as the server permits: from Postgres 16 on, an administrator grants", async () => {
    await run(
      superuser,
      "create role second login createrole password 'second'",
      "create database second owner second",
    );
    const owner = as(superuser, "second", "second", "second");
    await withPool(owner, migrate);
    const settings = await run(superuser, "select from pg_settings where name = 'createrole_self_grant'");
    const mustBeGranted = settings.length > 0;
    const api = as(owner, "second_api", "secret");
    const refused = await ensureLogin(owner, api, ["plosive_api"]).catch((error: Error) => error.message);
    expect(refused !== undefined).toBe(mustBeGranted);
    // What the error asks for.
    const [, statements] = /must run: (.*)/.exec(refused ?? "") ?? [];
    if (statements !== undefined) await run(superuser, statements.replace("'...'", "'secret'"));
    await ensureLogin(owner, api, ["plosive_api"]);
    await expectWorkingApi(owner, api);
  });

  it("is migrated and gets its users, and its owner is subject to row-level security", async () => {
    await run(
      superuser,
      "create role maker login createrole password 'maker'",
      "grant plosive_api, plosive_operator, plosive_admin to maker with admin option",
      "create database maker owner maker",
    );
    const owner = as(superuser, "maker", "maker", "maker");
    const api = as(owner, "maker_api", "secret");
    await withPool(owner, migrate);
    await ensureLogin(owner, api, ["plosive_api"]);
    await expectWorkingApi(owner, api);
    // Drops the policy that the migration created for the owner by name, and the policy of a role of which the owner is
    // a member here.
    await run(owner, "drop policy of_owner on datasets", "drop policy of_operator on datasets");
    expect(await run(owner, "select from datasets")).toEqual([]);
  });
});
