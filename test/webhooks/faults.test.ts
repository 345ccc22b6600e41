// Deliveries with failures, from a real database to real receivers: senders that crash, receivers that are slow, gone
// or overloaded, and secrets that were rotated or cannot be decrypted.
import { randomBytes, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { insertTenant } from "../../src/db/tenant.ts";
import { oneWebhook, replaceWebhookSecret, updateWebhook } from "../../src/db/webhook.ts";
import { listDeliveries } from "../../src/db/webhook-delivery.ts";
import { makeLog } from "../../src/log.ts";
import { retryDelays } from "../../src/webhooks/schedule.ts";
import { makeSecret, makeSecretBox } from "../../src/webhooks/secret.ts";
import { limits, makeSender } from "../../src/webhooks/sender.ts";
import { execute } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { answering } from "../support/receiver.ts";
import { type Hook, makeClock, useSending } from "./sending.ts";

const database = useDatabase();
const { secrets, senderDeps, receive, hook, emit, deliveriesOf, onlyDelivery } = useSending(database);

describe("a sender that crashes", () => {
  it("leaves its deliveries to another sender, which sends them with the same webhook-id once the lease has expired", async () => {
    let hang = true;
    const receiver = await receive((_, response) => void (hang || response.writeHead(200).end()));
    const own = await hook(receiver);
    await emit(own.tenant);
    const clock = makeClock();
    const dying = makeSender(senderDeps({ clock }), () => {});
    expect(await dying.start()).toBe(1);
    await poll("the first attempt", () => receiver.received.length === 1);
    dying.abort();
    await dying.idle();
    hang = false;
    expect(await onlyDelivery(own)).toMatchObject({ status: "pending", attempts: 1, last_status: null });
    const heir = makeSender(senderDeps({ clock }), () => {});
    expect(await heir.start()).toBe(0);
    clock.pass(51_000);
    expect(await heir.start()).toBe(1);
    await heir.idle();
    expect(await onlyDelivery(own)).toMatchObject({ status: "delivered", attempts: 2 });
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toEqual([ids[0], ids[0]]);
  });

  it("has no effect when it resumes after another sender has delivered", async () => {
    const release: (() => void)[] = [];
    const receiver = await receive((_, response) => {
      if (receiver.received.length === 1) release.push(() => response.writeHead(500).end());
      else response.writeHead(200).end();
    });
    const own = await hook(receiver);
    await emit(own.tenant);
    const clock = makeClock();
    const slow = makeSender(senderDeps({ clock, timeoutMs: 20_000 }), () => {});
    await slow.start();
    await poll("the first attempt", () => release.length === 1);
    clock.pass(66_000);
    const heir = makeSender(senderDeps({ clock }), () => {});
    expect(await heir.start()).toBe(1);
    await heir.idle();
    release[0]?.();
    await slow.idle();
    expect(await onlyDelivery(own)).toMatchObject({ status: "delivered", attempts: 2, last_status: 200 });
    expect((await oneWebhook(own.db, own.tenant, own.id)).failing_since).toBeNull();
  });
});

describe("a receiver", () => {
  it("that never answers delays no other webhook, not even of the same tenant", async () => {
    const dead = await receive(() => {});
    const alive = await receive();
    const blocked = await hook(dead);
    await emit(blocked.tenant, "model.created", 200);
    const sibling = await hook(alive, [], blocked.tenant);
    const other = await hook(alive);
    const sender = makeSender(senderDeps({ timeoutMs: 60_000 }), () => {});
    expect(await sender.start()).toBe(limits.webhook);
    expect(await sender.start()).toBe(0);
    await emit(blocked.tenant, "model.archived");
    await emit(other.tenant, "model.archived");
    expect(await sender.start()).toBe(2);
    await poll("both to arrive", () => alive.received.length === 2);
    for (const { tenant, db, id } of [sibling, other])
      await poll("the outcome", async () =>
        (await listDeliveries(db, tenant, id, { page: 1, page_size: 10 })).items.every(
          ({ status }) => status === "delivered",
        ),
      );
    expect(dead.received).toHaveLength(limits.webhook);
    sender.abort();
    await sender.idle();
  });

  it("of many webhooks and tenants has a limit of concurrent requests, and so has a tenant", async () => {
    const dead = await receive(() => {});
    const tenants = await Promise.all(Array.from({ length: 6 }, () => insertTenant(database.pool, "t")));
    for (const tenant of tenants) {
      await hook(dead, [], tenant);
      await emit(tenant, "model.created", 10);
    }
    const sender = makeSender(senderDeps({ timeoutMs: 60_000 }), () => {});
    expect(await sender.start()).toBe(limits.host);
    expect(await sender.start()).toBe(0);
    // One tenant with receivers on many hosts.
    const [greedy = ""] = tenants;
    for (let i = 0; i < 5; i++) await hook(await receive(() => {}), [], greedy);
    await emit(greedy, "model.archived", 10);
    const busy = (await sender.start()) + (await sender.start());
    expect(busy).toBeLessThanOrEqual(limits.tenant);
    expect(busy).toBeGreaterThanOrEqual(limits.tenant - limits.webhook);
    sender.abort();
    await sender.idle();
  });

  it("shared by tenants serves all of them: a tenant with many deliveries leaves slots to the others", async () => {
    const dead = await receive(() => {});
    const greedy = await insertTenant(database.pool, "t");
    for (let i = 0; i < 5; i++) await hook(dead, [], greedy);
    await emit(greedy, "model.created", 20);
    const modest = await hook(dead);
    await emit(modest.tenant, "model.created", 2);
    const sender = makeSender(senderDeps({ timeoutMs: 60_000 }), () => {});
    expect(await sender.start()).toBe(limits.tenant + 2);
    await poll(
      "the modest one's",
      () =>
        dead.received.filter(({ headers }) => (headers["webhook-id"] ?? "").startsWith("evt_")).length ===
        limits.tenant + 2,
    );
    const attempts = (await deliveriesOf(modest)).map((delivery) => delivery.attempts);
    expect(attempts).toEqual([1, 1]);
    sender.abort();
    await sender.idle();
  });

  it("that answers 410 is disabled, and its tenant gets an event", async () => {
    const receiver = await receive(answering(410));
    const own = await hook(receiver);
    await emit(own.tenant, "model.created", 10);
    const sender = makeSender(senderDeps(), () => {});
    await sender.start();
    await sender.idle();
    expect(await oneWebhook(own.db, own.tenant, own.id)).toMatchObject({
      enabled: false,
      disabled_reason: "gone",
    });
    const left = await deliveriesOf(own);
    expect(left.every(({ status, next_attempt_at }) => status === "failed" && next_attempt_at === null)).toBe(
      true,
    );
    const hits = receiver.received.length;
    await emit(own.tenant);
    expect(await sender.start()).toBe(0);
    expect(receiver.received).toHaveLength(hits);
    const events = await own.db.any(sql.type(z.object({ data: z.unknown() }))`
      select data from events where type = 'webhook.disabled'`);
    expect(events).toEqual([{ data: { webhook_id: own.id, reason: "gone" } }]);
    // Once enabled again, it starts without failures.
    await updateWebhook(own.db, own.tenant, own.id, { enabled: true });
    expect(await oneWebhook(own.db, own.tenant, own.id)).toMatchObject({
      enabled: true,
      disabled_reason: null,
      failing_since: null,
    });
  });

  it("that answers 410 to several deliveries at once is disabled at once, and all of them have ended", async () => {
    const held: ServerResponse[] = [];
    const receiver = await receive((_, response) => void held.push(response));
    const gone = await hook(receiver);
    // Several rounds, because it takes chance for the outcomes to overlap.
    for (let round = 1; round <= 5; round++) {
      await updateWebhook(gone.db, gone.tenant, gone.id, { enabled: true });
      await emit(gone.tenant, "model.created", 4 * limits.webhook);
      const senders = Array.from({ length: 3 }, () => makeSender(senderDeps(), () => {}));
      for (const sender of senders) await sender.start();
      await poll("all to be asked", () => held.length === 3 * limits.webhook);
      for (const response of held.splice(0)) response.writeHead(410).end();
      await Promise.all(senders.map((sender) => sender.idle()));
      expect(await oneWebhook(gone.db, gone.tenant, gone.id)).toMatchObject({
        enabled: false,
        disabled_reason: "gone",
      });
      const open = (await deliveriesOf(gone)).filter(({ status }) => status === "pending");
      expect(open).toEqual([]);
    }
  });

  it("that fails for five days is disabled, and one success in between prevents that", async () => {
    let status = 500;
    const receiver = await receive((_, response) => response.writeHead(status).end());
    const own = await hook(receiver);
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    const day = 24 * 3_600_000;
    const step = async (next: number) => {
      status = next;
      await emit(own.tenant);
      await sender.start();
      await sender.idle();
      clock.pass(day);
      return (await oneWebhook(own.db, own.tenant, own.id)).enabled;
    };
    for (const next of [500, 500, 500, 200, 500, 500, 500, 500, 500]) expect(await step(next)).toBe(true);
    expect(await step(500)).toBe(false);
    expect((await oneWebhook(own.db, own.tenant, own.id)).disabled_reason).toBe("failing");
  });

  it("that sends Retry-After gets nothing before that time, and then everything", async () => {
    let busy = true;
    const receiver = await receive((_, response) =>
      response.writeHead(busy ? 429 : 200, busy ? { "Retry-After": "120" } : {}).end(),
    );
    const own = await hook(receiver);
    await emit(own.tenant);
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    expect(await sender.start()).toBe(1);
    await sender.idle();
    busy = false;
    await emit(own.tenant);
    clock.pass(119_000);
    expect(await sender.start()).toBe(0);
    clock.pass(1_000);
    expect(await sender.start()).toBe(2);
    await sender.idle();
    expect((await deliveriesOf(own)).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
  });

  it("that is down gets a queue of at most 10,000 deliveries", async () => {
    const own = await hook(await receive());
    const other = await hook(await receive(), [], own.tenant);
    await execute(
      database.pool,
      sql.fragment`insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, next_attempt_at)
        select gen_random_uuid(), ${own.tenant}, ${own.id}, 'evt_' || n, 'model.created', '{}', now()
        from generate_series(1, 10000) n`,
    );
    await emit(own.tenant);
    const total = async ({ db, tenant, id }: Hook) =>
      (await listDeliveries(db, tenant, id, { page: 1, page_size: 1 })).total;
    expect([await total(own), await total(other)]).toEqual([10_000, 1]);
    await execute(
      database.pool,
      sql.fragment`update webhook_deliveries set status = 'delivered', next_attempt_at = null, finished_at = now()
        where id = (select id from webhook_deliveries where webhook_id = ${own.id} limit 1)`,
    );
    await emit(own.tenant);
    expect([await total(own), await total(other)]).toEqual([10_001, 2]);
  });

  it("that knows only the old secret can verify signatures for 24 hours after a rotation", async () => {
    const receiver = await receive();
    const own = await hook(receiver);
    const fresh = makeSecret(randomBytes);
    await replaceWebhookSecret(own.db, own.tenant, own.id, secrets.seal(fresh, own.id));
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    const step = async () => {
      await emit(own.tenant);
      await sender.start();
      await sender.idle();
      return receiver.received.at(-1)?.headers["webhook-signature"]?.split(" ").length;
    };
    expect(await step()).toBe(2);
    clock.pass(24 * 3_600_000);
    expect(await step()).toBe(1);
  });
});

/** A rotation an hour ago: the next one is not its repetition. */
async function rotate(hook: Hook, secret: Buffer): Promise<void> {
  await replaceWebhookSecret(hook.db, hook.tenant, hook.id, secret);
  await execute(
    database.pool,
    sql.fragment`update webhooks set old_secret_expires_at = old_secret_expires_at - interval '1 hour' where id = ${hook.id}`,
  );
}

describe("a dispatcher", () => {
  it("without its encryption key reports that on each delivery and gives up in the end, and other webhooks continue", async () => {
    const receiver = await receive();
    const broken = await hook(receiver);
    const whole = await hook(receiver, [], broken.tenant);
    // Rotates twice, since the previous secret is valid for another day.
    for (const secret of [unreadable(), unreadable()]) await rotate(broken, secret);
    await emit(broken.tenant);
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock, log: makeLog("test", "fatal") }), () => {});
    expect(await sender.start()).toBe(2);
    await sender.idle();
    expect((await onlyDelivery(whole)).status).toBe("delivered");
    for (const wait of retryDelays) {
      expect(await onlyDelivery(broken)).toMatchObject({ status: "pending", last_error: "secret" });
      clock.pass(wait);
      await sender.start();
      await sender.idle();
    }
    const given = await onlyDelivery(broken);
    expect(given).toMatchObject({ status: "failed", attempts: 10, last_status: null, last_error: "secret" });
    expect(receiver.received).toHaveLength(1);
  });

  it("that can decrypt only the new secret signs with that one alone", async () => {
    const receiver = await receive();
    const rotated = await hook(receiver);
    await rotate(rotated, unreadable());
    const fresh = secrets.seal(makeSecret(randomBytes), rotated.id);
    await rotate(rotated, fresh);
    await emit(rotated.tenant);
    const sender = makeSender(senderDeps(), () => {});
    await sender.start();
    await sender.idle();
    expect((await onlyDelivery(rotated)).status).toBe("delivered");
    expect(receiver.received.at(-1)?.headers["webhook-signature"]?.split(" ")).toHaveLength(1);
  });
});

/** Encrypted with a key that no longer exists. */
function unreadable(): Buffer {
  const lost = makeSecretBox(randomBytes(32).toString("base64"), randomBytes);
  return lost.seal(randomBytes(32), randomUUID());
}
