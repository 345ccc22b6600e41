// Deliveries from a real database to real receivers: the recipients of each event, the schedule with an injected clock,
// and several senders. faults.test.ts has the failures.
import { Registry } from "prom-client";
import { sql } from "slonik";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { makeListener } from "../../src/db/driver/listen.ts";
import type { Db } from "../../src/db/driver/queries.ts";
import { updateWebhook } from "../../src/db/webhook.ts";
import { insertTestDelivery, redeliver } from "../../src/db/webhook-delivery.ts";
import { startEvents } from "../../src/events.ts";
import { makeLog } from "../../src/log.ts";
import { startDispatch } from "../../src/webhooks/dispatch.ts";
import { retryDelays } from "../../src/webhooks/schedule.ts";
import { formatSecret } from "../../src/webhooks/secret.ts";
import { limits, makeSender } from "../../src/webhooks/sender.ts";
import { execute } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { answering } from "../support/receiver.ts";
import { makeClock, useSending } from "./sending.ts";

const database = useDatabase();
const { senderDeps, receive, hook, emit, deliveriesOf, onlyDelivery } = useSending(database);

describe("an event", () => {
  it("is delivered with a signature to each webhook of its tenant that subscribes to it, and to no other", async () => {
    const receiver = await receive();
    const all = await hook(receiver);
    const some = await hook(receiver, ["model.created", "model.archived"], all.tenant);
    const none = await hook(receiver, ["audio_file.ready"], all.tenant);
    const off = await hook(receiver, [], all.tenant);
    await updateWebhook(off.db, off.tenant, off.id, { enabled: false });
    const stranger = await hook(receiver);
    await emit(all.tenant);
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
          new Webhook(formatSecret(secret)).verify(body, headers);
          return true;
        } catch {
          return false;
        }
      });
      expect(signedBy).toHaveLength(1);
      expect(headers["webhook-id"]).toBe(`evt_${all.tenant}_${event?.seq}`);
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

  it("is attempted ten times by the schedule, with one webhook-id and a new timestamp each, and then given up", async () => {
    const receiver = await receive(answering(500));
    const own = await hook(receiver);
    const clock = makeClock();
    const sender = makeSender(senderDeps({ clock }), () => {});
    await emit(own.tenant);
    const step = async () => {
      const started = await sender.start();
      await sender.idle();
      return started;
    };
    expect(await step()).toBe(1);
    for (const wait of retryDelays) {
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
    // A redelivery by hand starts the schedule again.
    const again = await onlyDelivery(own);
    expect(await redeliver(own.db, own.tenant, own.id, again.id)).toMatchObject({
      status: "pending",
      attempts: 0,
    });
    expect(await step()).toBe(1);
    expect(receiver.received.at(-1)?.headers["webhook-id"]).toBe(again.message_id);
  });

  it("is sent at once even by a process whose clock is behind the database's", async () => {
    const receiver = await receive();
    const own = await hook(receiver);
    await emit(own.tenant);
    const sender = makeSender(senderDeps({ clock: { now: () => Date.now() - 30_000 } }), () => {});
    expect(await sender.start()).toBe(1);
    await sender.idle();
    expect(await onlyDelivery(own)).toMatchObject({ status: "delivered" });
  });

  it("is sent once by many senders, and a webhook never gets more concurrent requests than its limit", async () => {
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
    await emit(own.tenant, "model.created", 100);
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

describe("a dispatcher", () => {
  it("is woken by the number of an event, sends it, and stops cleanly", async () => {
    const receiver = await receive();
    const own = await hook(receiver);
    const log = makeLog("test", "error");
    const registry = new Registry();
    const listener = makeListener({ url: database.operatorPool.configuration.connectionUri, log });
    const events = startEvents({ pool: database.apiPool, listener, log, registry });
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
      // The poll above may have emitted an event that is not numbered yet.
      const text = await poll("no lag", async () => {
        const now = await registry.metrics();
        return (
          /_lag_seconds\{stage="numbering"\} 0$/m.test(now) &&
          /_lag_seconds\{stage="delivery"\} 0$/m.test(now) &&
          now
        );
      });
      expect(text).toMatch(/plosive_webhook_attempts_total\{result="delivered"\} [1-9]/);
    } finally {
      await Promise.all([events.stop(), dispatch.stop(1_000)]);
      await listener.end();
    }
  });

  it("looks for deliveries at most ten times a second, however fast the receiver is", async () => {
    const receiver = await receive();
    const own = await hook(receiver);
    await emit(own.tenant, "model.created", 40);
    let claims = 0;
    const pool: Db = {
      ...database.operatorPool,
      any: (query) => {
        if (query.sql.includes("claim_deliveries")) claims += 1;
        return database.operatorPool.any(query);
      },
    };
    const listener = makeListener({
      url: database.operatorPool.configuration.connectionUri,
      log: makeLog("test", "error"),
    });
    const began = performance.now();
    const dispatch = startDispatch({
      ...senderDeps({ clock: { now: () => Date.now() + 1_000 }, pool }),
      listener,
    });
    try {
      await poll("the deliveries", () => receiver.received.length === 40);
      expect(claims).toBeGreaterThanOrEqual(40 / limits.webhook);
      expect(claims).toBeLessThanOrEqual(1 + (performance.now() - began) / 100);
    } finally {
      await dispatch.stop(1_000);
      await listener.end();
    }
  });
});
