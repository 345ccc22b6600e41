// Rate limits: exact across several processes, reported in headers, and checked after the key and before everything
// else. Also the failed-authentication limiter, which works by address.
import { randomBytes } from "node:crypto";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import { makeFailedAuthLimiter } from "../../src/api/failed-auth-limiter.ts";
import { makePace } from "../../src/api/pace.ts";
import type { ApiSettings } from "../../src/config.ts";
import {
  type Client,
  clientOf,
  execute,
  makeTenant,
  type ServedApi,
  serveApi,
  testDeps,
  testSettings,
} from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { useStorage } from "../support/s3.ts";

const database = useDatabase();
const store = useStorage();
const started: ServedApi[] = [];
/** The clock of the API processes below; the database has its own. */
let now = Date.now();

/** Starts an API process with these settings. */
async function start(settings: Partial<ApiSettings>, registry = new Registry()): Promise<string> {
  const deps = { ...testDeps(database.apiPool, store.storage), clock: { now: () => now } };
  deps.log.level = "silent";
  const served = await serveApi({ ...deps, registry, config: testSettings(settings) });
  started.push(served);
  return served.url;
}
afterAll(async () => {
  for (const served of started) await served.stop();
});

const newTenant = (url: string) => makeTenant(database.pool, url);
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
    now += 1_001;
    expect((await client.get(path)).status).toBe(200);
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
      now += 100;
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
    now += 10_000;
    for (let i = 0; i < 5; i++) {
      now += 2_000;
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

describe("refusals of a client that does not wait", () => {
  it("are sent 100 a second after the first 50", async () => {
    const client = await newTenant(await start({ PLOSIVE_RATE_PER_MINUTE: 0.6, PLOSIVE_RATE_BURST: 1 }));
    await client.get(path);
    // From this refusal on, the process refuses the key without a query.
    expect((await client.get(path)).status).toBe(429);
    const begin = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.get(path)));
    expect(
      count(
        answers.map(({ status }) => status),
        429,
      ),
    ).toBe(200);
    expect(performance.now() - begin).toBeGreaterThan(1_400);
  });

  it.each(["/nothing", path, "/openapi.json"])(
    "%s without a key too, for a whole network",
    async (target) => {
      const own = await start({});
      const begin = performance.now();
      const answers = await Promise.all(Array.from({ length: 200 }, () => fetch(own + target)));
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
      expect(performance.now() - begin).toBeGreaterThan(1_400);
      expect((await fetch(`${own}/healthz`)).status).toBe(200);
    },
  );

  it("close the connection when 500 wait, and do not delay those of other tenants", () => {
    const pace = makePace();
    const waits = Array.from({ length: 700 }, () => pace("a"));
    expect(waits.slice(0, 50)).toEqual(Array(50).fill(0));
    expect(waits[549]).toBeGreaterThan(4_900);
    expect(waits.at(-1)).toBeNull();
    expect(pace("b")).toBe(0);
  });
});

