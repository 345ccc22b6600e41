// Signing in to the dashboard: with an API key, with a link of plosive-admin, and over which connections.
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import { digestOf, makeToken } from "../../src/api/dashboard/token.ts";
import { adminOf } from "../support/admin.ts";
import { execute, serveApi, testDeps, testSettings, useApi } from "../support/api.ts";
import { browserWith, cookieOf, sameOrigin, send, signedIn, signInWith } from "../support/dashboard.ts";

const api = useApi();
const { admin } = adminOf(api);
const session = "/dashboard/session";
const datasets = "/dashboard/api/v1/datasets";
const keys = "/dashboard/api/v1/auth/api-keys";
const secureName = "__Host-plosive_session";
const plainHost = { Host: "plosive.example.com" };

const entry = z.object({
  action: z.string(),
  key_prefix: z.string(),
  ip: z.string().nullable(),
  by_itself: z.boolean().nullable(),
});
const audited = (tenantId: string) =>
  api.db.any(sql.type(entry)`
    select action, key_prefix, host(ip) as ip, actor_key_id = api_key_id as by_itself
    from audit_log where tenant_id = ${tenantId} and action like 's%' order by id`);

describe("signing in with an API key", () => {
  it("answers who is signed in, and sets a cookie that scripts cannot read", async () => {
    const client = await api.tenant();
    const answer = await signInWith(api.url, { api_key: client.key });
    expect(answer.status).toBe(201);
    const [own] = (await client.get("/api/v1/auth/api-keys")).body;
    expect(answer.body).toEqual({
      tenant_id: client.tenantId,
      tenant_name: "test",
      key_id: own.id,
      key_prefix: client.key.slice(0, 8),
      key_name: "test",
      ...{ user_name: null, role: null, accounts: [] },
      scopes: [],
      key_expires_at: null,
      expires_at: expect.stringMatching(/Z$/),
    });
    const lifetime = Date.parse(answer.body.expires_at) - Date.now();
    expect(Math.round(lifetime / 60_000)).toBe(8 * 60);
    expect(answer.headers["set-cookie"]).toEqual([
      expect.stringMatching(/^__Host-plosive_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
    ]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const shown = await browserWith(api.url, cookieOf(answer)).send("GET", session);
    expect([shown.status, shown.body]).toEqual([200, answer.body]);
  });

  it("stores no token, and is recorded in the audit log", async () => {
    const client = await api.tenant();
    const { cookie } = await signedIn(api.url, client.key);
    const rows = await api.db.anyFirst(sql.type(z.object({ row: z.string() }))`
      select s::text as row from dashboard_sessions s where tenant_id = ${client.tenantId}`);
    const token = cookie.split("=")[1]!;
    expect(rows).toEqual([expect.stringContaining(digestOf(token).toString("hex"))]);
    const stored = [Buffer.from(token), Buffer.from(token, "base64url")].map((bytes) =>
      bytes.toString("hex"),
    );
    for (const secret of [token, ...stored]) expect(rows[0]).not.toContain(secret);
    const key_prefix = client.key.slice(0, 8);
    expect(await audited(client.tenantId)).toEqual([
      { action: "session.started", key_prefix, ip: "127.0.0.1", by_itself: true },
    ]);
  });

  it("that is wrong, revoked or expired is refused as in the REST API, without a cookie", async () => {
    const client = await api.tenant();
    const made = async () => (await client.post("/api/v1/auth/api-keys", { name: "x" })).body;
    const [revoked, expired] = [await made(), await made()];
    await client.delete(`/api/v1/auth/api-keys/${revoked.id}`);
    await execute(api.db, sql.fragment`update api_keys set expires_at = now() where id = ${expired.id}`);
    for (const key of [
      "",
      "x",
      `${client.key} `,
      "x".repeat(300),
      makeApiKey(randomBytes),
      revoked.key,
      expired.key,
    ]) {
      const answer = await signInWith(api.url, { api_key: key });
      const code = key === expired.key ? "api_key_expired" : "invalid_api_key";
      expect([answer.status, answer.body.code, answer.headers["set-cookie"]]).toEqual([401, code, undefined]);
    }
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${client.tenantId}`,
    );
    expect((await signInWith(api.url, { api_key: client.key })).body.code).toBe("tenant_suspended");
  });

  it("works with any scope, which then restricts the session", async () => {
    const client = await api.tenant();
    for (const [scope, read, admin] of [
      ["read", 200, 403],
      ["write", 403, 403],
      ["admin", 403, 200],
    ] as const) {
      const { key } = (await client.post("/api/v1/auth/api-keys", { name: "x", scopes: [scope] })).body;
      const browser = await signedIn(api.url, key);
      expect((await browser.send("GET", session)).body.scopes).toEqual([scope]);
      expect((await browser.send("GET", datasets)).status).toBe(read);
      expect((await browser.send("GET", keys)).status).toBe(admin);
    }
  });

  it("ends the session that the browser had", async () => {
    const client = await api.tenant();
    const first = await signedIn(api.url, client.key);
    const again = await first.send("POST", session, { api_key: (await api.tenant()).key });
    expect(again.status).toBe(201);
    expect(cookieOf(again)).not.toBe(first.cookie);
    expect((await first.send("GET", session)).status).toBe(401);
    const key_prefix = client.key.slice(0, 8);
    expect(await audited(client.tenantId)).toEqual(
      ["session.started", "session.ended"].map((action) => {
        return { action, key_prefix, ip: "127.0.0.1", by_itself: true };
      }),
    );
  });

  it.each([
    [{}, 422],
    [[], 422],
    [undefined, 422],
    [{ api_key: 1 }, 422],
    [{ api_key: "a", sign_in_token: "b" }, 422],
    ["{", 400],
    [`"${"x".repeat(5_000)}"`, 413],
  ])("with the body %j gets %i", async (body, status) => {
    expect((await signInWith(api.url, body)).status).toBe(status);
  });

  it("takes JSON only, with the methods that the path has", async () => {
    const { key } = await api.tenant();
    const form = await signInWith(api.url, `api_key=${key}`, {
      "Content-Type": "application/x-www-form-urlencoded",
    });
    expect(form.status).toBe(415);
    const put = await send(api.url, "PUT", session, { headers: sameOrigin });
    expect([put.status, put.headers.allow]).toEqual([405, "DELETE, GET, OPTIONS, POST"]);
    const options = await send(api.url, "OPTIONS", session);
    expect([options.status, options.headers.allow]).toEqual([204, "DELETE, GET, OPTIONS, POST"]);
  });
});

describe("the connection", () => {
  const at = async (url: string, headers: Record<string, string>) =>
    await signInWith(url, { api_key: (await api.tenant()).key }, headers);
  const served = async (
    settings: Parameters<typeof testSettings>[0],
    work: (url: string) => Promise<void>,
  ) => {
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config: testSettings(settings) });
    try {
      await work(own.url);
    } finally {
      await own.stop();
    }
  };

  it.each(["localhost:8080", "app.localhost", "127.0.0.1", "[::1]:8080"])(
    "to the loopback host %s may be plain",
    async (host) => {
      const answer = await at(api.url, { Host: host });
      expect(cookieOf(answer)).toContain(`${secureName}=`);
    },
  );

  it.each(["plosive.example.com", "localhost.example.com", "127.0.0.1.example.com", "10.0.0.1:80", "[::2]"])(
    "to %s must be encrypted, and the refusal says what to do",
    async (host) => {
      const answer = await at(api.url, { Host: host, "X-Forwarded-Proto": "https" });
      expect([answer.status, answer.body.code, answer.headers["set-cookie"]]).toEqual([
        403,
        "insecure_connection",
        undefined,
      ]);
      expect(answer.body.detail).toContain("PLOSIVE_TRUSTED_PROXIES");
    },
  );

  it("is encrypted if the trusted proxies say so, and a client cannot", async () => {
    await served({ PLOSIVE_TRUSTED_PROXIES: 2 }, async (url) => {
      for (const [protocol, status] of [
        ["https", 201],
        ["http, https, http", 201],
        ["https, http, https", 403],
        ["http", 403],
        ["", 403],
      ] as const) {
        const answer = await at(url, { ...plainHost, "X-Forwarded-Proto": protocol });
        expect([protocol, answer.status]).toEqual([protocol, status]);
        if (status === 201) expect(answer.headers["set-cookie"]?.[0]).toMatch(/^__Host-.*; Secure$/);
      }
    });
  });

  it("may be plain by a setting, with another cookie that counts on such connections alone", async () => {
    await served({ PLOSIVE_DASHBOARD_INSECURE: true }, async (url) => {
      const answer = await at(url, plainHost);
      expect(answer.headers["set-cookie"]).toEqual([
        expect.stringMatching(/^plosive_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
      ]);
      const plain = browserWith(url, cookieOf(answer));
      expect((await plain.send("GET", session, undefined, plainHost)).status).toBe(200);
      expect((await plain.send("GET", session)).status).toBe(401);
      const renamed = browserWith(url, plain.cookie.replace("plosive_session", secureName));
      expect((await renamed.send("GET", session, undefined, plainHost)).status).toBe(401);
      expect((await renamed.send("GET", session)).status).toBe(200);
      // Without the setting, this connection has no session.
      expect(
        (await browserWith(api.url, plain.cookie).send("GET", session, undefined, plainHost)).status,
      ).toBe(401);
    });
  });
});

describe("a failed sign-in", () => {
  it("and a made-up session count in the failed-authentication limiter, which spares sessions that worked", async () => {
    const deps = testDeps(api.pool, api.storage);
    deps.log.level = "silent";
    const config = testSettings({ PLOSIVE_FAILED_KEYS_PER_SECOND: 1, PLOSIVE_FAILED_KEYS_BURST: 3 });
    const own = await serveApi({ ...deps, config, clock: { now: () => 1_000_000 } });
    try {
      const client = await api.tenant();
      const browser = await signedIn(own.url, client.key);
      expect((await browser.send("GET", datasets)).status).toBe(200);
      const attempts = [
        () => signInWith(own.url, { api_key: makeApiKey(randomBytes) }),
        () => signInWith(own.url, { sign_in_token: makeToken(randomBytes) }),
        () => browserWith(own.url, `${secureName}=${makeToken(randomBytes)}`).send("GET", datasets),
        () => browserWith(own.url, `${secureName}=${makeToken(randomBytes)}`).send("DELETE", session),
        () => signInWith(own.url, { api_key: makeApiKey(randomBytes) }),
      ];
      const statuses = [];
      for (const attempt of attempts) statuses.push((await attempt()).status);
      expect(statuses).toEqual([401, 401, 401, 429, 429]);
      expect((await browser.send("GET", datasets)).status).toBe(200);
      const text = await deps.registry.metrics();
      expect(text).toContain('plosive_refused_keys_total{reason="unknown"} 1');
      expect(text).toContain('plosive_refused_keys_total{reason="token"} 2');
      expect(text).toContain('plosive_refused_keys_total{reason="too_many"} 2');
    } finally {
      await own.stop();
    }
  });
});

describe("a sign-in link", () => {
  const linkFor = async (...args: string[]) => {
    const made = await admin("sign-in-link", ...args);
    expect(made.code).toBe(0);
    return /^\/dashboard\/sign-in#token=([\w-]{43})\n$/.exec(made.out)?.[1] ?? "";
  };
  const opened = async (token: string) => await signInWith(api.url, { sign_in_token: token });

  it("signs in once with the given key, and both are recorded in the audit log", async () => {
    const client = await api.tenant();
    const [own] = (await client.get("/api/v1/auth/api-keys")).body;
    const token = await linkFor("--tenant", client.tenantId, "--key", own.id);
    const first = await opened(token);
    expect([first.status, first.body]).toMatchObject([201, { key_id: own.id, tenant_id: client.tenantId }]);
    const browser = browserWith(api.url, cookieOf(first));
    expect(browser.cookie).not.toContain(token);
    expect((await browser.send("GET", datasets)).status).toBe(200);
    const second = await opened(token);
    expect([second.status, second.body.code, second.headers["set-cookie"]]).toEqual([
      401,
      "sign_in_link_used",
      undefined,
    ]);
    const key_prefix = client.key.slice(0, 8);
    expect(await audited(client.tenantId)).toEqual([
      { action: "sign_in_link.created", key_prefix, ip: null, by_itself: null },
      { action: "session.started", key_prefix, ip: "127.0.0.1", by_itself: true },
    ]);
  });

  it("has a key of its own by default, which ends soon after the session", async () => {
    const { tenantId } = await api.tenant();
    const answer = await opened(await linkFor("--tenant", tenantId));
    expect(answer.body).toMatchObject({ key_name: "sign-in link", scopes: [] });
    const rest = Date.parse(answer.body.key_expires_at) - Date.parse(answer.body.expires_at);
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(3_600_000);
  });

  it("signs in only one of many that open it at once", async () => {
    const token = await linkFor("--tenant", (await api.tenant()).tenantId);
    const answers = await Promise.all(Array.from({ length: 10 }, () => opened(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)]);
  });

  it("does not work after 10 minutes, nor with a revoked key, nor as a session or a key", async () => {
    const client = await api.tenant();
    const [late, revoked] = [
      await linkFor("--tenant", client.tenantId),
      await linkFor("--tenant", client.tenantId),
    ];
    const lifetime = await api.db.oneFirst(sql.type(z.object({ minutes: z.number() }))`
      select extract(epoch from expires_at - created_at)::int / 60 as minutes from dashboard_sessions
      where digest = ${sql.binary(digestOf(late))}`);
    expect(lifetime).toBe(10);
    const asCookie = browserWith(api.url, `${secureName}=${late}`);
    expect((await asCookie.send("GET", datasets)).status).toBe(401);
    expect((await asCookie.send("DELETE", session)).status).toBe(204);
    expect((await signInWith(api.url, { api_key: late })).status).toBe(401);
    await execute(
      api.db,
      sql.fragment`update dashboard_sessions set expires_at = now() where digest = ${sql.binary(digestOf(late))}`,
    );
    expect((await opened(late)).body.code).toBe("sign_in_link_used");
    await execute(
      api.db,
      sql.fragment`update api_keys set revoked_at = now() where tenant_id = ${client.tenantId}`,
    );
    expect((await opened(revoked)).body.code).toBe("invalid_api_key");
    const { cookie } = await signedIn(api.url, (await api.tenant()).key);
    for (const token of ["", "x", makeToken(randomBytes), cookie.split("=")[1] ?? ""])
      expect((await opened(token)).body.code).toBe("sign_in_link_used");
  });

  it("is created only for a key of the tenant that is not revoked", async () => {
    const [client, other] = [await api.tenant(), await api.tenant()];
    const [theirs] = (await other.get("/api/v1/auth/api-keys")).body;
    for (const key of [theirs.id, randomUUID()]) {
      const refused = await admin("sign-in-link", "--tenant", client.tenantId, "--key", key);
      expect([refused.code, refused.out]).toEqual([1, ""]);
      expect(refused.err).toMatch(/no key .*keys list --tenant/);
    }
    for (const [args, words] of [
      [[], /--tenant TENANT_ID is missing/],
      [["--tenant", client.tenantId, "--key", "x"], /KEY_ID must be a UUID/],
      [["x", "--tenant", client.tenantId], /no command "sign-in-link x"/],
    ] as const) {
      const refused = await admin("sign-in-link", ...args);
      expect([refused.code, refused.out]).toEqual([2, ""]);
      expect(refused.err).toMatch(words);
    }
  });
});
