// The order of the checks of a request, for every operation of the description: each request below fails every later
// check as well, and gets the answer of the first.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { type Operation, operations, withQuery } from "../hostile/table/description.ts";
import { type Client, execute, testSettings, useApi } from "../support/api.ts";

const api = useApi();
// One request in three hours: none is left after the first.
const slow = useApi({ config: testSettings({ PLOSIVE_RATE_PER_MINUTE: 0.006, PLOSIVE_RATE_BURST: 1 }) });
let client: Client;
let exhausted: Client;
beforeAll(async () => {
  client = await api.tenant();
  exhausted = await slow.tenant();
  expect((await exhausted.get("/api/v1/datasets")).status).toBe(200);
});

const guarded = operations.filter(
  ({ path, statuses }) => path.startsWith("/api/") && statuses.includes("401"),
);
const named = (list: readonly Operation[]) =>
  list.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
const withBody = guarded.filter(({ sent }) => sent !== undefined);

/** Replaces each id in the path by the same invalid text. */
const filledWith = (path: string, id: () => string) => path.replace(/\{\w+\}/g, () => id());
const broken = (path: string) => filledWith(path, () => "no-id");

interface Sent {
  readonly url?: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | undefined;
}

async function send(method: string, path: string, { url = api.url, key, headers = {}, body }: Sent) {
  const answer = await fetch(url + path, {
    method,
    headers: { ...(key === undefined ? {} : { "X-API-Key": key }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? undefined : JSON.parse(text) };
}

const json = { "Content-Type": "application/json" };
const impossible = { "If-Match": '"nothing"', "Idempotency-Key": "k".repeat(300) };

it("the order of checks is tested on every operation that requires a key", () => {
  expect(guarded.length).toBeGreaterThan(70);
  expect(withBody.length).toBeGreaterThan(20);
});

describe("404 and 405 come before 401", () => {
  it.each(named(guarded))("for %s", async (_, { path }) => {
    const wrong = await send("QUERY", broken(path), { body: "{", headers: json });
    expect([wrong.status, wrong.body?.code]).toEqual([405, "method_not_allowed"]);
    expect(wrong.headers.get("allow")).toContain("OPTIONS");
    const unknown = await send("GET", `${broken(path)}/nowhere/at/all`, {});
    expect([unknown.status, unknown.body.code]).toEqual([404, "route_not_found"]);
  });
});

describe("401 comes before 429 and the checks of body, fields and ids", () => {
  it.each(named(guarded))("for %s", async (_, { method, path, sent }) => {
    for (const key of [undefined, `pl_${"0".repeat(46)}`, exhausted.key.replace(/.$/, "_")]) {
      const request = {
        ...(key === undefined ? {} : { key }),
        url: slow.url,
        headers: { ...json, ...impossible },
        body: sent && "{",
      };
      const answer = await send(method, `${broken(path)}?page=-1`, request);
      expect([answer.status, answer.body.code]).toEqual([401, "invalid_api_key"]);
      expect(answer.headers.get("ratelimit")).toBeNull();
    }
  });
});

describe("403 for a suspended account comes before 429 and the checks of body, fields and ids", () => {
  it.each(named(guarded))("for %s", async (_, { method, path, sent }) => {
    const suspended = await suspendedKey();
    const answer = await send(method, broken(path), { key: suspended, headers: json, body: sent && "{" });
    expect([answer.status, answer.body.code]).toEqual([403, "tenant_suspended"]);
  });
});

let suspended: Promise<string> | undefined;
async function suspendedKey(): Promise<string> {
  suspended ??= api.tenant().then(async ({ key, tenantId }) => {
    await execute(api.db, sql.fragment`update tenants set suspended_at = now() where id = ${tenantId}`);
    return key;
  });
  return await suspended;
}

describe("429 comes before the checks of body, fields and ids", () => {
  it.each(named(guarded))("for %s", async (_, { method, path, sent }) => {
    const headers = { ...json, ...impossible };
    const request = { url: slow.url, key: exhausted.key, headers, body: sent && "{" };
    const answer = await send(method, `${broken(path)}?page=-1`, request);
    expect([answer.status, answer.body.code]).toEqual([429, "rate_limited"]);
    expect(answer.headers.get("ratelimit-remaining")).toBe("0");
  });
});

describe("400, 413 and 415 come before the checks of fields and ids", () => {
  it.each(named(withBody))("for %s", async (_, { method, path, body }) => {
    const where = `${broken(path)}?page=-1`;
    const key = client.key;
    const typed = { ...impossible, "Content-Type": "application/xml" };
    const xml = await send(method, where, { key, headers: typed, body: "<a/>" });
    expect([xml.status, xml.body.code]).toEqual([415, "unsupported_media_type"]);
    if (body === undefined) return;
    const cut = await send(method, where, { key, headers: { ...json, ...impossible }, body: "{" });
    expect([cut.status, cut.body.code]).toEqual([400, "invalid_request"]);
    const large = `{"a":"${"x".repeat(8 * 1024 ** 2)}"}`;
    const over = await send(method, where, { key, headers: { ...json, ...impossible }, body: large });
    expect([over.status, over.body.code]).toEqual([413, "body_too_large"]);
  });
});

const withIds = guarded.filter(({ path }) => path.includes("{"));

describe("422 comes before 404, 409 and 412 and lists every fault", () => {
  it.each(named(withIds))("for %s", async (_, operation) => {
    const { method, path, sent, body, parameters } = operation;
    const headers = { ...impossible, ...Object.fromEntries(sent?.headers ?? []) };
    const answer = await send(method, withQuery({ path: broken(path), parameters }), {
      key: client.key,
      headers,
      body: body === undefined ? sent?.body : "7",
    });
    expect(answer.status).toBe(422);
    const places = new Set(answer.body.detail.map((item: { loc: string[] }) => item.loc[0]));
    expect(places).toContain("path");
    if (body !== undefined) expect(places).toContain("body");
    const ids = answer.body.detail.filter((item: { loc: string[] }) => item.loc[0] === "path");
    expect(ids).toHaveLength(path.match(/\{/g)!.length);
    const takesKeys = parameters.some((parameter) => parameter.name === "Idempotency-Key");
    expect(places.has("header")).toBe(takesKeys);
  });
});

describe("404 comes before 409 and 412", () => {
  it.each(named(withIds))("for %s", async (_, { method, path, parameters, sent }) => {
    const answer = await send(method, filledWith(withQuery({ path, parameters }), randomUUID), {
      key: client.key,
      headers: { "If-Match": '"nothing"', ...Object.fromEntries(sent?.headers ?? []) },
      body: sent && filledWith(sent.body, randomUUID),
    });
    expect([answer.status, answer.body.detail]).toEqual([404, expect.stringMatching(/ not found$/)]);
  });
});
