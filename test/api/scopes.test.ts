// Scopes of API keys: what each allows on every route, and which keys a key may create.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { scopeOf } from "../../src/api/authenticate.ts";
import { routes } from "../../src/api/routes/index.ts";
import { keyScopes } from "../../src/schemas/api-key.ts";
import { type Client, serveApi, testDeps, testSettings, useApi } from "../support/api.ts";

const api = useApi();
const keys = "/api/v1/auth/api-keys";
let client: Client;
beforeAll(async () => {
  client = await api.tenant();
});

const send = async (key: string, method: string, path: string, body?: string) => {
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const answer = await fetch(`${api.url}${path}`, { method, headers, ...(body !== undefined && { body }) });
  return { status: answer.status, text: await answer.text() };
};
const keyWith = async (scopes: readonly string[], by: Client = client) =>
  (await by.post(keys, { name: "scoped", scopes })).body;
const clientWith = async (scopes: readonly string[]) => api.as((await keyWith(scopes)).key);

describe("a key with the scope", () => {
  it.each(keyScopes)("%s may send exactly the requests that need it", async (scope) => {
    const { key } = await keyWith([scope]);
    const wrong: string[] = [];
    for (const route of routes.filter(({ auth, resumable }) => auth !== false && !resumable)) {
      const path = route.path.replace(/\{\w+\}/g, () => randomUUID());
      const { status, text } = await send(key, route.method, path);
      const isRefused = status === 403 && text.includes("insufficient_scope");
      if (isRefused !== (scopeOf(route) !== scope)) wrong.push(`${route.operationId}: ${status}`);
    }
    expect(wrong).toEqual([]);
  });

  it("admin may manage keys and webhooks, and nothing else", () => {
    const names = routes.filter((route) => scopeOf(route) === "admin").map((route) => route.operationId);
    expect(names.toSorted()).toEqual(
      [
        ...["createApiKey", "listApiKeys", "revokeApiKey", "rotateApiKey"],
        ...["createWebhook", "deleteWebhook", "getWebhook", "listWebhooks", "updateWebhook"],
        ...["rotateWebhookSecret", "testWebhook"],
        ...["getWebhookDelivery", "listWebhookDeliveries", "redeliverWebhookDelivery"],
      ].toSorted(),
    );
  });

  it("read may not change data, and learns what is missing", async () => {
    const scoped = await clientWith(["read"]);
    expect((await scoped.get("/api/v1/datasets")).status).toBe(200);
    expect((await scoped.get(keys)).status).toBe(403);
    const refused = await scoped.post("/api/v1/datasets", { name: "x" });
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        detail: "The request needs an API key with the scope write; this key has only read",
        code: "insufficient_scope",
      },
    ]);
    expect((await client.get("/api/v1/datasets")).body.total).toBe(0);
  });

  it("read counts against the rate limits when it is refused", async () => {
    const config = testSettings({ PLOSIVE_RATE_PER_MINUTE: 0.6, PLOSIVE_RATE_BURST: 2 });
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config });
    try {
      const { key } = await keyWith(["read"], await api.tenant());
      const create = async () =>
        (await fetch(`${own.url}/api/v1/datasets`, { method: "POST", headers: { "X-API-Key": key } })).status;
      expect([await create(), await create(), await create()]).toEqual([403, 403, 429]);
    } finally {
      await own.stop();
    }
  });

  it("read is refused before its body is read", async () => {
    const { key } = await keyWith(["read"]);
    expect((await send(key, "POST", "/api/v1/datasets", "no JSON")).status).toBe(403);
  });
});

describe("the scopes of a key", () => {
  it("are shown, empty by default, and kept by a rotation", async () => {
    const full = await keyWith([]);
    expect(full.scopes).toEqual([]);
    expect((await client.post(keys, { name: "default" })).body.scopes).toEqual([]);
    const made = await keyWith(["read", "write"]);
    expect(made.scopes).toEqual(["read", "write"]);
    const listed = (await client.get(keys)).body.find(({ id }: { id: string }) => id === made.id);
    expect(listed.scopes).toEqual(["read", "write"]);
    const rotated = (await client.post(`${keys}/${made.id}/rotate`)).body;
    expect(rotated.scopes).toEqual(["read", "write"]);
    expect((await api.as(rotated.key).get(keys)).status).toBe(403);
  });

  it("cannot be exceeded by the keys that it creates", async () => {
    const admin = await clientWith(["admin", "read"]);
    for (const scopes of [undefined, [], ["write"], ["read", "write"]]) {
      const refused = await admin.post(keys, { name: "more", ...(scopes && { scopes }) });
      expect([refused.status, refused.body.detail[0]?.loc]).toEqual([422, ["body", "scopes"]]);
    }
    expect((await admin.post(keys, { name: "less", scopes: ["read"] })).status).toBe(201);
  });

  it("protect a key with more scopes from being revoked", async () => {
    const [full, admin] = [await keyWith([]), await clientWith(["admin"])];
    const refused = await admin.delete(`${keys}/${full.id}`);
    expect([refused.status, refused.body.code]).toEqual([403, "insufficient_scope"]);
    const own = await keyWith(["admin"]);
    expect((await admin.delete(`${keys}/${own.id}`)).status).toBe(204);
  });

  it("cannot be taken from another key by rotating it", async () => {
    const [full, admin] = [await keyWith([]), await clientWith(["admin"])];
    const refused = await admin.post(`${keys}/${full.id}/rotate`);
    expect([refused.status, refused.body.code]).toEqual([403, "insufficient_scope"]);
    expect((await api.as(full.key).get("/api/v1/datasets")).status).toBe(200);
    const own = await keyWith(["admin"]);
    expect((await admin.post(`${keys}/${own.id}/rotate`)).body.scopes).toEqual(["admin"]);
  });

  it("are a list of known words", async () => {
    for (const scopes of [["delete"], "read", ["read", "read"], ["read", "write", "admin", "read"]])
      expect((await client.post(keys, { name: "wrong", scopes })).status).toBe(422);
  });
});
