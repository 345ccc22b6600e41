// plosive-admin tenants erase on a real database, with the rights of its role: nothing of the tenant is left, and no other
// tenant notices.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeDatabase, statementTimeoutMs } from "../src/db/driver/pool.ts";
import { beginErasure, erasePiece } from "../src/db/tenant.ts";
import { adminOf } from "./support/admin.ts";
import { type Client, execute, useApi } from "./support/api.ts";
import { makeFullWorld, pictureOf } from "./support/isolation.ts";

const api = useApi();
const { address, admin } = adminOf(api);

/** Ends all jobs of the tenant, as the operator does some time after their cancellation. */
async function endJobs(tenantId: string): Promise<void> {
  for (const table of ["training_jobs", "inference_jobs", "embedding_jobs"])
    await execute(
      api.db,
      sql.fragment`update ${sql.identifier([table])} set status = 'cancelled', completed_at = now()
        where tenant_id = ${tenantId} and status not in ('completed', 'failed', 'cancelled')`,
    );
}

const nameOf = (tenantId: string) =>
  api.db.oneFirst(sql.type(z.object({ name: z.string() }))`select name from tenants where id = ${tenantId}`);

async function leftOf(tenantId: string): Promise<string[]> {
  const picture = await pictureOf(api.db, tenantId);
  return Object.keys(picture).filter((table) => picture[table] !== "");
}

async function worldOf(client: Client): Promise<string> {
  await makeFullWorld(client, api.db);
  return await nameOf(client.tenantId);
}

describe("plosive-admin tenants erase", () => {
  it("deletes every row of the tenant, leaves other tenants alone, and has its objects deleted at once", async () => {
    const [client, other] = [await api.tenant(), await api.tenant()];
    const name = await worldOf(client);
    await worldOf(other);
    const before = await pictureOf(api.db, other.tenantId);
    const id = client.tenantId;

    const wrong = await admin("tenants", "erase", id, "--name", `${name}!`);
    expect([wrong.code, wrong.out]).toEqual([2, ""]);
    expect(wrong.err).toContain(`--name must repeat the name of the account, "${name}"`);
    expect((await client.get("/api/v1/datasets")).status).toBe(200);

    const early = await admin("tenants", "erase", id, "--name", name);
    expect([early.code, early.out]).toEqual([1, ""]);
    expect(early.err).toMatch(/\d+ jobs of the account have not ended/);
    expect((await client.get("/api/v1/datasets")).status).toBe(403);

    await endJobs(id);
    const done = await admin("tenants", "erase", id, "--name", name, "--json");
    expect(done.code).toBe(0);
    const report = JSON.parse(done.out);
    expect(report).toMatchObject({
      id,
      rows: { annotations: 1, audio_files: expect.any(Number), api_keys: 2 },
    });
    expect(done.err).toMatch(/^annotations: 1 rows deleted$/m);
    expect(await leftOf(id)).toEqual(["leftovers"]);
    const purges = z.object({ count: z.number(), at_once: z.boolean() });
    expect(
      await api.db.one(sql.type(purges)`
        select count(*) as count, bool_and(at_once) as at_once from leftovers where tenant_id = ${id}`),
    ).toEqual({ count: report.objects_left, at_once: true });
    expect(report.objects_left).toBeGreaterThan(0);
    expect(await pictureOf(api.db, other.tenantId)).toEqual(before);
    expect((await client.get("/api/v1/datasets")).status).toBe(401);

    await execute(api.db, sql.fragment`delete from leftovers where tenant_id = ${id}`);
    const again = await admin("tenants", "erase", id);
    expect([again.code, again.out]).toEqual([1, ""]);
    expect(again.err).toContain("nothing is left of it");
  });

  it("goes on after an interruption between any two pieces", async () => {
    const client = await api.tenant();
    const name = await worldOf(client);
    const id = client.tenantId;
    const config = { PLOSIVE_DATABASE_URL: address(), PLOSIVE_DATABASE_POOL: 1 };
    const db = await makeDatabase(config, statementTimeoutMs.operator, "plosive_admin");
    try {
      await beginErasure(db, id);
      await endJobs(id);
      for (let piece = 0; piece < 6; piece++) expect((await erasePiece(db, id)).part).not.toBeNull();
    } finally {
      await db.end();
    }
    expect((await admin("tenants", "erase", id, "--name", name)).code).toBe(0);
    expect(await leftOf(id)).toEqual(["leftovers"]);
  });
});
