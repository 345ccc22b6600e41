// Rate limits: exact across several processes, reported in headers, and checked after the key and before everything
// else.
import { randomBytes } from "node:crypto";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import { type Client, clientOf, execute } from "../support/api.ts";
import { signedIn } from "../support/dashboard.ts";
import { useLimitedApis } from "../support/limited-apis.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();
const { clock, start, newTenant } = useLimitedApis(database);
const count = (statuses: readonly number[], status: number) =>
  statuses.filter((one) => one === status).length;
const path = "/api/v1/datasets";

describe("the default rate limit", () => {
  // One request per 100 s, so that no token is added while a test runs.
  const slow = { PLOSIVE_RATE_PER_MINUTE: 0.6, PLOSIVE_RATE_BURST: 20 };
  let one: string;
  let two: string;
  beforeAll(async () => {
    one = await start(slow);
    two = await start(slow);
  });

  it("allows exactly the burst through two processes together, however many requests arrive at once", async () => {
    const client = await newTenant(one);
    const other = clientOf(two, client.key, client.tenantId);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? client : other).get(path)),
    );
    const statuses = answers.map((answer) => answer.status);
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([20, 40]);
  });

  it("reports on every answer how many requests are left", async () => {
    const client = await newTenant(one);
    const first = await client.get(path);
    expect(Object.fromEntries([...first.headers].filter(([name]) => name.startsWith("ratelimit")))).toEqual({
      "ratelimit-policy": '"default";q=0.6;w=60',
      ratelimit: '"default";r=19;t=100',
      "ratelimit-limit": "0.6",
      "ratelimit-remaining": "19",
      "ratelimit-reset": "100",
    });
    const missing = await client.get(`${path}/0d9ad9a4-31f5-4b8e-9f2c-0f9ef52a23a1`);
    expect(missing.status).toBe(404);
    expect(missing.headers.get("ratelimit-remaining")).toBe("18");
    expect((await client.post(path, { name: 1 })).headers.get("ratelimit-remaining")).toBe("17");
    expect((await fetch(`${one}/healthz`)).headers.get("ratelimit")).toBeNull();
  });

  it("refuses with the time to wait, and without reading the body", async () => {
    const client = await newTenant(one);
    await useUp(client, 20);
    const refused = await client.get(path);
    expect([refused.status, refused.body]).toEqual([
      429,
      { detail: "Rate limit exceeded", code: "rate_limited" },
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(refused.headers.get("ratelimit-remaining")).toBe("0");
    const broken = await fetch(one + path, {
      method: "POST",
      headers: { "X-API-Key": client.key, "Content-Type": "application/json" },
      body: "{",
    });
    expect(broken.status).toBe(429);
  });

  it("applies to the tenant, not to a key, and never to another tenant", async () => {
    const client = await newTenant(one);
    const second = await client.post("/api/v1/auth/api-keys", { name: "second" });
    const sibling = clientOf(one, second.body.key, client.tenantId);
    await useUp(client, 19);
    expect((await sibling.get(path)).status).toBe(429);
    expect((await (await newTenant(one)).get(path)).status).toBe(200);
  });

  it("refuses for up to a second without a query to the database", async () => {
    const client = await newTenant(one);
    await useUp(client, 20);
    expect((await client.get(path)).status).toBe(429);
    await execute(database.pool, sql.fragment`delete from rate_limits where tenant_id = ${client.tenantId}`);
    const remembered = await client.get(path);
    expect(remembered.status).toBe(429);
    expect(Number(remembered.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(remembered.headers.get("ratelimit-remaining")).toBe("0");
    clock.at += 1_001;
    expect((await client.get(path)).status).toBe(200);
  });

  it("refuses all keys and sessions of the tenant without a query once one of them is refused", async () => {
    const client = await newTenant(one);
    const made = await client.post("/api/v1/auth/api-keys", { name: "second" });
    const sibling = clientOf(one, made.body.key, client.tenantId);
    const browser = await signedIn(one, client.key);
    const ask = async () =>
      Promise.all([sibling.get(path), browser.send("GET", "/dashboard/api/v1/datasets")]);
    expect((await ask()).map(({ status }) => status)).toEqual([200, 200]);
    await useUp(client, 16);
    expect((await client.get(path)).status).toBe(429);
    await execute(database.pool, sql.fragment`delete from rate_limits where tenant_id = ${client.tenantId}`);
    expect((await ask()).map(({ status }) => status)).toEqual([429, 429]);
    clock.at += 1_001;
    expect((await ask()).map(({ status }) => status)).toEqual([200, 200]);
  });

  it("looks up a further session of a refused key once", async () => {
    const client = await newTenant(one);
    const browser = await signedIn(one, client.key);
    const ask = async () => (await browser.send("GET", "/dashboard/api/v1/datasets")).status;
    await useUp(client, 19);
    expect((await client.get(path)).status).toBe(429);
    expect(await ask()).toBe(429);
    await execute(
      database.pool,
      sql.fragment`delete from dashboard_sessions where tenant_id = ${client.tenantId}`,
    );
    expect(await ask()).toBe(429);
    clock.at += 5_000;
    expect((await client.get(path)).status).toBe(429);
    expect(await ask()).toBe(401);
  });

  it("says that a revoked key is revoked although its tenant is refused, once the database has told it", async () => {
    const client = await newTenant(one);
    const made = await client.post("/api/v1/auth/api-keys", { name: "second" });
    const sibling = clientOf(one, made.body.key, client.tenantId);
    expect((await sibling.get(path)).status).toBe(200);
    await useUp(client, 18);
    expect((await client.get(path)).status).toBe(429);
    expect((await sibling.get(path)).status).toBe(429);
    await execute(
      database.pool,
      sql.fragment`update api_keys set revoked_at = now() where id = ${made.body.id}`,
    );
    await poll("the revoked key to get 401", async () => (await sibling.get(path)).status === 401, 3_000);
    expect((await client.get(path)).status).toBe(429);
  });

  it("is checked after the key: an unknown key gets 401, a revoked one at the latest after that second", async () => {
    const client = await newTenant(one);
    await useUp(client, 20);
    expect((await clientOf(one, makeApiKey(randomBytes), "").get(path)).status).toBe(401);
    await execute(
      database.pool,
      sql.fragment`update api_keys set revoked_at = now() where tenant_id = ${client.tenantId}`,
    );
    // The tenant was not refused yet, so the process has nothing in its cache.
    expect((await client.get(path)).status).toBe(401);
  });

  it("adds tokens steadily", async () => {
    // One request per 5 s, so that the second one comes before the next token on a busy machine too.
    const fast = await start({ PLOSIVE_RATE_PER_MINUTE: 12, PLOSIVE_RATE_BURST: 1 });
    const client = await newTenant(fast);
    expect((await client.get(path)).status).toBe(200);
    const refused = await client.get(path);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([
      429,
      expect.stringMatching(/^[1-5]$/),
    ]);
    await poll("five seconds", async () => {
      clock.at += 100;
      return (await client.get(path)).status === 200;
    });
  });

  it("applies to writes too, even if the limit for writes has tokens left", async () => {
    const client = await newTenant(one);
    await useUp(client, 20);
    expect((await client.post(path, { name: "a" })).status).toBe(429);
    const roomy = await start({ ...slow, PLOSIVE_RATE_WRITES_PER_MINUTE: 600 });
    const writer = clientOf(roomy, client.key, client.tenantId);
    expect((await writer.post(path, { name: "a" })).status).toBe(429);
  });

  it("does not charge refused requests", async () => {
    const client = await newTenant(one);
    await useUp(client, 20);
    const before = await freeAt(client);
    clock.at += 10_000;
    for (let i = 0; i < 5; i++) {
      clock.at += 2_000;
      expect((await client.get(path)).status).toBe(429);
    }
    expect(await freeAt(client)).toEqual(before);
  });
});

async function useUp(client: Client, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) expect((await client.get(path)).status).toBe(200);
}

async function freeAt(client: Client): Promise<readonly number[]> {
  return await database.pool.oneFirst(sql.type(z.object({ free_at: z.array(z.number()) }))`
    select free_at from rate_limits where tenant_id = ${client.tenantId}`);
}

it("is visible in metrics, which count refusals by policy and reason", async () => {
  const registry = new Registry();
  const url = await start({ PLOSIVE_RATE_PER_MINUTE: 0.6, PLOSIVE_RATE_BURST: 1, ...fewFailures }, registry);
  const client = await newTenant(url);
  for (let i = 0; i < 4; i++) await client.get(path);
  for (let i = 0; i < 3; i++) await clientOf(url, makeApiKey(randomBytes), "").get(path);
  const text = await registry.metrics();
  expect(text).toContain('plosive_rate_limited_total{policy="default"} 3');
  expect(text).toContain('plosive_refused_keys_total{reason="unknown"} 1');
  expect(text).toContain('plosive_refused_keys_total{reason="too_many"} 2');
});
const fewFailures = { PLOSIVE_FAILED_KEYS_PER_SECOND: 1, PLOSIVE_FAILED_KEYS_BURST: 1 };

describe("the additional rate limits", () => {
  const upload = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
  const nowhere = `${path}/0d9ad9a4-31f5-4b8e-9f2c-0f9ef52a23a1`;
  const requests: Record<string, (client: Client) => Promise<{ status: number; headers: Headers }>> = {
    writes: (client) => client.post(path, { name: "a" }),
    uploads: (client) => client.post(`${nowhere}/audio/upload-url`, upload),
    keys: (client) => client.post("/api/v1/auth/api-keys", { name: "k" }),
    trainings: (client) => client.post("/api/v1/training-jobs", {}),
  };
  let url: string;
  beforeAll(async () => {
    url = await start({
      PLOSIVE_RATE_PER_MINUTE: 600,
      PLOSIVE_RATE_BURST: 1000,
      PLOSIVE_RATE_WRITES_PER_MINUTE: 4,
      PLOSIVE_RATE_UPLOADS_PER_MINUTE: 3,
      PLOSIVE_RATE_KEYS_PER_MINUTE: 2,
      PLOSIVE_RATE_TRAININGS_PER_MINUTE: 1,
    });
  });

  it.each([
    ["writes", 4],
    ["uploads", 3],
    ["keys", 2],
    ["trainings", 1],
  ])("apply to %s, and other requests of the tenant continue", async (name, perMinute) => {
    const client = await newTenant(url);
    const first = await requests[name]!(client);
    expect(first.headers.get("ratelimit-policy")).toBe(`"default";q=600;w=60, "${name}";q=${perMinute};w=60`);
    expect(first.headers.get("ratelimit")).toMatch(
      new RegExp(`^"default";r=999;t=1, "${name}";r=${perMinute - 1};t=\\d+$`),
    );
    expect(first.headers.get("ratelimit-remaining")).toBe(String(perMinute - 1));
    for (let i = 1; i < perMinute; i++) expect((await requests[name]!(client)).status).not.toBe(429);
    const refused = await requests[name]!(client);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30 / perMinute);
    expect((await client.get(path)).status).toBe(200);
    for (const other of Object.keys(requests).filter((one) => one !== name))
      expect((await requests[other]!(client)).status, other).not.toBe(429);
  });

  it("charge nothing to the default rate limit for a refused write", async () => {
    const client = await newTenant(url);
    await requests.trainings!(client);
    const before = (await freeAt(client))[0]!;
    expect((await requests.trainings!(client)).status).toBe(429);
    expect((await freeAt(client))[0]).toBe(before);
  });

  it("write nothing to the database when the rate is 0, which means no limit", async () => {
    const open = await start({});
    const client = await newTenant(open);
    const answer = await client.post(path, { name: "a" });
    expect(answer.headers.get("ratelimit")).toBeNull();
    const rows = await database.pool.any(sql.type(z.object({ tenant_id: z.string() }))`
      select tenant_id from rate_limits where tenant_id = ${client.tenantId}`);
    expect(rows).toEqual([]);
  });
});
