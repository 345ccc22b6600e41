// Deliveries over a real database to real receivers: the schedule by an injected clock, several senders, senders that
// die, receivers that are slow, gone or overloaded.
import { randomBytes, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { stampEvents } from "../../src/db/event.ts";
import { makeListener } from "../../src/db/listen.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { tenantDatabase } from "../../src/db/tenant-db.ts";
import {
  insertWebhook,
  newWebhookId,
  oneWebhook,
  replaceWebhookSecret,
  updateWebhook,
} from "../../src/db/webhook.ts";
import { insertTestDelivery, listDeliveries, redeliver } from "../../src/db/webhook-delivery.ts";
import { makeLog } from "../../src/log.ts";
import { startDispatch } from "../../src/webhooks/dispatch.ts";
import { waits } from "../../src/webhooks/schedule.ts";
import { makeSecret, makeSecretBox, showSecret } from "../../src/webhooks/secret.ts";
import { sendDefaults } from "../../src/webhooks/send.ts";
import { limits, makeSender, type SenderDeps } from "../../src/webhooks/sender.ts";
import { execute } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { type Answering, answering, type Receiver, startReceiver } from "../support/receiver.ts";

const database = useDatabase();
const secrets = makeSecretBox(randomBytes(32).toString("base64"), randomBytes);
const allowed = new Set<string>();
const receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
  await execute(database.pool, sql.fragment`delete from tenants`);
});

/** Stands still unless told. Begins ahead of the database's clock, by which deliveries are first due. */
function makeClock() {
  let now = Date.now() + 60_000;
  const pass = (ms: number) => {
    now += ms;
  };
  return { now: () => now, pass };
}

function senderDeps(more: Partial<SenderDeps> = {}): SenderDeps {
  return {
    ...sendDefaults,
    pool: database.apiPool,
    secrets,
    allowed,
    clock: makeClock(),
    random: (size) => Buffer.alloc(size),
    log: makeLog("test", "error"),
    registry: new Registry(),
    timeoutMs: 5_000,
    ...more,
  };
}

async function receive(answer: Answering = answering(204)): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  allowed.add(receiver.origin);
  return receiver;
}

interface Hook {
  readonly tenant: string;
  readonly id: string;
  readonly secret: Buffer;
  readonly db: ReturnType<typeof tenantDatabase>;
}

async function hook(receiver: Receiver, types: string[] = [], tenant?: string): Promise<Hook> {
  const owner = tenant ?? (await insertTenant(database.pool, "t"));
  const db = tenantDatabase(database.apiPool, owner);
  const id = newWebhookId();
  const secret = makeSecret(randomBytes);
  const url = new URL(`${receiver.origin}/hook`);
  const webhook = {
    id,
    url: url.href,
    host: url.host,
    description: "",
    types,
    secret: secrets.seal(secret, id),
  };
  await insertWebhook(db, owner, webhook, 0);
  return { tenant: owner, id, secret, db };
}

async function tell(tenant: string, type = "model.created", times = 1): Promise<void> {
  await execute(
    database.pool,
    sql.fragment`select emit_event(${tenant}::uuid, ${type}, jsonb_build_object('n', n)) from generate_series(1, ${times}) n`,
  );
  while ((await stampEvents(database.apiPool))?.more !== false);
}

const deliveriesOf = async ({ db, tenant, id }: Hook) =>
  (await listDeliveries(db, tenant, id, { page: 1, page_size: 100 })).items;
const onlyDelivery = async (of: Hook) => {
  const [found, ...others] = await deliveriesOf(of);
  if (found === undefined || others.length > 0) throw new Error("there is not just one delivery");
  return found;
};

