// Sessions of the dashboard: what a session may do under /dashboard/api, how it ends, and requests from other sites.
import { randomBytes } from "node:crypto";
import { sql } from "slonik";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { digestOf, makeToken } from "../../src/api/dashboard/token.ts";
import { makeOpenApi } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes/index.ts";
import { purgeSessions } from "../../src/db/dashboard-session.ts";
import { numberEvents } from "../../src/db/event.ts";
import { type Client, execute, serveApi, testDeps, testSettings, useApi } from "../support/api.ts";
import { browserWith, sameOrigin, send, signedIn } from "../support/dashboard.ts";
import { type EventReader, readEvents } from "../support/events.ts";
import { makeFullWorld } from "../support/isolation.ts";
import { operationsOf, waysOf } from "../support/matrix.ts";
import { poll } from "../support/poll.ts";
import { insertTrainingJob } from "../support/rows.ts";

const api = useApi({ timing: { beatMs: 300 } });
const session = "/dashboard/session";
const datasets = "/dashboard/api/v1/datasets";
const secureName = "__Host-plosive_session";

const readers: EventReader[] = [];
afterAll(() => {
  for (const reader of readers) reader.close();
});

const audited = (tenantId: string) =>
  api.db.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where tenant_id = ${tenantId} and action like 'session.%' order by id`);
const change = (cookie: string, set: ReturnType<typeof sql.fragment>) =>
  execute(
    api.db,
    sql.fragment`update dashboard_sessions set ${set} where digest = ${sql.binary(digestOf(cookie.split("=")[1]!))}`,
  );
const idleMinutes = (cookie: string) =>
  api.db.oneFirst(sql.type(z.object({ minutes: z.number() }))`
    select round(extract(epoch from now() - last_used_at) / 60)::int as minutes from dashboard_sessions
    where digest = ${sql.binary(digestOf(cookie.split("=")[1]!))}`);
const minutes = (count: number) => sql.fragment`last_used_at = now() - make_interval(mins => ${count})`;

describe("a session", () => {
  it("opens the REST API under /dashboard/api, with path, query, body and headers", async () => {
    const client = await api.tenant();
    const browser = await signedIn(api.url, client.key);
    const made = await browser.send("POST", datasets, { name: "by session" }, { "Idempotency-Key": "1" });
    expect([made.status, made.headers.location]).toEqual([201, `/api/v1/datasets/${made.body.id}`]);
    const again = await browser.send("POST", datasets, { name: "by session" }, { "Idempotency-Key": "1" });
    expect(again.headers["idempotency-replayed"]).toBe("true");
    await client.post("/api/v1/datasets", { name: "by key" });
    const found = await browser.send("GET", `${datasets}?name=session&page_size=1`);
    expect(found.body).toMatchObject({ total: 1, page_size: 1, items: [{ id: made.body.id }] });
    const one = await browser.send("GET", `${datasets}/${made.body.id}`);
    const etag = one.headers.etag ?? "";
    expect(one.headers["cache-control"]).toBe("private, no-cache");
    const unchanged = await browser.send("GET", `${datasets}/${made.body.id}`, undefined, {
      "If-None-Match": etag,
    });
    expect(unchanged.status).toBe(304);
    const patched = await browser.send(
      "PATCH",
      `${datasets}/${made.body.id}`,
      { name: "x" },
      { "If-Match": '"y"' },
    );
    expect(patched.status).toBe(412);
    expect((await browser.send("PUT", `${datasets}/${made.body.id}`)).headers.allow).toBe(
      "DELETE, GET, HEAD, OPTIONS, PATCH",
    );
    for (const path of [
      "/dashboard/api/v1/nothing",
      "/dashboard/api/",
      "/dashboard/api/v1",
      "/dashboard/api/../healthz",
    ])
      expect([path, (await browser.send("GET", path)).status]).toEqual([path, 404]);
  });

  it("counts only there, and a key only outside", async () => {
    const [client, other] = [await api.tenant(), await api.tenant()];
    const browser = await signedIn(api.url, client.key);
    expect((await browser.send("GET", "/api/v1/datasets")).body.code).toBe("invalid_api_key");
    for (const path of [datasets, session]) {
      const keyAlone = await send(api.url, "GET", path, { headers: { "X-API-Key": client.key } });
      expect([keyAlone.status, keyAlone.body.code]).toEqual([401, "session_ended"]);
      expect(keyAlone.headers["www-authenticate"]).toBe("APIKey");
    }
    await other.post("/api/v1/datasets", { name: "theirs" });
    const both = await browser.send("GET", datasets, undefined, { "X-API-Key": other.key });
    expect(both.body.total).toBe(0);
    expect(
      (await browser.send("GET", "/api/v1/datasets", undefined, { "X-API-Key": other.key })).body.total,
    ).toBe(1);
  });

  it("finds nothing of another tenant, with the same answer as for a random id", async () => {
    const [a, b] = [await api.tenant(), await api.tenant()];
    const [own, others] = [await makeFullWorld(a, api.db), await makeFullWorld(b, api.db)];
    const browser = await signedIn(api.url, a.key);
    const random = Object.fromEntries(Object.keys(others).map((name) => [name, crypto.randomUUID()]));
    let compared = 0;
    for (const operation of operationsOf(makeOpenApi(routes))) {
      if (!["GET", "DELETE"].includes(operation.method)) continue;
      for (const way of waysOf(operation, () => undefined).filter(({ part }) => part === "path")) {
        const ask = (ids: typeof others) =>
          browser.send(operation.method, `/dashboard${way.request(own, ids).path}`);
        const [foreign, unknown] = [await ask(others), await ask(random)];
        if (unknown.status === 422) continue;
        expect([way.name, foreign.status, foreign.text]).toEqual([way.name, 404, unknown.text]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(30);
  });

  it("acts only on the account that the page shows", async () => {
    const [client, other] = [await api.tenant(), await api.tenant()];
    const browser = await signedIn(api.url, client.key);
    const shows = (account: string) => ({ "X-Plosive-Account": account });
    const own = await browser.send("POST", datasets, { name: "own" }, shows(client.tenantId));
    expect(own.status).toBe(201);
    for (const account of [other.tenantId, `${client.tenantId}, ${client.tenantId}`, "x"]) {
      const made = await browser.send("POST", datasets, { name: "foreign" }, shows(account));
      expect([made.status, made.body.code]).toEqual([409, "account_changed"]);
      expect((await browser.send("GET", datasets, undefined, shows(account))).status).toBe(409);
    }
    expect((await client.get("/api/v1/datasets")).body.total).toBe(1);
    // With a key there is no page.
    const byKey = await send(api.url, "GET", "/api/v1/datasets", {
      headers: { "X-API-Key": client.key, ...shows(other.tenantId) },
    });
    expect(byKey.status).toBe(200);
  });

  it("ends at the next request after its key is revoked or has expired", async () => {
    const client = await api.tenant();
    const made = async () => (await client.post("/api/v1/auth/api-keys", { name: "x" })).body;
    const [revoked, expired] = [await made(), await made()];
    const browsers = [await signedIn(api.url, revoked.key), await signedIn(api.url, expired.key)];
    const statuses = () =>
      Promise.all(browsers.map(async (browser) => (await browser.send("GET", datasets)).status));
    expect(await statuses()).toEqual([200, 200]);
    await client.delete(`/api/v1/auth/api-keys/${revoked.id}`);
    await execute(api.db, sql.fragment`update api_keys set expires_at = now() where id = ${expired.id}`);
    expect(await statuses()).toEqual([401, 401]);
    const codes = await Promise.all(
      browsers.map(async (browser) => (await browser.send("GET", session)).body.code),
    );
    expect(codes).toEqual(["invalid_api_key", "api_key_expired"]);
  });

  it("ends after 30 minutes without a request and after 8 hours, and is deleted then", async () => {
    const client = await api.tenant();
    const idle = await signedIn(api.url, client.key);
    const old = await signedIn(api.url, client.key);
    const used = await signedIn(api.url, client.key);
    await change(idle.cookie, minutes(31));
    await change(old.cookie, sql.fragment`expires_at = now()`);
    await change(used.cookie, minutes(29));
    expect((await used.send("GET", datasets)).status).toBe(200);
    expect(await idleMinutes(used.cookie)).toBe(0);
    for (const { send } of [idle, old]) {
      const answer = await send("GET", datasets);
      expect([answer.status, answer.body.code]).toEqual([401, "session_ended"]);
    }
    expect(await purgeSessions(api.operatorPool)).toBeGreaterThanOrEqual(2);
    const left = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from dashboard_sessions where tenant_id = ${client.tenantId}`);
    expect(left).toBe(1);
    expect((await used.send("GET", datasets)).status).toBe(200);
  });

  it("ends by signing out, alone, and the browser forgets it", async () => {
    const client = await api.tenant();
    const [first, second] = [await signedIn(api.url, client.key), await signedIn(api.url, client.key)];
    const out = await first.send("DELETE", session);
    expect([out.status, out.text]).toEqual([204, ""]);
    expect(out.headers["set-cookie"]).toEqual([
      `${secureName}=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0`,
    ]);
    expect((await first.send("GET", session)).status).toBe(401);
    expect((await second.send("GET", session)).status).toBe(200);
    expect((await first.send("DELETE", session)).status).toBe(204);
    expect((await send(api.url, "DELETE", session, { headers: sameOrigin })).status).toBe(204);
    expect(await audited(client.tenantId)).toEqual(["session.started", "session.started", "session.ended"]);
    // Also a session whose key is revoked.
    await execute(
      api.db,
      sql.fragment`update api_keys set revoked_at = now() where tenant_id = ${client.tenantId}`,
    );
    expect((await second.send("DELETE", session)).status).toBe(204);
    expect((await audited(client.tenantId)).at(-1)).toBe("session.ended");
  });

  it("is unknown by a cookie that is malformed, repeated, long or made up", async () => {
    const { cookie } = await signedIn(api.url, (await api.tenant()).key);
    const token = cookie.split("=")[1]!;
    const get = async (text: string | string[]) =>
      (await send(api.url, "GET", session, { headers: { Cookie: text } })).status;
    expect(await get(`other=1;${cookie} ; x="y=z"`)).toBe(200);
    expect(await get([`a=b`, cookie])).toBe(200);
    const wrong = [
      "",
      ";;;==",
      `${secureName}`,
      `${secureName}=`,
      `${secureName}=${makeToken(randomBytes)}`,
      `${secureName}="${token}"`,
      `${secureName}=${token}x`,
      `${secureName}=${token.slice(1)}`,
      `${secureName}=${token.slice(0, -1)}%41`,
      `${secureName}=${"A".repeat(10_000)}`,
      `${secureName.toLowerCase()}=${token}`,
      `x${cookie}`,
      `plosive_session=${token}`,
      `${cookie}; ${cookie}`,
      `${cookie}; ${secureName}=`,
      `${secureName}=${digestOf(token).toString("base64url")}`,
      `${secureName}=' or true --`,
    ];
    for (const text of wrong) expect([text.slice(0, 60), await get(text)]).toEqual([text.slice(0, 60), 401]);
    expect(await get(`${secureName}=${"A".repeat(20_000)}`)).toBe(431);
  });

  it("keeps the rate limits of its tenant, and the labels of the routes", async () => {
    const deps = testDeps(api.pool, api.storage);
    const config = testSettings({ PLOSIVE_RATE_PER_MINUTE: 0.6, PLOSIVE_RATE_BURST: 3 });
    // The limiter's clock stands still, so that a refusal is remembered however slow the machine is.
    const own = await serveApi({ ...deps, config, clock: { now: () => 1_000_000 } });
    try {
      const client = await api.tenant();
      const browser = await signedIn(own.url, client.key);
      const first = await browser.send("GET", datasets);
      expect([first.status, first.headers["ratelimit-remaining"]]).toEqual([200, "1"]);
      expect((await browser.send("GET", `${datasets}/${crypto.randomUUID()}`)).status).toBe(404);
      const refused = await browser.send("GET", datasets);
      expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
      // For a second it is refused again without a query, so nobody notices that the session has ended.
      await change(browser.cookie, minutes(31));
      expect((await browser.send("GET", datasets)).status).toBe(429);
      // Signing out always works.
      expect((await browser.send("DELETE", session)).status).toBe(204);
      const text = await deps.registry.metrics();
      expect(text).toContain(
        'plosive_http_requests_total{method="GET",route="/api/v1/datasets",status="200"} 1',
      );
      expect(text).toContain('route="/api/v1/datasets/{dataset_id}",status="404"} 1');
      expect(text).toContain(
        'plosive_http_requests_total{method="POST",route="/dashboard/session",status="201"} 1',
      );
    } finally {
      await own.stop();
    }
  });
});

