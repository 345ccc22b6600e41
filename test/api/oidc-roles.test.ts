// Sessions of users: what each role may do, in which account, and how the sessions end.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { isLabelling, scopeOf } from "../../src/api/authenticate.ts";
import { accountsOf } from "../../src/api/dashboard/oidc.ts";
import { digestOf } from "../../src/api/dashboard/token.ts";
import { makeOpenApi } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes/index.ts";
import { purgeSessions } from "../../src/db/dashboard-session.ts";
import { type Role, roles } from "../../src/schemas/role.ts";
import { adminOf } from "../support/admin.ts";
import { type Client, execute, serveApi, testDeps } from "../support/api.ts";
import { type Browser, browserWith, send } from "../support/dashboard.ts";
import { type EventReader, readEvents } from "../support/events.ts";
import { makeFullWorld } from "../support/isolation.ts";
import { operationsOf, waysOf } from "../support/matrix.ts";
import { refusalIn, sessionOf, useOidc } from "../support/oidc-sign-in.ts";

const oidc = useOidc();
const { api, provider } = oidc;
const { admin } = adminOf(api);
const session = "/dashboard/session";
const datasets = "/dashboard/api/v1/datasets";
const keys = "/dashboard/api/v1/auth/api-keys";

const readers: EventReader[] = [];
afterAll(() => {
  for (const reader of readers) reader.close();
});

const digestIn = (cookie: string) => sql.binary(digestOf(cookie.split("=")[1] ?? ""));
const change = ({ cookie }: Browser, set: ReturnType<typeof sql.fragment>) =>
  execute(api.db, sql.fragment`update dashboard_sessions set ${set} where digest = ${digestIn(cookie)}`);
const statusOf = async (browser: Browser, path = datasets) => (await browser.send("GET", path)).status;

describe("a user with the role", () => {
  let client: Client;
  beforeAll(async () => {
    client = await api.tenant();
  });

  /** What the roles may do, besides what the ones before them may do. */
  const allowed: Record<Role, (route: (typeof routes)[number]) => boolean> = {
    viewer: (route) => scopeOf(route) === "read",
    labeller: (route) => scopeOf(route) === "read" || isLabelling(route),
    owner: () => true,
  };

  it.each(roles)("%s may send exactly the requests that the role allows", async (role) => {
    const browser = await oidc.signedIn(client, role);
    const wrong: string[] = [];
    const sent = routes.filter(({ auth, resumable }) => auth !== false && !resumable);
    expect(sent.length).toBeGreaterThan(80);
    for (const route of sent) {
      const path = route.path.replace(/\{\w+\}/g, () => randomUUID());
      const { status, body } = await browser.send(route.method, `/dashboard${path}`);
      const isRefused = status === 403 && body.code === "insufficient_role";
      if (isRefused === allowed[role](route)) wrong.push(`${route.operationId}: ${status}`);
    }
    expect(wrong).toEqual([]);
  });

  it("labeller may change these and nothing else", () => {
    const writes = routes.filter((route) => scopeOf(route) === "write" && isLabelling(route));
    expect(writes.map(({ operationId }) => operationId).toSorted()).toEqual(
      [
        ...["createAnnotationSet", "createAnnotationSetFromDetections"],
        ...["createAnnotation", "updateAnnotation", "deleteAnnotation"],
        ...["createAnnotations", "updateAnnotations", "deleteAnnotations"],
        ...["markReviewedFile", "unmarkReviewedFile"],
        ...["importAnnotationTool", "importCsv", "importAudacity"],
      ].toSorted(),
    );
  });

  it("viewer learns which role a request needs, before its body is read", async () => {
    const browser = await oidc.signedIn(client, "viewer");
    const refused = await browser.send("POST", datasets, "no JSON");
    expect([refused.status, refused.body]).toEqual([
      403,
      { detail: "The request needs the role owner; you have the role viewer", code: "insufficient_role" },
    ]);
    const draft = await browser.send("POST", `${datasets}/${randomUUID()}/annotation-sets`);
    expect(draft.body.detail).toBe("The request needs the role labeller or owner; you have the role viewer");
  });

  it("owner creates and rotates every key, and the audit log names the user", async () => {
    const own = await api.tenant();
    const browser = await oidc.signedIn(own, "owner");
    const made = await browser.send("POST", keys, { name: "all", scopes: [] });
    expect([made.status, made.body.scopes]).toEqual([201, []]);
    expect((await browser.send("POST", `${keys}/${made.body.id}/rotate`)).status).toBe(201);
    const entry = z.object({ action: z.string(), actor_key_id: z.null(), name: z.string() });
    const audited = await api.db.any(sql.type(entry)`
      select action, actor_key_id, dashboard_user ->> 'subject' as name from audit_log
      where tenant_id = ${own.tenantId} order by id`);
    expect(audited).toEqual(
      ["session.started", "api_key.created", "api_key.created", "api_key.rotated"].map((action) => {
        return { action, actor_key_id: null, name: browser.subject };
      }),
    );
  });

  it("counts against the rate limits of its account", async () => {
    const browser = await oidc.signedIn(client, "viewer");
    const config = { ...oidc.settings(), PLOSIVE_RATE_PER_MINUTE: 0.6, PLOSIVE_RATE_BURST: 2 };
    const own = await serveApi({ ...testDeps(api.pool, api.storage), config });
    const there = browserWith(own.url, browser.cookie);
    expect([await statusOf(there), await statusOf(there), await statusOf(there)]).toEqual([200, 200, 429]);
    await own.stop();
  });

  it.each(roles)(
    "%s finds nothing of another tenant, with the same answer as for a random id",
    async (role) => {
      const [a, b] = [await api.tenant(), await api.tenant()];
      const [own, others] = [await makeFullWorld(a, api.db), await makeFullWorld(b, api.db)];
      const browser = await oidc.signedIn(a, role);
      const random = Object.fromEntries(Object.keys(others).map((name) => [name, randomUUID()]));
      let compared = 0;
      for (const operation of operationsOf(makeOpenApi(routes))) {
        if (!["GET", "DELETE"].includes(operation.method)) continue;
        for (const way of waysOf(operation, () => undefined).filter(({ part }) => part === "path")) {
          const ask = (ids: typeof others) =>
            browser.send(operation.method, `/dashboard${way.request(own, ids).path}`);
          const [foreign, unknown] = [await ask(others), await ask(random)];
          if (unknown.status === 422) continue;
          expect([way.name, foreign.status, foreign.text]).toEqual([way.name, unknown.status, unknown.text]);
          expect([way.name, [404, 403].includes(foreign.status)]).toEqual([way.name, true]);
          compared += 1;
        }
      }
      expect(compared).toBeGreaterThan(30);
    },
  );
});

