// Signing in to the dashboard through an OpenID provider: what comes back is accepted only as the provider sent it, once, to
// the browser that asked.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import pino from "pino";
import { sql } from "slonik";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { digestOf } from "../../src/api/dashboard/token.ts";
import { type Client, execute, serveApi, testDeps } from "../support/api.ts";
import { browserWith, cookieOf, send, signedIn } from "../support/dashboard.ts";
import { clientSecret } from "../support/oidc-provider.ts";
import { type Begun, publicUrl, refusalIn, sessionOf, useOidc } from "../support/oidc-sign-in.ts";

const oidc = useOidc();
const { api, provider, roles } = oidc;
const session = "/dashboard/session";
const ada = { sub: "ada-1", name: "Ada", groups: ["labellers", "everybody"] };
let client: Client;

beforeEach(async () => {
  client = await api.tenant();
  roles.splice(0, roles.length, { value: "labellers", tenant: client.tenantId, role: "labeller" });
  provider.user = ada;
  provider.claims = (claims) => claims;
  provider.key = provider.ownKey;
  provider.status = undefined;
});

/** A stream whose lines a test can read. */
const into = (lines: string[]) =>
  new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });

const entry = z.object({ action: z.string(), user: z.unknown(), ip: z.string().nullable() });
const audited = (tenantId: string) =>
  api.db.any(sql.type(entry)`
    select action, dashboard_user as "user", host(ip) as ip from audit_log
    where tenant_id = ${tenantId} order by id`);

