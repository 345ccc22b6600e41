// Webhooks over HTTP: creation, changes, test deliveries, redelivery, secrets that are shown once, and refused
// addresses.
import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { numberEvents } from "../../src/db/event.ts";
import { eventTypes } from "../../src/schemas/event.ts";
import { type Client, execute, testDeps, useApi } from "../support/api.ts";
import { hostileUrls } from "../support/hostile-urls.ts";

const allowed = "http://127.0.0.1:9999";
const secretKey = randomBytes(32).toString("base64");
const api = useApi({
  config: {
    ...testDeps({ configuration: { connectionUri: "" } } as never, undefined as never).config,
    PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: new Set([allowed]),
    PLOSIVE_WEBHOOK_SECRET_KEY: secretKey,
  },
});
const base = "/api/v1/webhooks";
const url = "https://hooks.example.com/plosive";
const make = async (client: Client, body: object = { url }) => (await client.post(base, body)).body;

async function emit(tenantId: string): Promise<void> {
  await execute(api.db, sql.fragment`select emit_event(${tenantId}::uuid, 'model.created', '{}')`);
  while ((await numberEvents(api.pool))?.more !== false);
}

describe("a webhook", () => {
  it("shows its secret when it is created and when the secret is rotated, and never otherwise", async () => {
    const client = await api.tenant();
    const created = await client.post(base, { url, types: ["model.created"], description: "CI" });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`${base}/${created.body.id}`);
    expect(created.body).toMatchObject({
      url,
      types: ["model.created"],
      description: "CI",
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const one = `${base}/${created.body.id}`;
    const { secret, ...rest } = created.body;
    expect((await client.get(one)).body).toEqual(rest);
    expect((await client.get(base)).body).toMatchObject({ items: [rest], total: 1 });
    const rotated = (await client.post(`${one}/rotate-secret`)).body;
    expect(rotated.secret).not.toBe(secret);
    for (const path of [one, base, `${one}/deliveries`]) {
      const { text } = await client.get(path);
      for (const shown of [secret, rotated.secret]) expect(text).not.toContain(shown.slice(6));
    }
    // The database does not contain it in plain text either.
    const stored = await api.db.any(sql.type(z.object({ hex: z.string() }))`
      select encode(secret, 'hex') || encode(old_secret, 'hex') as hex from webhooks where id = ${created.body.id}`);
    for (const shown of [secret, rotated.secret])
      expect(stored[0]?.hex).not.toContain(Buffer.from(shown.slice(6), "base64").toString("hex"));
  });

  it("keeps the deployed secret when a rotation is repeated, and repeats its answer for its Idempotency-Key", async () => {
    const client = await api.tenant();
    const { id } = await make(client);
    const oldOf = () =>
      api.db.oneFirst(sql.type(z.object({ hex: z.string() }))`
        select encode(old_secret, 'hex') as hex from webhooks where id = ${id}`);
    const rotate = async (key: string) =>
      (await client.post(`${base}/${id}/rotate-secret`, undefined, { "Idempotency-Key": key })).body.secret;
    const first = await rotate("a");
    const deployed = await oldOf();
    expect(await rotate("a")).toBe(first);
    expect(await rotate("b")).not.toBe(first);
    expect(await oldOf()).toBe(deployed);
    await api.db.query(sql.unsafe`
      update webhooks set old_secret_expires_at = old_secret_expires_at - interval '2 minutes' where id = ${id}`);
    await rotate("c");
    expect(await oldOf()).not.toBe(deployed);
  });

  it("has the same secret under its id in upper case", async () => {
    const client = await api.tenant();
    const { id } = await make(client);
    const rotate = () =>
      client.post(`${base}/${id.toUpperCase()}/rotate-secret`, undefined, { "Idempotency-Key": "a" });
    const first = await rotate();
    expect([first.status, first.body.id]).toEqual([200, id]);
    // The repeated response opens the stored secret.
    expect((await rotate()).body.secret).toBe(first.body.secret);
  });

  it("can be changed member by member, and If-Match protects unseen changes", async () => {
    const client = await api.tenant();
    const { id } = await make(client);
    const one = `${base}/${id}`;
    const first = await client.get(one);
    const etag = first.headers.get("etag") ?? "";
    expect((await client.get(one, { "If-None-Match": etag })).status).toBe(304);
    const changed = await client.patch(one, { types: ["api_key.revoked"], enabled: false });
    expect(changed.body).toMatchObject({ url, types: ["api_key.revoked"], enabled: false });
    expect(changed.headers.get("etag")).not.toBe(etag);
    expect((await client.patch(one, {})).body.types).toEqual(["api_key.revoked"]);
    const stale = await fetch(api.url + one, {
      method: "DELETE",
      headers: { "X-API-Key": client.key, "If-Match": etag },
    });
    expect(stale.status).toBe(412);
    expect((await client.delete(one)).status).toBe(204);
    expect((await client.get(one)).body.code).toBe("webhook_not_found");
  });

  it("accepts every event type that exists, and no other", async () => {
    const client = await api.tenant();
    expect((await make(client, { url, types: eventTypes })).types).toEqual(eventTypes);
    const refused = await client.post(base, { url, types: ["model.created", "model.*"] });
    expect(refused.body.detail).toMatchObject([{ loc: ["body", "types", 1], type: "enum" }]);
  });

  it("can exist at most 20 times per tenant, also under concurrent requests", async () => {
    const client = await api.tenant();
    const answers = await Promise.all(Array.from({ length: 24 }, () => client.post(base, { url })));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(4).fill([429, "quota_exceeded"]),
    );
  });

  it("is created once by two requests with the same Idempotency-Key, and both answers show the same secret", async () => {
    const client = await api.tenant();
    const headers = { "Idempotency-Key": "w1" };
    const [first, second] = [
      await client.post(base, { url }, headers),
      await client.post(base, { url }, headers),
    ];
    expect(second.body).toEqual(first.body);
    expect((await client.get(base)).body.total).toBe(1);
  });

  it("of another tenant is answered with 404", async () => {
    const [owner, stranger] = [await api.tenant(), await api.tenant()];
    const { id } = await make(owner);
    const delivery = (await owner.post(`${base}/${id}/test`)).body.id;
    const own = (await make(stranger)).id;
    const paths = (hook: string, sent: string): [string, string][] => [
      ["GET", `${base}/${hook}`],
      ["PATCH", `${base}/${hook}`],
      ["DELETE", `${base}/${hook}`],
      ["POST", `${base}/${hook}/test`],
      ["POST", `${base}/${hook}/rotate-secret`],
      ["GET", `${base}/${hook}/deliveries`],
      ["GET", `${base}/${hook}/deliveries/${sent}`],
      ["POST", `${base}/${hook}/deliveries/${sent}/redeliver`],
    ];
    const ask = async ([method, path]: [string, string]) => {
      if (method === "GET") return await stranger.get(path);
      if (method === "DELETE") return await stranger.delete(path);
      return method === "PATCH" ? await stranger.patch(path, { enabled: false }) : await stranger.post(path);
    };
    const random = paths(randomUUID(), randomUUID());
    for (const [i, foreign] of paths(id, delivery).entries()) {
      const [theirs, unknown] = [await ask(foreign), await ask(random[i] ?? foreign)];
      expect([foreign, theirs.status, theirs.text]).toEqual([foreign, 404, unknown.text]);
    }
    // The caller's own webhook id, followed by the id of a foreign delivery.
    expect((await stranger.get(`${base}/${own}/deliveries/${delivery}`)).body.code).toBe(
      "delivery_not_found",
    );
    expect((await stranger.post(`${base}/${own}/deliveries/${delivery}/redeliver`)).status).toBe(404);
    expect((await owner.get(`${base}/${id}`)).body.enabled).toBe(true);
  });
});