describe("an event", () => {
  it("arrives signed at each webhook of its tenant that wants it, and nowhere else", async () => {
    const receiver = await receive();
    const all = await hook(receiver);
    const some = await hook(receiver, ["model.created", "model.archived"], all.tenant);
    const none = await hook(receiver, ["audio_file.ready"], all.tenant);
    const off = await hook(receiver, [], all.tenant);
    await updateWebhook(off.db, off.tenant, off.id, { enabled: false });
    const stranger = await hook(receiver);
    await tell(all.tenant);
    const deps = senderDeps({ clock: { now: () => Date.now() + 1_000 } });
    const sender = makeSender(deps, () => {});
    expect(await sender.start()).toBe(2);
    await sender.idle();
    expect(receiver.received).toHaveLength(2);
    const [event] = await all.db.any(sql.type(z.object({ seq: z.number(), created_at: z.number() }))`
      select seq, created_at from events where type = 'model.created'`);
    for (const { headers, body } of receiver.received) {
      const signedBy = [all, some].filter(({ secret }) => {
        try {
          new Webhook(showSecret(secret)).verify(body, headers);
          return true;
        } catch {
          return false;
        }
      });
      expect(signedBy).toHaveLength(1);
      expect(headers["webhook-id"]).toBe(`evt_${event?.seq}`);
      expect(JSON.parse(body)).toEqual({
        type: "model.created",
        timestamp: new Date(event?.created_at ?? 0).toISOString(),
        data: { n: 1 },
      });
    }
    for (const empty of [none, off, stranger]) expect(await deliveriesOf(empty)).toEqual([]);
    expect(await onlyDelivery(all)).toMatchObject({ status: "delivered", attempts: 1, last_status: 204 });
    expect(await sender.start()).toBe(0);
    expect(await deps.registry.metrics()).toContain('plosive_webhook_deliveries_total{status="delivered"} 2');
  });

  it("is tried ten times by the schedule, with one webhook-id and a fresh time, and then given up", async () => {
    const receiver = await receive(answering(500));
    const own = await hook(receiver);
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    await tell(own.tenant);
    const step = async () => {
      const started = await sender.start();
      await sender.idle();
      return started;
    };
    expect(await step()).toBe(1);
    for (const wait of waits) {
      clock.pass(wait - 1);
      expect(await step()).toBe(0);
      clock.pass(1);
      expect(await step()).toBe(1);
    }
    clock.pass(365 * 24 * 3_600_000);
    expect(await step()).toBe(0);
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(10);
    expect(await onlyDelivery(own)).toMatchObject({
      status: "failed",
      attempts: 10,
      next_attempt_at: null,
      last_status: 500,
      last_error: "status",
    });
    // Sent again by hand it has the whole schedule before it.
    const again = await onlyDelivery(own);
    expect(await redeliver(own.db, own.tenant, own.id, again.id)).toMatchObject({
      status: "pending",
      attempts: 0,
    });
    expect(await step()).toBe(1);
    expect(receiver.received.at(-1)?.headers["webhook-id"]).toBe(again.message_id);
  });

  it("is sent at once also by a process whose clock is behind the database's", async () => {
    const receiver = await receive();
    const own = await hook(receiver);
    await tell(own.tenant);
    const sender = makeSender(senderDeps({ clock: { now: () => Date.now() - 30_000 } }), () => {});
    expect(await sender.start()).toBe(1);
    await sender.idle();
    expect(await onlyDelivery(own)).toMatchObject({ status: "delivered" });
  });

  it("is told once by many senders, and a webhook never gets more than its share at once", async () => {
    let running = 0;
    let most = 0;
    const receiver = await receive((_, response) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        response.writeHead(200).end();
      }, 10);
    });
    const own = await hook(receiver);
    await tell(own.tenant, "model.created", 100);
    const senders = [1, 2, 3].map(() => makeSender(senderDeps(), () => {}));
    await poll("all to arrive", async () => {
      await Promise.all(senders.map((sender) => sender.start()));
      return (await deliveriesOf(own)).every(({ status }) => status === "delivered");
    });
    await Promise.all(senders.map((sender) => sender.idle()));
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(100);
    expect(new Set(ids).size).toBe(100);
    expect(most).toBeLessThanOrEqual(3 * limits.webhook);
    expect(most).toBeGreaterThan(1);
  });
});