describe("signing in through the provider", () => {
  it("asks it with a code challenge, state and nonce, for the exact address of the callback", async () => {
    const answer = await oidc.start();
    const url = new URL(answer.headers.location ?? "");
    expect([answer.status, url.origin]).toEqual([303, provider.issuer]);
    const value = expect.stringMatching(/^[\w-]{43}$/);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "public",
      redirect_uri: `${publicUrl}/dashboard/oidc/callback`,
      response_type: "code",
      scope: "openid profile email groups",
      code_challenge_method: "S256",
      ...{ state: value, nonce: value, code_challenge: value },
    });
    expect(answer.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^__Host-plosive_sign_in=[\w-]{43}\.\.; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
      ),
    ]);
    const [token = ""] = cookieOf(answer).split("=")[1]?.split(".") ?? [];
    expect(url.href).not.toContain(token);
  });

  it("starts a session of the user with its role, which only the browser can use", async () => {
    const answer = await oidc.finish(await oidc.begin());
    expect([answer.status, answer.headers.location]).toEqual([303, "../"]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers["set-cookie"]).toEqual([
      "__Host-plosive_sign_in=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0",
      expect.stringMatching(/^__Host-plosive_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
    ]);
    const shown = await browserWith(api.url, sessionOf(answer)).send("GET", session);
    expect([shown.status, shown.body]).toEqual([
      200,
      {
        tenant_id: client.tenantId,
        tenant_name: "test",
        ...{ key_id: null, key_prefix: null, key_name: null, key_expires_at: null },
        ...{ user_name: "Ada", role: "labeller", accounts: [], scopes: ["read", "label"] },
        expires_at: expect.stringMatching(/Z$/),
      },
    ]);
    const user = { issuer: provider.issuer, subject: "ada-1", name: "Ada" };
    expect(await audited(client.tenantId)).toEqual([{ action: "session.started", user, ip: "127.0.0.1" }]);
  });

  it.each([
    ["", "../"],
    ["datasets?q=a%20b&page=2", "../datasets?q=a%20b&page=2"],
    ["/datasets/x", "../datasets/x"],
    ["https://evil.example/", "../https://evil.example/"],
    ["//evil.example", "../evil.example"],
    ["\\\\evil.example", "../evil.example"],
    ["/\\evil.example", "../evil.example"],
    ["../api/v1/datasets", "../"],
    ["..//evil.example", "../"],
    ["%2e%2e/%2e%2e//evil.example", "../"],
    ["javascript:alert(1)", "../javascript:alert(1)"],
    ["a\r\nSet-Cookie: x=y", "../aSet-Cookie:%20x=y"],
    ["a\t/../../..//evil.example", "../"],
  ])("with the return path %j goes on to %j of the dashboard", async (wanted, location) => {
    const answer = await oidc.finish(await oidc.begin(`?${new URLSearchParams({ return: wanted })}`));
    expect(answer.headers.location).toBe(location);
    const target = new URL(answer.headers.location ?? "", `${publicUrl}/dashboard/oidc/callback`);
    expect(target.href.startsWith(`${publicUrl}/dashboard/`)).toBe(true);
    expect(answer.headers["set-cookie"]).toHaveLength(2);
  });

  it("ignores a return path that is long, and does not trust the one in the cookie either", async () => {
    const long = await oidc.finish(await oidc.begin(`?return=${"x".repeat(1_001)}`));
    expect(long.headers.location).toBe("../");
    const begun = await oidc.begin("?return=datasets");
    const [token, tenant] = begun.cookie.split(".");
    const page = Buffer.from("/../..//evil.example").toString("base64url");
    const answer = await oidc.finish({ ...begun, cookie: [token, tenant, page].join(".") });
    expect(answer.headers.location).toBe("../");
  });

  it("ends the session that the browser had", async () => {
    const old = await signedIn(api.url, (await api.tenant()).key);
    const begun = await oidc.begin();
    await oidc.finish({ ...begun, cookie: `${begun.cookie}; ${old.cookie}` });
    expect((await old.send("GET", session)).status).toBe(401);
  });

  it("takes claims from the userinfo endpoint, and the address of a user only if it is verified", async () => {
    for (const [verified, code] of [
      [true, null],
      [false, "no_role"],
      [undefined, "no_role"],
      ["true", "no_role"],
    ] as const) {
      provider.user = { sub: "mail", email: "ada@example.com", email_verified: verified };
      roles.splice(0, 9, { value: "ada@example.com", tenant: client.tenantId, role: "owner" });
      const own = await serveApi({
        ...testDeps(api.pool, api.storage),
        config: { ...oidc.settings(), PLOSIVE_OIDC_CLAIM: "email" },
      });
      const answer = await oidc.finish(await oidc.begin("", own.url), own.url);
      expect([verified, refusalIn(answer)]).toEqual([verified, code]);
      await own.stop();
    }
  });

  it("shows and stores no control characters of a name, and no claims that are no texts", async () => {
    provider.claims = (claims) => ({
      ...claims,
      name: " \u0000A\u001b[1mB\u202e ",
      groups: [1, null, {}, "labellers"],
    });
    const browser = browserWith(api.url, sessionOf(await oidc.finish(await oidc.begin())));
    expect((await browser.send("GET", session)).body.user_name).toBe("A [1mB");
  });
});