describe("a request from another site", () => {
  const writes = [
    ["POST", session],
    ["DELETE", session],
    ["POST", datasets],
    ["PATCH", `${datasets}/x`],
    ["PUT", `${datasets}/x`],
    ["DELETE", `${datasets}/x`],
    ["POST", "/dashboard/"],
  ] as const;
  const hostile: Record<string, string>[] = [
    {},
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "none" },
    { "Sec-Fetch-Site": "same-origin, same-origin" },
    { "Sec-Fetch-Site": "cross-site", Origin: "http://127.0.0.1" },
    { Origin: "null" },
    { Origin: "https://evil.example" },
    { Origin: "http://127.0.0.1.evil.example" },
  ];

  it.each(writes)("%s %s changes nothing", async (method, path) => {
    const client = await api.tenant();
    const { cookie } = await signedIn(api.url, client.key);
    for (const headers of hostile) {
      const body = method === "POST" ? { api_key: client.key, name: "x" } : undefined;
      const answer = await send(api.url, method, path, { headers: { Cookie: cookie, ...headers }, body });
      expect([headers, answer.status, answer.body.code]).toEqual([headers, 403, "cross_site_request"]);
    }
    const { status, body } = await browserWith(api.url, cookie).send("GET", datasets);
    expect([status, body.total]).toEqual([200, 0]);
  });

  it("is told by Origin where the browser sends no Sec-Fetch-Site", async () => {
    const { key } = await api.tenant();
    const { cookie } = await signedIn(api.url, key);
    const { host } = new URL(api.url);
    for (const Origin of [api.url, `https://${host}`]) {
      const headers = { Cookie: cookie, Origin };
      const made = await send(api.url, "POST", datasets, { headers, body: { name: "x" } });
      expect(made.status).toBe(201);
    }
  });

  it("may read, because the browser sends no cookie with it", async () => {
    const { cookie } = await signedIn(api.url, (await api.tenant()).key);
    const headers = { "Sec-Fetch-Site": "cross-site" };
    expect((await send(api.url, "GET", datasets, { headers })).status).toBe(401);
    const read = await send(api.url, "GET", datasets, { headers: { ...headers, Cookie: cookie } });
    expect([read.status, read.headers["cross-origin-resource-policy"]]).toEqual([200, "same-origin"]);
    expect(read.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("a response that stays open", () => {
  const streamOf = async (cookie: string, url = api.url) => {
    while ((await numberEvents(api.pool))?.more !== false);
    const reader = await readEvents(`${url}/dashboard/api/v1/events/stream`, "", { Cookie: cookie });
    readers.push(reader);
    expect(reader.status).toBe(200);
    return reader;
  };
  const emit = async (client: Client) => {
    await execute(
      api.db,
      sql.fragment`select emit_event(${client.tenantId}::uuid, 'model.created', '{}'::jsonb)`,
    );
    while ((await numberEvents(api.pool))?.more !== false);
  };

  it("receives events, and ends when its session does, but not with another session of the key", async () => {
    const client = await api.tenant();
    const [one, two] = [await signedIn(api.url, client.key), await signedIn(api.url, client.key)];
    const [first, second] = [await streamOf(one.cookie), await streamOf(two.cookie)];
    await emit(client);
    for (const reader of [first, second]) await reader.until("model.created");
    await one.send("DELETE", session);
    expect(await first.ended).toBe("closed");
    const before = second.text().length;
    await poll("signs of life", () => second.text().slice(before).split(": still here").length > 2);
    await change(two.cookie, minutes(31));
    expect(await second.ended).toBe("closed");
  });

  it("ends at the moment of signing out, because a notification wakes it", async () => {
    const client = await api.tenant();
    const browser = await signedIn(api.url, client.key);
    const own = await serveApi({ ...testDeps(api.pool, api.storage), timing: { beatMs: 600_000 } });
    try {
      const reader = await streamOf(browser.cookie, own.url);
      // The listener is connected when the event arrives.
      await poll("the listener", async () => {
        await emit(client);
        return reader.events.length > 1;
      });
      await browser.send("DELETE", session);
      expect(await reader.ended).toBe("closed");
    } finally {
      await own.stop();
    }
  });

  it("ends when its key is revoked", async () => {
    const client = await api.tenant();
    const { id, key } = (await client.post("/api/v1/auth/api-keys", { name: "x" })).body;
    const reader = await streamOf((await signedIn(api.url, key)).cookie);
    await client.delete(`/api/v1/auth/api-keys/${id}`);
    expect(await reader.ended).toBe("closed");
  });

  it("does not prolong the session by itself", async () => {
    const { cookie } = await signedIn(api.url, (await api.tenant()).key);
    await change(cookie, minutes(20));
    (await streamOf(cookie)).close();
    expect(await idleMinutes(cookie)).toBe(20);
  });

  it("as a long poll is answered with 401 when its session ends", async () => {
    const client = await api.tenant();
    const browser = await signedIn(api.url, client.key);
    const path = `/dashboard/api/v1/training-jobs/${await insertTrainingJob(api.db, client.tenantId)}`;
    const known = (await browser.send("GET", path)).headers.etag ?? "";
    const poller = browser.send("GET", `${path}?wait=30`, undefined, { "If-None-Match": known });
    await poll("the request to wait", async () =>
      /plosive_waiting_requests\{what="wait"\} 1/.test(await api.registry.metrics()),
    );
    await browser.send("DELETE", session);
    const answer = await poller;
    expect([answer.status, answer.body.code]).toEqual([401, "session_ended"]);
  });
});
