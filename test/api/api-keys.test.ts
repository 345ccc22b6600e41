// Rotation of API keys, and the audit log of their creation, rotation and revocation.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { purgeAudit } from "../../src/db/audit.ts";
import { type Client, execute, useApi } from "../support/api.ts";

const api = useApi();
const keys = "/api/v1/auth/api-keys";
const day = 24 * 3600 * 1000;

const isOpen = async (key: string) => (await api.as(key).get("/api/v1/datasets")).status;

async function make(client: Client, body: object = {}) {
  return (await client.post(keys, { name: "build server", ...body })).body;
}

describe("a key rotation", () => {
  it("creates a key with the same name and revokes the old one at once", async () => {
    const client = await api.tenant();
    const old = await make(client);
    const answer = await client.post(`${keys}/${old.id}/rotate`);
    expect(answer.body).toMatchObject({ name: "build server", expires_at: null, last_used_at: null });
    expect(answer.headers.get("location")).toBe(`${keys}/${answer.body.id}`);
    expect(answer.body.id).not.toBe(old.id);
    expect([await isOpen(old.key), await isOpen(answer.body.key)]).toEqual([401, 200]);
    const listed = (await client.get(keys)).body.map((key: { id: string }) => key.id);
    expect(listed).toContain(answer.body.id);
    expect(listed).not.toContain(old.id);
  });

  it("keeps the old key valid for the requested overlap, then the old key expires", async () => {
    const client = await api.tenant();
    const old = await make(client);
    const next = (await client.post(`${keys}/${old.id}/rotate`, { overlap_seconds: 3600 })).body;
    expect([await isOpen(old.key), await isOpen(next.key)]).toEqual([200, 200]);
    const listed = (await client.get(keys)).body.find((key: { id: string }) => key.id === old.id);
    expect(Date.parse(listed.expires_at) - Date.now()).toBeGreaterThan(3_500_000);
    expect(Date.parse(listed.expires_at) - Date.now()).toBeLessThan(3_601_000);
    await execute(
      api.db,
      sql.fragment`update api_keys set expires_at = expires_at - interval '3601 seconds' where id = ${old.id}`,
    );
    expect((await api.as(old.key).get("/api/v1/datasets")).body.detail).toBe("API key expired");
  });

  it("never extends the life of the old key", async () => {
    const client = await api.tenant();
    const soon = new Date(Date.now() + 60_000).toISOString();
    const old = await make(client, { expires_at: soon });
    await client.post(`${keys}/${old.id}/rotate`, { overlap_seconds: 86_400 });
    const listed = (await client.get(keys)).body.find((key: { id: string }) => key.id === old.id);
    expect(listed.expires_at).toBe(soon);
  });

  it("gives the new key the lifetime of the old one, counted from now", async () => {
    const client = await api.tenant();
    const old = await make(client, { expires_at: new Date(Date.now() + 90 * day).toISOString() });
    await execute(
      api.db,
      sql.fragment`update api_keys set created_at = created_at - interval '91 days',
        expires_at = expires_at - interval '91 days' where id = ${old.id}`,
    );
    expect(await isOpen(old.key)).toBe(401);
    const next = (await client.post(`${keys}/${old.id}/rotate`)).body;
    expect(Math.abs(Date.parse(next.expires_at) - Date.now() - 90 * day)).toBeLessThan(60_000);
    expect(await isOpen(next.key)).toBe(200);
  });

  it("ends the new key with the year 9999 at the latest, and never if the old key does not expire", async () => {
    const client = await api.tenant();
    const last = "9999-12-31T23:59:59.999Z";
    const old = await make(client, { expires_at: last });
    const rotate = (id: string) => client.post(`${keys}/${id}/rotate`);
    expect(await rotate(old.id)).toMatchObject({ status: 201, body: { expires_at: last } });
    expect((await rotate((await make(client)).id)).body.expires_at).toBeNull();
  });

  it("works with the rotated key itself, and shows its successor only once", async () => {
    const client = await api.tenant();
    const old = await make(client);
    const send = () =>
      client.post(`${keys}/${old.id}/rotate`, { overlap_seconds: 0 }, { "Idempotency-Key": "r" });
    const first = await send();
    expect(first.status).toBe(201);
    const second = await send();
    expect([second.status, second.body.code]).toEqual([409, "key_already_created"]);
    expect(second.body.detail).toContain(first.body.id);

    const self = await make(client);
    const next = (await api.as(self.key).post(`${keys}/${self.id}/rotate`)).body;
    expect([await isOpen(self.key), await isOpen(next.key)]).toEqual([401, 200]);
  });

  it("is refused for revoked keys, keys of another tenant and invalid overlaps", async () => {
    const client = await api.tenant();
    const other = await api.tenant();
    const key = await make(client);
    expect((await other.post(`${keys}/${key.id}/rotate`)).body.code).toBe("api_key_not_found");
    for (const overlap_seconds of [-1, 86_401, 1.5, "60"])
      expect((await client.post(`${keys}/${key.id}/rotate`, { overlap_seconds })).status).toBe(422);
    expect(await isOpen(key.key)).toBe(200);
    await client.delete(`${keys}/${key.id}`);
    expect((await client.post(`${keys}/${key.id}/rotate`)).status).toBe(404);
  });
});