describe("a sender that dies", () => {
  it("leaves its deliveries to another one, which sends them when the lease is over, with the same webhook-id", async () => {
    let hang = true;
    const receiver = await receive((_, response) => void (hang || response.writeHead(200).end()));
    const own = await hook(receiver);
    await tell(own.tenant);
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

  it("and comes back after another one has delivered changes nothing any more", async () => {
    const release: (() => void)[] = [];
    const receiver = await receive((_, response) => {
      if (receiver.received.length === 1) release.push(() => response.writeHead(500).end());
      else response.writeHead(200).end();
    });
    const own = await hook(receiver);
    await tell(own.tenant);
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
  it("that never answers holds up nobody else, not even other webhooks of its tenant", async () => {
    const dead = await receive(() => {});
    const alive = await receive();
    const blocked = await hook(dead);
    await tell(blocked.tenant, "model.created", 200);
    const sibling = await hook(alive, [], blocked.tenant);
    const other = await hook(alive);
    const sender = makeSender(senderDeps({ timeoutMs: 60_000 }), () => {});
    expect(await sender.start()).toBe(limits.webhook);
    expect(await sender.start()).toBe(0);
    await tell(blocked.tenant, "model.archived");
    await tell(other.tenant, "model.archived");
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

  it("of many webhooks and tenants gets only so many at once, and so does a tenant", async () => {
    const dead = await receive(() => {});
    const tenants = await Promise.all(Array.from({ length: 6 }, () => insertTenant(database.pool, "t")));
    for (const tenant of tenants) {
      await hook(dead, [], tenant);
      await tell(tenant, "model.created", 10);
    }
    const sender = makeSender(senderDeps({ timeoutMs: 60_000 }), () => {});
    expect(await sender.start()).toBe(limits.host);
    expect(await sender.start()).toBe(0);
    // One tenant with receivers on many hosts.
    const [greedy = ""] = tenants;
    for (let i = 0; i < 5; i++) await hook(await receive(() => {}), [], greedy);
    await tell(greedy, "model.archived", 10);
    const busy = (await sender.start()) + (await sender.start());
    expect(busy).toBeLessThanOrEqual(limits.tenant);
    expect(busy).toBeGreaterThanOrEqual(limits.tenant - limits.webhook);
    sender.abort();
    await sender.idle();
  });

  it("that many share is nobody's alone: one tenant with much to send leaves places to the others", async () => {
    const dead = await receive(() => {});
    const greedy = await insertTenant(database.pool, "t");
    for (let i = 0; i < 5; i++) await hook(dead, [], greedy);
    await tell(greedy, "model.created", 20);
    const modest = await hook(dead);
    await tell(modest.tenant, "model.created", 2);
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

  it("that is gone for good (410) is switched off, and its tenant is told", async () => {
    const receiver = await receive(answering(410));
    const own = await hook(receiver);
    await tell(own.tenant, "model.created", 10);
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
    await tell(own.tenant);
    expect(await sender.start()).toBe(0);
    expect(receiver.received).toHaveLength(hits);
    const events = await own.db.any(sql.type(z.object({ data: z.unknown() }))`
      select data from events where type = 'webhook.disabled'`);
    expect(events).toEqual([{ data: { webhook_id: own.id, reason: "gone" } }]);
    // Switched on again it starts anew.
    await updateWebhook(own.db, own.tenant, own.id, { enabled: true });
    expect(await oneWebhook(own.db, own.tenant, own.id)).toMatchObject({
      enabled: true,
      disabled_reason: null,
      failing_since: null,
    });
  });

  it("that says so to several deliveries at once is switched off at once, and all of them have ended", async () => {
    const held: ServerResponse[] = [];
    const receiver = await receive((_, response) => void held.push(response));
    const gone = await hook(receiver);
    // Of several rounds, because it takes chance for outcomes to meet.
    for (let round = 1; round <= 5; round++) {
      await updateWebhook(gone.db, gone.tenant, gone.id, { enabled: true });
      await tell(gone.tenant, "model.created", 4 * limits.webhook);
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

  it("that only fails for five days is switched off; one success in between and it is not", async () => {
    let status = 500;
    const receiver = await receive((_, response) => response.writeHead(status).end());
    const own = await hook(receiver);
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    const day = 24 * 3_600_000;
    const step = async (next: number) => {
      status = next;
      await tell(own.tenant);
      await sender.start();
      await sender.idle();
      clock.pass(day);
      return (await oneWebhook(own.db, own.tenant, own.id)).enabled;
    };
    for (const next of [500, 500, 500, 200, 500, 500, 500, 500, 500]) expect(await step(next)).toBe(true);
    expect(await step(500)).toBe(false);
    expect((await oneWebhook(own.db, own.tenant, own.id)).disabled_reason).toBe("failing");
  });

  it("that asks for a pause gets it: nothing is sent before Retry-After is over, and then all", async () => {
    let busy = true;
    const receiver = await receive((_, response) =>
      response.writeHead(busy ? 429 : 200, busy ? { "Retry-After": "120" } : {}).end(),
    );
    const own = await hook(receiver);
    await tell(own.tenant);
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    expect(await sender.start()).toBe(1);
    await sender.idle();
    busy = false;
    await tell(own.tenant);
    clock.pass(119_000);
    expect(await sender.start()).toBe(0);
    clock.pass(1_000);
    expect(await sender.start()).toBe(2);
    await sender.idle();
    expect((await deliveriesOf(own)).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
  });

  it("that is away gets no more than 10,000 deliveries to wait for it", async () => {
    const own = await hook(await receive());
    const other = await hook(await receive(), [], own.tenant);
    await execute(
      database.pool,
      sql.fragment`insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, next_attempt_at)
        select gen_random_uuid(), ${own.tenant}, ${own.id}, 'evt_' || n, 'model.created', '{}', now()
        from generate_series(1, 10000) n`,
    );
    await tell(own.tenant);
    const total = async ({ db, tenant, id }: Hook) =>
      (await listDeliveries(db, tenant, id, { page: 1, page_size: 1 })).total;
    expect([await total(own), await total(other)]).toEqual([10_000, 1]);
    await execute(
      database.pool,
      sql.fragment`update webhook_deliveries set status = 'delivered', next_attempt_at = null, finished_at = now()
        where id = (select id from webhook_deliveries where webhook_id = ${own.id} limit 1)`,
    );
    await tell(own.tenant);
    expect([await total(own), await total(other)]).toEqual([10_001, 2]);
  });

  it("that knows only the old secret is served for 24 hours after it was replaced", async () => {
    const receiver = await receive();
    const own = await hook(receiver);
    const fresh = makeSecret(randomBytes);
    await replaceWebhookSecret(own.db, own.tenant, own.id, secrets.seal(fresh, own.id));
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    const step = async () => {
      await tell(own.tenant);
      await sender.start();
      await sender.idle();
      return receiver.received.at(-1)?.headers["webhook-signature"]?.split(" ").length;
    };
    expect(await step()).toBe(2);
    clock.pass(24 * 3_600_000);
    expect(await step()).toBe(1);
  });
});

describe("a dispatcher", () => {
  it("is woken by the change itself, numbers it, sends it, and ends in order", async () => {
    const receiver = await receive();
    const own = await hook(receiver);
    const log = makeLog("test", "error");
    const registry = new Registry();
    const listener = makeListener({ url: database.apiPool.configuration.connectionUri, log });
    const dispatch = startDispatch({
      ...senderDeps({ clock: { now: () => Date.now() + 1_000 }, registry }),
      listener,
    });
    try {
      await poll("the dispatcher to listen", async () => {
        await execute(
          database.pool,
          sql.fragment`select emit_event(${own.tenant}::uuid, 'model.created', '{}')`,
        );
        return receiver.received.length > 0;
      });
      await insertTestDelivery(own.db, own.tenant, own.id, Date.now());
      await poll("the test", () => receiver.received.some(({ body }) => body.includes("webhook.test")));
      await poll("the outcomes", async () =>
        (await deliveriesOf(own)).every(({ status }) => status === "delivered"),
      );
      const text = await registry.metrics();
      expect(text).toContain('plosive_event_lag_seconds{stage="numbering"} 0');
      expect(text).toContain('plosive_event_lag_seconds{stage="delivery"} 0');
      expect(text).toMatch(/plosive_webhook_attempts_total\{result="delivered"\} [1-9]/);
    } finally {
      await dispatch.stop(1_000);
      await listener.end();
    }
  });

  it("survives a secret that cannot be opened: other webhooks go on", async () => {
    const receiver = await receive();
    const broken = await hook(receiver);
    const whole = await hook(receiver, [], broken.tenant);
    const garbage = makeSecretBox(randomBytes(32).toString("base64"), randomBytes).seal(
      randomBytes(32),
      randomUUID(),
    );
    await replaceWebhookSecret(broken.db, broken.tenant, broken.id, garbage);
    await tell(broken.tenant);
    const sender = makeSender(senderDeps({ log: makeLog("test", "fatal") }), () => {});
    expect(await sender.start()).toBe(2);
    await sender.idle();
    expect((await onlyDelivery(whole)).status).toBe("delivered");
    expect((await onlyDelivery(broken)).status).toBe("pending");
  });
});