describe("the account of a user", () => {
  const rolesAt = async (query = "") => {
    const answer = await oidc.finish(await oidc.begin(query));
    if (refusalIn(answer) !== null) return refusalIn(answer);
    const { body } = await browserWith(api.url, sessionOf(answer)).send("GET", session);
    return [body.tenant_id, body.role, body.accounts];
  };

  it("is the first of the setting that has a role for the user, with the highest role, unless it asks for another", async () => {
    const [a, b, c] = [await api.tenant(), await api.tenant(), await api.tenant()];
    const [first, second, third] = [a.tenantId, b.tenantId, c.tenantId];
    oidc.roles.push(
      { value: "painters", tenant: third, role: "owner" },
      { value: "labels", tenant: first, role: "viewer" },
      { value: "labels", tenant: second, role: "viewer" },
      { value: "leads", tenant: first, role: "labeller" },
    );
    provider.user = { sub: "two", name: "Two", groups: ["leads", "labels"] };
    const name = "test";
    expect(await rolesAt()).toEqual([first, "labeller", [{ id: second, name }]]);
    expect(await rolesAt(`?tenant=${second}`)).toEqual([second, "viewer", [{ id: first, name }]]);
    for (const other of [third, randomUUID(), "x", "' or true --"])
      expect(await rolesAt(`?${new URLSearchParams({ tenant: other })}`)).toBe("no_role");
    await execute(api.db, sql.fragment`update tenants set suspended_at = now() where id = ${second}`);
    expect(await rolesAt()).toEqual([first, "labeller", []]);
  });

  it("does not depend on parts of values, their case or their order", () => {
    const tenant = "018f2a60-0000-7000-8000-000000000001";
    const given = [{ value: "audio", tenant, role: "owner" as const }];
    for (const values of [[], ["Audio"], ["audio "], ["audio,x"], ["a", "udio"], ["audi"]])
      expect([values, accountsOf(given, values)]).toEqual([values, []]);
    expect(accountsOf(given, ["x", "audio"])).toEqual([{ tenant, role: "owner" }]);
  });
});