describe("the audit log", () => {
  const line = z.object({
    action: z.string(),
    api_key_id: z.string().nullable(),
    key_prefix: z.string(),
    actor_key_id: z.string().nullable(),
    ip: z.string().nullable(),
    request_id: z.string().nullable(),
  });
  const linesOf = (client: Client) =>
    api.db.any(sql.type(line)`
      select action, api_key_id, key_prefix, actor_key_id, host(ip) as ip, request_id
      from audit_log where tenant_id = ${client.tenantId} order by id`);

  it("records which key was created, rotated and revoked, by which key, from which address and in which request", async () => {
    const client = await api.tenant();
    const request = (name: string) => ({ "X-Request-Id": `request-${name}` });
    const one = (await client.post(keys, { name: "k" }, request("create"))).body;
    const two = (await api.as(one.key).post(`${keys}/${one.id}/rotate`, {}, request("rotate"))).body;
    await api.as(two.key).delete(`${keys}/${two.id}`, request("revoke"));
    const first = (await client.get(keys)).body[0].id;
    const from = { ip: "127.0.0.1" };
    expect(await linesOf(client)).toEqual([
      {
        ...from,
        action: "api_key.created",
        api_key_id: one.id,
        key_prefix: one.key_prefix,
        actor_key_id: first,
        request_id: "request-create",
      },
      {
        ...from,
        action: "api_key.created",
        api_key_id: two.id,
        key_prefix: two.key_prefix,
        actor_key_id: one.id,
        request_id: "request-rotate",
      },
      {
        ...from,
        action: "api_key.rotated",
        api_key_id: one.id,
        key_prefix: one.key_prefix,
        actor_key_id: one.id,
        request_id: "request-rotate",
      },
      {
        ...from,
        action: "api_key.revoked",
        api_key_id: two.id,
        key_prefix: two.key_prefix,
        actor_key_id: two.id,
        request_id: "request-revoke",
      },
    ]);
  });

  it("records no failed operation, and never a key", async () => {
    const client = await api.tenant();
    await client.delete(`${keys}/0d9ad9a4-31f5-4b8e-9f2c-0f9ef52a23a1`);
    await client.post(keys, { name: "" });
    expect(await linesOf(client)).toEqual([]);
    const key = await make(client);
    const all = await api.db.anyFirst(sql.type(z.object({ text: z.string() }))`
      select a::text as text from audit_log a`);
    expect(all.join()).toContain(key.key_prefix);
    expect(all.join()).not.toContain(key.key.slice(0, 12));
  });

  it("keeps its rows for 400 days", async () => {
    const client = await api.tenant();
    await make(client);
    await make(client);
    await execute(
      api.db,
      sql.fragment`update audit_log set created_at = now() - interval '401 days'
        where id = (select min(id) from audit_log where tenant_id = ${client.tenantId})`,
    );
    expect(await purgeAudit(api.db, 10)).toBe(1);
    expect(await linesOf(client)).toHaveLength(1);
  });
});
