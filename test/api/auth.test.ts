// Authentication: requests without a key and with invalid keys. The cases come from the list of routes, so a new route
// is covered at once. Isolation between tenants: isolation.test.ts.
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import type { Route } from "../../src/api/route.ts";
import { routes } from "../../src/api/routes/index.ts";
import { type Answer, type Client, execute, useApi } from "../support/api.ts";

const api = useApi();
const closed = routes.filter((route) => route.auth !== false);

async function call(client: Client, route: Route, path: string, body: unknown): Promise<Answer> {
  if (route.method === "GET") return await client.get(path);
  if (route.method === "PUT") return await client.put(path);
  if (route.method === "DELETE") return await client.delete(path);
  if (route.method === "PATCH") return await client.patch(path, body ?? {});
  return await client.post(path, body);
}

describe("a request without a key", () => {
  it.each(closed.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "gets 401 from %s",
    async (_, route) => {
      const path = route.path.replace(/\{\w+\}/g, () => randomUUID());
      const answer = await call(api.as(null), route, path, { nonsense: true });
      expect(answer.status).toBe(401);
      expect(answer.body.detail).toBe("Invalid or missing API key");
      expect(answer.headers.get("www-authenticate")).toBe("APIKey");
      expect(answer.headers.get("cache-control")).toBe("no-store");
    },
  );

  it("reads health, readiness, startup and the OpenAPI description", async () => {
    for (const path of ["/healthz", "/readyz", "/startupz", "/openapi.json", "/api/v1/openapi.json"])
      expect((await api.as(null).get(path)).status).toBe(200);
  });
});

describe("an API key", () => {
  it("that is malformed, unknown, mistyped or sent twice gets the same refusal", async () => {
    const { key } = await api.tenant();
    const flipped = key.slice(0, 20) + (key[20] === "a" ? "b" : "a") + key.slice(21);
    const wrong = [
      "x",
      key.toLowerCase(),
      `${key}x`,
      flipped,
      makeApiKey(randomBytes),
      `${key}, ${key}`,
      `Bearer ${key}`,
    ];
    for (const text of wrong) {
      const answer = await api.as(text).get("/api/v1/datasets");
      expect([answer.status, answer.body.detail]).toEqual([401, "Invalid or missing API key"]);
    }
    const inQuery = await api.as(null).get(`/api/v1/datasets?X-API-Key=${key}&api_key=${key}`);
    expect(inQuery.status).toBe(401);
  });

  it("that has expired is reported as expired only to a client that sends the whole key", async () => {
    const client = await api.tenant();
    await execute(
      api.db,
      sql.fragment`
      update api_keys set expires_at = now() - interval '1 second' where tenant_id = ${client.tenantId}`,
    );
    const answer = await client.get("/api/v1/datasets");
    expect([answer.status, answer.body.detail]).toEqual([401, "API key expired"]);
  });

  it("is refused from the first request after its revocation on", async () => {
    const client = await api.tenant();
    const second = (await client.post("/api/v1/auth/api-keys", { name: "second" })).body;
    const other = api.as(second.key);
    expect((await other.get("/api/v1/datasets")).status).toBe(200);
    expect((await client.delete(`/api/v1/auth/api-keys/${second.id}`)).status).toBe(204);
    expect((await other.get("/api/v1/datasets")).status).toBe(401);
    expect((await client.delete(`/api/v1/auth/api-keys/${second.id}`)).body.code).toBe("api_key_not_found");
  });

  it("can revoke itself", async () => {
    const client = await api.tenant();
    const [own] = (await client.get("/api/v1/auth/api-keys")).body;
    expect((await client.delete(`/api/v1/auth/api-keys/${own.id}`)).status).toBe(204);
    expect((await client.get("/api/v1/datasets")).status).toBe(401);
  });

  it("of a suspended account is recognized and refused with 403", async () => {
    const client = await api.tenant();
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${client.tenantId}`,
    );
    expect((await client.get("/api/v1/datasets")).body.code).toBe("tenant_suspended");
  });
});

describe("API keys", () => {
  it("are shown in full once, are listed newest first without their secret, and record their last use", async () => {
    const client = await api.tenant();
    const created = (
      await client.post("/api/v1/auth/api-keys", { name: "ci", expires_at: "2999-01-01T02:00:00+02:00" })
    ).body;
    expect(created).toMatchObject({
      name: "ci",
      scopes: [],
      last_used_at: null,
      expires_at: "2999-01-01T00:00:00.000Z",
    });
    expect(created.key).toMatch(/^pl_[0-9A-Za-z]{46}$/);
    expect(created.key_prefix).toBe(created.key.slice(0, 8));
    await api.as(created.key).get("/api/v1/datasets");
    await api.settle();
    const list = await client.get("/api/v1/auth/api-keys");
    expect(list.body.map((key: { name: string }) => key.name)).toEqual(["ci", "test"]);
    // Of this use: the list was asked for with another key.
    expect(Date.parse(list.body[0].last_used_at)).toBeGreaterThanOrEqual(Date.parse(created.created_at));
    expect(list.text).not.toContain(created.key);
  });

  it.each([
    ["2999-01-01T00:00:00-23:59", "2999-01-01T23:59:00.000Z"],
    ["2999-01-02T00:00:00+16:00", "2999-01-01T08:00:00.000Z"],
    ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"],
  ])("expire at %s, whatever the UTC offset and the fractional digits", async (given, shown) => {
    const client = await api.tenant();
    const answer = await client.post("/api/v1/auth/api-keys", { name: "x", expires_at: given });
    expect([answer.status, answer.body.expires_at]).toEqual([201, shown]);
  });

  it("cannot expire in a year with five digits in UTC", async () => {
    const client = await api.tenant();
    const body = { name: "x", expires_at: "9999-12-31T23:59:59-12:00" };
    const answer = await client.post("/api/v1/auth/api-keys", body);
    expect(answer.body.detail).toMatchObject([{ loc: ["body", "expires_at"], type: "value_error" }]);
  });

  it("cannot be created with an expiry in the past or without a name", async () => {
    const client = await api.tenant();
    const past = await client.post("/api/v1/auth/api-keys", {
      name: "x",
      expires_at: "2000-01-01T00:00:00Z",
    });
    expect(past.body.detail).toMatchObject([{ loc: ["body", "expires_at"], type: "value_error" }]);
    const local = await client.post("/api/v1/auth/api-keys", { name: "", expires_at: "2999-01-01T00:00:00" });
    expect(local.body.detail.map((item: { type: string }) => item.type)).toEqual([
      "string_too_short",
      "datetime_parsing",
    ]);
  });
});
