// The bootstrap Job on a real Postgres and a real API server: it is idempotent.
import { randomBytes } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { hashApiKey, isApiKey } from "../src/api/api-key-format.ts";
import { ensureFirstKey } from "../src/bootstrap.ts";
import { purgeAudit } from "../src/db/audit.ts";
import { erasePiece } from "../src/db/tenant.ts";
import { secrets } from "../src/kube/kinds.ts";
import { useCluster } from "./support/kube.ts";
import { useDatabase } from "./support/postgres.ts";
import { maybeOneCaller } from "./support/rows.ts";

const database = useDatabase();
const cluster = useCluster();
let namespace: string;
beforeAll(async () => {
  ({ name: namespace } = await cluster.namespace());
});

const refOf = (name: string) => ({ namespace, name });
const run = (name: string) =>
  ensureFirstKey({ db: database.pool, kube: cluster.admin, ref: refOf(name), random: randomBytes });
async function contentOf(name: string): Promise<{ key: string; tenantId: string }> {
  const { data = {} } = await cluster.admin.get(secrets, refOf(name));
  const text = (member: string) => Buffer.from(data[member] ?? "", "base64").toString();
  return { key: text("api-key"), tenantId: text("tenant-id") };
}

describe("the first API key", () => {
  it("is stored in the Secret and opens the first tenant", async () => {
    await run("fresh");
    const { key, tenantId } = await contentOf("fresh");
    expect(isApiKey(key)).toBe(true);
    expect(await maybeOneCaller(database.pool, hashApiKey(key))).toMatchObject({
      tenant_id: tenantId,
      expired: false,
    });
  });

  it("is the same after ten concurrent runs and one more", async () => {
    await Promise.all(Array.from({ length: 10 }, () => run("often")));
    const { key, tenantId } = await contentOf("often");
    await run("often");
    expect(await contentOf("often")).toEqual({ key, tenantId });
    const keys = await database.pool.any(sql.unsafe`select id from api_keys where tenant_id = ${tenantId}`);
    expect(keys).toHaveLength(1);
  });

  it("gets its row when the previous run was killed after it created the Secret, or when the database was recreated", async () => {
    await run("killed");
    const { key, tenantId } = await contentOf("killed");
    await database.pool.query(sql.unsafe`delete from tenants where id = ${tenantId}`);
    expect(await maybeOneCaller(database.pool, hashApiKey(key))).toBeNull();
    await run("killed");
    expect(await maybeOneCaller(database.pool, hashApiKey(key))).toMatchObject({ tenant_id: tenantId });
  });

  it("stays revoked after its revocation", async () => {
    await run("revoked");
    const { key } = await contentOf("revoked");
    await database.pool.query(
      sql.unsafe`update api_keys set revoked_at = now() where key_hash = ${sql.binary(hashApiKey(key))}`,
    );
    await run("revoked");
    expect(await maybeOneCaller(database.pool, hashApiKey(key))).toBeNull();
  });

  it("does not bring an erased tenant back, however old its erasure is", async () => {
    expect(await run("erased")).toBe(true);
    const { key, tenantId } = await contentOf("erased");
    await database.pool.query(sql.unsafe`select begin_erasure(${tenantId}::uuid)`);
    for (let part: string | null = ""; part !== null; )
      ({ part } = await erasePiece(database.pool, tenantId));
    await database.pool.query(
      sql.unsafe`update audit_log set created_at = now() - interval '500 days' where action = 'tenant.erased'`,
    );
    await purgeAudit(database.pool, 1_000);
    expect(await run("erased")).toBe(false);
    expect(await maybeOneCaller(database.pool, hashApiKey(key))).toBeNull();
  });

  it("is not read from a Secret with other content", async () => {
    await cluster.admin.create(secrets, { metadata: refOf("foreign"), data: { password: "eA==" } });
    await expect(run("foreign")).rejects.toThrow("has no member tenant-id");
  });
});