describe("the failed-authentication limiter", () => {
  const settings = {
    PLOSIVE_FAILED_KEYS_PER_SECOND: 10,
    PLOSIVE_FAILED_KEYS_BURST: 5,
    PLOSIVE_TRUSTED_PROXIES: 1,
  };
  let url: string;
  beforeAll(async () => {
    url = await start(settings);
  });
  const tryKey = async (key: string, ip: string) =>
    (await fetch(url + path, { headers: { "X-API-Key": key, "X-Forwarded-For": `1.1.1.1, ${ip}` } })).status;
  const guess = (ip: string) => tryKey(makeApiKey(randomBytes), ip);

  it("refuses an address after a burst and allows it again later", async () => {
    const statuses = [];
    for (let i = 0; i < 8; i++) statuses.push(await guess("192.0.2.1"));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    expect(await guess("192.0.2.2")).toBe(401);
    now += 100;
    expect(await guess("192.0.2.1")).toBe(401);
    expect(await guess("192.0.2.1")).toBe(429);
  });

  it("does not extend the wait when many failures arrive at the same instant", () => {
    const limiter = makeFailedAuthLimiter({
      config: testSettings(settings),
      clock: { now: () => now },
      registry: new Registry(),
    });
    // All of these requests are admitted before the first of them fails.
    for (let i = 0; i < 40; i++) limiter.recordFailure("192.0.2.9", randomBytes(32), "unknown");
    expect(limiter.secondsToWait("192.0.2.9", randomBytes(32))).toBeCloseTo(0.1);
    now += 100;
    expect(limiter.secondsToWait("192.0.2.9", randomBytes(32))).toBe(0);
  });

  it("counts an IPv6 /64 network as one address, since one client can have the whole network", async () => {
    const statuses = [];
    for (let i = 1; i < 6; i++) statuses.push(await guess(`2001:db8:7:0:${i}::${i}`));
    statuses.push(await guess("2001:DB8:7::9"), await guess("2001:db8:7:1::9"), await guess("::7"));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 401, 401]);
  });

  it("never refuses a key that was valid from the same address before", async () => {
    const old = await newTenant(url);
    expect(await tryKey(old.key, "192.0.2.3")).toBe(200);
    for (let i = 0; i < 8; i++) await guess("192.0.2.3");
    expect(await tryKey(old.key, "192.0.2.3")).toBe(200);
    const unknown = await newTenant(url);
    expect(await tryKey(unknown.key, "192.0.2.3")).toBe(429);
  });

  it("counts keys that were valid once", async () => {
    const client = await newTenant(url);
    expect(await tryKey(client.key, "192.0.2.6")).toBe(200);
    await execute(
      database.pool,
      sql.fragment`update api_keys set revoked_at = now() where tenant_id = ${client.tenantId}`,
    );
    const statuses = [];
    for (let i = 0; i < 7; i++) statuses.push(await tryKey(client.key, "192.0.2.6"));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });

  it("counts only well-formed keys, since a malformed key costs no query", async () => {
    for (let i = 0; i < 20; i++) expect(await tryKey("nonsense", "192.0.2.4")).toBe(401);
    expect(await guess("192.0.2.4")).toBe(401);
  });

  it("writes some failures to the audit log, with the key's first characters, address and request", async () => {
    now += 60_000;
    const key = makeApiKey(randomBytes);
    await fetch(url + path, {
      headers: { "X-API-Key": key, "X-Forwarded-For": "2001:db8::7", "X-Request-Id": "request-of-a-thief" },
    });
    const expired = await newTenant(url);
    await execute(
      database.pool,
      sql.fragment`update api_keys set expires_at = now() where tenant_id = ${expired.tenantId}`,
    );
    expect(await tryKey(expired.key, "192.0.2.5")).toBe(401);
    for (let i = 0; i < 60; i++) await guess(`192.0.2.${100 + i}`);
    await started.at(-1)!.app.settle();
    const rows = await database.pool.any(sql.type(
      z.object({
        tenant_id: z.string().nullable(),
        reason: z.string(),
        key_prefix: z.string(),
        ip: z.string(),
        request_id: z.string(),
      }),
    )`select tenant_id, reason, key_prefix, host(ip) as ip, request_id from audit_log
      where action = 'api_key.refused' and key_prefix in (${key.slice(0, 8)}, ${expired.key.slice(0, 8)}) order by reason desc`);
    expect(rows).toEqual([
      {
        tenant_id: null,
        reason: "unknown",
        key_prefix: key.slice(0, 8),
        ip: "2001:db8::7",
        request_id: "request-of-a-thief",
      },
      expect.objectContaining({ tenant_id: expired.tenantId, reason: "expired", ip: "192.0.2.5" }),
    ]);
    const all = await database.pool.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from audit_log where action = 'api_key.refused'`);
    expect(all).toBeLessThan(45);
  });
});