describe("a sign-in is refused", () => {
  const outcome = async (change: (begun: Begun) => Begun | Promise<Begun> = (begun) => begun) =>
    refusalIn(await oidc.finish(await change(await oidc.begin())));
  const withParameter = (begun: Begun, name: string, value: string | null) => {
    const callback = new URL(begun.callback);
    if (value === null) callback.searchParams.delete(name);
    else callback.searchParams.set(name, value);
    return { ...begun, callback };
  };
  const seconds = () => Math.floor(Date.now() / 1000);

  it.each([
    ["another state", (begun: Begun) => withParameter(begun, "state", "x".repeat(43))],
    ["no state", (begun: Begun) => withParameter(begun, "state", null)],
    ["another code", (begun: Begun) => withParameter(begun, "code", "made-up")],
    ["no code", (begun: Begun) => withParameter(begun, "code", null)],
    ["another issuer", (begun: Begun) => withParameter(begun, "iss", "https://evil.example")],
    ["no cookie", (begun: Begun) => ({ ...begun, cookie: "" })],
    ["a cookie that is no token", (begun: Begun) => ({ ...begun, cookie: begun.cookie.replace("=", "=x") })],
    ["two cookies", (begun: Begun) => ({ ...begun, cookie: `${begun.cookie}; ${begun.cookie}` })],
    [
      "the cookie of another sign-in",
      async (begun: Begun) => ({ ...begun, cookie: (await oidc.begin()).cookie }),
    ],
  ])("with %s", async (_, change) => {
    expect(await outcome(change)).toBe("sign_in_failed");
    expect(await audited(client.tenantId)).toEqual([]);
  });

  it("with a code that was used before", async () => {
    const begun = await oidc.begin();
    sessionOf(await oidc.finish(begun));
    expect(refusalIn(await oidc.finish(begun))).toBe("sign_in_failed");
  });

  it.each<[string, typeof provider.claims]>([
    ["the nonce of another sign-in", (claims) => ({ ...claims, nonce: "x".repeat(43) })],
    ["no nonce", ({ nonce: _, ...claims }) => claims],
    ["another audience", (claims) => ({ ...claims, aud: "another" })],
    ["a second audience and another party", (claims) => ({ ...claims, aud: ["public", "x"], azp: "x" })],
    ["another issuer", (claims) => ({ ...claims, iss: "https://evil.example" })],
    ["an end in the past", (claims) => ({ ...claims, exp: seconds() - 120, iat: seconds() - 240 })],
    ["no end", ({ exp: _, ...claims }) => claims],
    ["no subject", ({ sub: _, ...claims }) => claims],
    ["a subject that is too long", (claims) => ({ ...claims, sub: "x".repeat(256) })],
    [
      "a subject that Postgres cannot store",
      (claims) => ({ ...claims, sub: "a\u0000", groups: ["labellers"], name: "A" }),
    ],
    ["no signature", (claims, header) => Object.assign(header, { alg: "none" }) && claims],
    ["an algorithm for secrets", (claims, header) => Object.assign(header, { alg: "HS256" }) && claims],
    [
      "a key that the provider does not publish",
      (claims, header) => Object.assign(header, { kid: "x" }) && claims,
    ],
    ["no id token at all", () => undefined],
  ])("with an id token that has %s", async (_, claims) => {
    provider.claims = claims;
    expect(await outcome()).toBe("sign_in_failed");
    expect(await audited(client.tenantId)).toEqual([]);
  });

  it("with an id token that somebody else has signed", async () => {
    provider.key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    expect(await outcome()).toBe("sign_in_failed");
  });

  it("when the user has no role, and the log names the user and its groups", async () => {
    const lines: string[] = [];
    const log = pino({ level: "warn" }, into(lines));
    const own = await serveApi({ ...testDeps(api.pool, api.storage), log, config: oidc.settings() });
    provider.user = { ...ada, groups: ["painters"] };
    const answer = await oidc.finish(await oidc.begin("", own.url), own.url);
    await own.stop();
    expect(refusalIn(answer)).toBe("no_role");
    const requestId = new URLSearchParams(answer.headers.location?.split("#")[1]).get("request");
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ subject: "ada-1", values: ["painters"], requestId }),
    );
  });

  it("when the provider says no, or the account is suspended or unknown", async () => {
    provider.user = null;
    expect(await outcome()).toBe("sign_in_refused");
    provider.user = ada;
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${client.tenantId}`,
    );
    expect(await outcome()).toBe("account_unavailable");
    roles.splice(0, 9, { value: "labellers", tenant: crypto.randomUUID(), role: "owner" });
    expect(await outcome()).toBe("account_unavailable");
  });

  it("over a connection without https", async () => {
    const headers = { Host: "plosive.example.com" };
    expect(refusalIn(await oidc.start("", headers))).toBe("insecure_connection");
  });

  it("without a request to the provider after too many failures of an address", async () => {
    const config = { ...oidc.settings(), PLOSIVE_FAILED_KEYS_PER_SECOND: 1, PLOSIVE_FAILED_KEYS_BURST: 2 };
    const deps = { ...testDeps(api.pool, api.storage), config, clock: { now: () => 1_000_000 } };
    const own = await serveApi(deps);
    const begun = await oidc.begin("", own.url);
    const before = provider.exchanges;
    const codes = [];
    for (const code of ["a", "b", "c"])
      codes.push(refusalIn(await oidc.finish(withParameter(begun, "code", code), own.url)));
    await own.stop();
    expect(codes).toEqual(["sign_in_failed", "sign_in_failed", "rate_limited"]);
    expect(provider.exchanges - before).toBe(2);
  });
});

describe("while the provider", () => {
  const served = async (work: (url: string) => Promise<void>) => {
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config: oidc.settings() });
    await work(own.url).finally(() => own.stop());
  };
  const startAt = (url: string) => send(url, "GET", "/dashboard/oidc/start");

  it("does not respond, the page learns it and keys work; then it is asked again", async () => {
    await served(async (url) => {
      await provider.stop();
      expect(refusalIn(await startAt(url))).toBe("provider_unavailable");
      expect((await (await signedIn(url, client.key)).send("GET", session)).status).toBe(200);
      expect((await send(url, "GET", "/dashboard/oidc/end")).headers.location).toBe("../");
      await provider.resume();
      sessionOf(await oidc.finish(await oidc.begin("", url), url));
    });
  });

  it("responds, its metadata are asked for once in ten minutes", async () => {
    let now = 1_000_000;
    const config = oidc.settings();
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config, clock: { now: () => now } });
    const before = provider.discoveries;
    const asked = async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => startAt(own.url)));
      expect(answers.map(refusalIn)).toEqual([null, null, null, null, null]);
      return provider.discoveries - before;
    };
    expect([await asked(), await asked()]).toEqual([1, 1]);
    now += 600_000;
    expect(await asked()).toBe(2);
    await own.stop();
  });

  it("fails between both steps, no failure of the address is counted", async () => {
    await served(async (url) => {
      for (const status of [500, 503, 429]) {
        const begun = await oidc.begin("", url);
        provider.status = status;
        expect([status, refusalIn(await oidc.finish(begun, url))]).toEqual([status, "provider_unavailable"]);
        provider.status = undefined;
      }
    });
    await served(async (url) => {
      provider.status = 500;
      expect(refusalIn(await startAt(url))).toBe("provider_unavailable");
      provider.status = undefined;
      expect((await startAt(url)).headers.location).toContain(provider.issuer);
    });
  });
});

describe("a client with a secret", () => {
  it("reads the secret for each sign-in, and neither stores nor logs it or a token", async () => {
    const folder = mkdtempSync(join(tmpdir(), "plosive-oidc-"));
    const file = join(folder, "client-secret");
    const lines: string[] = [];
    const log = pino({ level: "trace" }, into(lines));
    const config = {
      ...oidc.settings(),
      PLOSIVE_OIDC_CLIENT_ID: "plosive",
      PLOSIVE_OIDC_CLIENT_SECRET_FILE: file,
    };
    const own = await serveApi({ ...testDeps(api.pool, api.storage), log, config });
    const attempt = async () => oidc.finish(await oidc.begin("", own.url), own.url);
    let token = "";
    provider.claims = (claims) => {
      token = JSON.stringify(claims);
      return claims;
    };
    try {
      writeFileSync(file, "old");
      expect(refusalIn(await attempt())).toBe("sign_in_failed");
      writeFileSync(file, `${clientSecret}\n`);
      const cookie = sessionOf(await attempt());
      rmSync(file);
      expect(refusalIn(await attempt())).toBe("sign_in_failed");
      const [row] = await api.db.anyFirst(sql.type(z.object({ row: z.string() }))`
        select s::text as row from dashboard_sessions s where digest = ${sql.binary(digestOf(cookie.split("=")[1] ?? ""))}`);
      const nonce = JSON.parse(token).nonce;
      for (const secret of [clientSecret, "eyJ", nonce, cookie.split("=")[1] ?? ""])
        expect(lines.join("") + row).not.toContain(secret);
      expect(lines.length).toBeGreaterThan(2);
    } finally {
      await own.stop();
      rmSync(folder, { recursive: true });
    }
  });
});

describe("signing out", () => {
  it("goes on to the provider, which sends the browser back to the dashboard", async () => {
    const answer = await send(api.url, "GET", "/dashboard/oidc/end");
    const url = new URL(answer.headers.location ?? "");
    expect([answer.status, url.origin + url.pathname]).toEqual([303, `${provider.issuer}/session/end`]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "public",
      post_logout_redirect_uri: `${publicUrl}/dashboard/`,
    });
  });
});
