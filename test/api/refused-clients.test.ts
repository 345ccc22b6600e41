// Clients that continue after a refusal: the process paces its refusals, and the failed-authentication limiter, which works
// by address, refuses clients that try keys.
import { randomBytes } from "node:crypto";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import { makeFailedAuthLimiter } from "../../src/api/failed-auth-limiter.ts";
import { makePace } from "../../src/api/pace.ts";
import { execute, testSettings } from "../support/api.ts";
import { useLimitedApis } from "../support/limited-apis.ts";
import { useDatabase } from "../support/postgres.ts";

const database = useDatabase();
const { clock, started, start, newTenant } = useLimitedApis(database);
const path = "/api/v1/datasets";

describe("refusals of a client that does not wait", () => {
  it("are sent 100 a second after the first 50", async () => {
    const client = await newTenant(await start({ PLOSIVE_RATE_PER_MINUTE: 0.6, PLOSIVE_RATE_BURST: 1 }));
    await client.get(path);
    // From this refusal on, the process refuses the key without a query.
    expect((await client.get(path)).status).toBe(429);
    const begin = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.get(path)));
    expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(429));
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
    clock.at += 100;
    expect(await guess("192.0.2.1")).toBe(401);
    expect(await guess("192.0.2.1")).toBe(429);
  });

  it("does not extend the wait when many failures arrive at the same instant", () => {
    const limiter = makeFailedAuthLimiter({
      config: testSettings(settings),
      clock,
      registry: new Registry(),
    });
    // All of these requests are admitted before the first of them fails.
    for (let i = 0; i < 40; i++) limiter.recordFailure("192.0.2.9", randomBytes(32), "unknown");
    expect(limiter.secondsToWait("192.0.2.9", randomBytes(32))).toBeCloseTo(0.1);
    clock.at += 100;
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
    clock.at += 60_000;
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