describe("the session of a user", () => {
  it("does not end with a key of the account, but with the account's suspension", async () => {
    const client = await api.tenant();
    const browser = await oidc.signedIn(client, "viewer");
    await execute(
      api.db,
      sql.fragment`update api_keys set revoked_at = now() where tenant_id = ${client.tenantId}`,
    );
    expect(await statusOf(browser)).toBe(200);
    await execute(api.db, sql.fragment`delete from api_keys where tenant_id = ${client.tenantId}`);
    expect(await statusOf(browser)).toBe(200);
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${client.tenantId}`,
    );
    const refused = await browser.send("GET", datasets);
    expect([refused.status, refused.body.code]).toEqual([403, "tenant_suspended"]);
    const count = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from audit_log where tenant_id = ${client.tenantId} and action = 'api_key.refused'`);
    expect(count).toBe(0);
  });

  it("ends after 30 minutes without a request and after 8 hours, and is deleted then", async () => {
    const client = await api.tenant();
    const [idle, old, used] = [
      await oidc.signedIn(client, "viewer"),
      await oidc.signedIn(client, "owner"),
      await oidc.signedIn(client, "viewer"),
    ];
    const { body } = await used.send("GET", session);
    expect(Math.round((Date.parse(body.expires_at) - Date.now()) / 60_000)).toBe(8 * 60);
    await change(idle, sql.fragment`last_used_at = now() - interval '31 minutes'`);
    await change(old, sql.fragment`expires_at = now()`);
    await change(used, sql.fragment`last_used_at = now() - interval '29 minutes'`);
    expect([await statusOf(idle), await statusOf(old), await statusOf(used)]).toEqual([401, 401, 200]);
    expect((await old.send("POST", keys, { name: "x" })).body.code).toBe("session_ended");
    expect(await purgeSessions(api.operatorPool)).toBeGreaterThanOrEqual(2);
    expect(await statusOf(used)).toBe(200);
  });

  it("ends by signing out, alone, with its event stream, and the audit log names the user", async () => {
    const client = await api.tenant();
    const [one, two] = [await oidc.signedIn(client, "viewer"), await oidc.signedIn(client, "viewer")];
    const open = async ({ cookie }: Browser) => {
      const reader = await readEvents(`${api.url}/dashboard/api/v1/events/stream`, "", { Cookie: cookie });
      readers.push(reader);
      return reader;
    };
    const [first, second] = [await open(one), await open(two)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await one.send("DELETE", session)).status).toBe(204);
    expect(await first.ended).toBe("closed");
    expect([await statusOf(one), await statusOf(two)]).toEqual([401, 200]);
    const ended = await admin("sessions", "end", "--tenant", client.tenantId, "--subject", two.subject);
    expect([ended.code, ended.err]).toEqual([0, `Sessions ended of the user ${two.subject}: 1\n`]);
    expect(await second.ended).toBe("closed");
    const subjects = await api.db.anyFirst(sql.type(z.object({ subject: z.string() }))`
      select dashboard_user ->> 'subject' as subject from audit_log
      where tenant_id = ${client.tenantId} and action = 'session.ended' order by id`);
    expect(subjects).toEqual([one.subject, two.subject]);
  });

  it("is listed and ended by plosive-admin, alone or with all others of the account, and no other account's", async () => {
    const [client, other] = [await api.tenant(), await api.tenant()];
    const [one, two] = [await oidc.signedIn(client, "viewer"), await oidc.signedIn(client, "owner")];
    const theirs = await oidc.signedIn(other, "owner");
    const list = async () =>
      JSON.parse((await admin("sessions", "list", "--tenant", client.tenantId, "--json")).out);
    expect(await list()).toMatchObject([
      { subject: one.subject, role: "viewer", key_prefix: null },
      { subject: two.subject, role: "owner", key_prefix: null },
    ]);
    expect((await admin("sessions", "list", "--tenant", client.tenantId)).out).toContain(one.subject);
    await admin("sessions", "end", "--tenant", client.tenantId, "--subject", theirs.subject);
    await admin("sessions", "end", "--tenant", client.tenantId, "--subject", one.subject);
    expect([await statusOf(one), await statusOf(two)]).toEqual([401, 200]);
    await admin("sessions", "end", "--tenant", client.tenantId);
    expect([await statusOf(two), await statusOf(theirs)]).toEqual([401, 200]);
    expect(await list()).toEqual([]);
    expect((await admin("sessions", "end")).code).toBe(2);
    expect((await admin("sessions", "end", "--tenant", randomUUID())).code).toBe(1);
  });

  it("is deleted with its account", async () => {
    const client = await api.tenant();
    const browser = await oidc.signedIn(client, "owner");
    const erased = await admin("tenants", "erase", client.tenantId, "--name", "test");
    expect(erased.code).toBe(0);
    expect((await browser.send("GET", session)).body.code).toBe("session_ended");
    const left = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from dashboard_sessions where digest = ${digestIn(browser.cookie)}`);
    expect(left).toBe(0);
  });

  it("is refused by a process of the previous release, which knows only keys", async () => {
    const { cookie } = await oidc.signedIn(await api.tenant(), "viewer");
    const found = z.object({ id: z.string().nullable(), key_prefix: z.string() });
    const rows = await api.pool.any(sql.type(found)`
      select c.id, k.key_prefix from key_of_session(${digestIn(cookie)}, true) k
      left join lateral admit_caller(k.key_hash, 0, 'infinity', 1, 0, 'infinity') c on true`);
    expect(rows).toEqual([{ id: null, key_prefix: "" }]);
  });

  it("is no API key, and the digest of its token neither", async () => {
    const { cookie } = await oidc.signedIn(await api.tenant(), "owner");
    const token = cookie.split("=")[1] ?? "";
    for (const key of [token, digestOf(token).toString("base64url"), digestOf(token).toString("hex")]) {
      const answer = await send(api.url, "GET", "/api/v1/datasets", { headers: { "X-API-Key": key } });
      expect(answer.body.code).toBe("invalid_api_key");
      const byKey = await send(api.url, "POST", session, {
        headers: { "Sec-Fetch-Site": "same-origin" },
        body: { api_key: key },
      });
      expect(byKey.status).toBe(401);
    }
  });
});