describe("the address of a webhook", () => {
  it("is refused in every hostile form, on creation and on a change", async () => {
    const client = await api.tenant();
    const { id } = await make(client);
    for (const [hostile, refusal] of hostileUrls) {
      // JSON cannot carry these otherwise. NUL is refused before the address check.
      const answers = [
        await client.post(base, { url: hostile }),
        await client.patch(`${base}/${id}`, { url: hostile }),
      ];
      for (const { status, body } of answers) {
        expect([hostile, status]).toEqual([hostile, 422]);
        expect(body.detail[0].loc.slice(0, 2)).toEqual(["body", "url"]);
        if (!hostile.includes("\u0000")) expect(body.detail[0].msg).toBe(`Value error, ${refusal}`);
      }
    }
    expect((await client.get(base)).body).toMatchObject({ total: 1, items: [{ url }] });
  });

  it("is refused before an unknown webhook and a stale ETag", async () => {
    const client = await api.tenant();
    for (const id of [(await make(client)).id, randomUUID()]) {
      const change = { url: "https://127.0.0.1/hook" };
      const answer = await client.patch(`${base}/${id}`, change, { "If-Match": '"nothing"' });
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", "url"]]);
    }
  });

  it("can be an internal address if an administrator allows it", async () => {
    const client = await api.tenant();
    expect((await client.post(base, { url: `${allowed}/hook` })).status).toBe(201);
    expect((await client.post(base, { url: "http://127.0.0.1:9998/hook" })).status).toBe(422);
  });
});

describe("deliveries", () => {
  it("are listed with their outcome, newest first and by status", async () => {
    const client = await api.tenant();
    const { id } = await make(client);
    await emit(client.tenantId);
    const tried = await client.post(`${base}/${id}/test`);
    expect(tried.headers.get("location")).toBe(`${base}/${id}/deliveries/${tried.body.id}`);
    expect(tried.body).toMatchObject({
      type: "webhook.test",
      status: "pending",
      attempts: 0,
      last_error: null,
    });
    const { body } = await client.get(`${base}/${id}/deliveries`);
    expect(body.items.map((item: { type: string }) => item.type)).toContain("model.created");
    expect(body.items[0]).toEqual(tried.body);
    expect((await client.get(`${base}/${id}/deliveries/${tried.body.id}`)).body).toEqual(tried.body);
    await execute(
      api.db,
      sql.fragment`update webhook_deliveries set status = 'failed', next_attempt_at = null, attempts = 10,
        last_status = 500, last_error = 'status', finished_at = now() where id = ${tried.body.id}`,
    );
    const failed = await client.get(`${base}/${id}/deliveries?status=failed`);
    expect(failed.body.items).toMatchObject([{ id: tried.body.id, last_status: 500, last_error: "status" }]);
    const again = await client.post(`${base}/${id}/deliveries/${tried.body.id}/redeliver`);
    expect(again.body).toMatchObject({ status: "pending", attempts: 0, message_id: tried.body.message_id });
  });

  it("are not created for a disabled webhook", async () => {
    const client = await api.tenant();
    const { id } = await make(client);
    const delivery = (await client.post(`${base}/${id}/test`)).body.id;
    await client.patch(`${base}/${id}`, { enabled: false });
    for (const path of [`${base}/${id}/test`, `${base}/${id}/deliveries/${delivery}/redeliver`]) {
      const refused = await client.post(path);
      expect([refused.status, refused.body.code]).toEqual([409, "webhook_disabled"]);
    }
    await emit(client.tenantId);
    expect((await client.get(`${base}/${id}/deliveries`)).body.total).toBe(1);
  });
});
