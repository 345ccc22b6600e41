// Webhooks on real receivers, events for them, their deliveries, and a sender with a manual clock. Called by
// delivery.test.ts and faults.test.ts.

import { randomBytes } from "node:crypto";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { afterEach } from "vitest";
import { newId } from "../../src/db/driver/id.ts";
import type { Db } from "../../src/db/driver/queries.ts";
import { numberEvents } from "../../src/db/event.ts";
import { insertTenant } from "../../src/db/tenant.ts";
import { insertWebhook } from "../../src/db/webhook.ts";
import { listDeliveries } from "../../src/db/webhook-delivery.ts";
import { makeLog } from "../../src/log.ts";
import { makeSecret, makeSecretBox } from "../../src/webhooks/secret.ts";
import { sendDefaults } from "../../src/webhooks/send.ts";
import type { SenderDeps } from "../../src/webhooks/sender.ts";
import { execute } from "../support/api.ts";
import type { TestDatabase } from "../support/postgres.ts";
import { type Answering, answering, type Receiver, startReceiver } from "../support/receiver.ts";

export interface Hook {
  readonly tenant: string;
  readonly id: string;
  readonly secret: Buffer;
  readonly db: Db;
}

/** Stands still until a test moves it. Starts ahead of the database's clock, which sets the first due time. */
export function makeClock() {
  let now = Date.now() + 60_000;
  const pass = (ms: number) => {
    now += ms;
  };
  return { now: () => now, pass };
}

export function useSending(database: TestDatabase) {
  const secrets = makeSecretBox(randomBytes(32).toString("base64"), randomBytes);
  const allowed = new Set<string>();
  const receivers: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.stop();
    await execute(database.pool, sql.fragment`delete from tenants`);
  });

  function senderDeps(more: Partial<SenderDeps> = {}): SenderDeps {
    return {
      ...sendDefaults,
      pool: database.operatorPool,
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

  async function hook(receiver: Receiver, types: string[] = [], tenant?: string): Promise<Hook> {
    const owner = tenant ?? (await insertTenant(database.pool, "t"));
    const db = database.apiPool.asTenant(owner);
    const id = newId();
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

  async function emit(tenant: string, type = "model.created", times = 1): Promise<void> {
    await execute(
      database.pool,
      sql.fragment`select emit_event(${tenant}::uuid, ${type}, jsonb_build_object('n', n)) from generate_series(1, ${times}) n`,
    );
    while ((await numberEvents(database.apiPool))?.more !== false);
  }

  const deliveriesOf = async ({ db, tenant, id }: Hook) =>
    (await listDeliveries(db, tenant, id, { page: 1, page_size: 100 })).items;
  const onlyDelivery = async (of: Hook) => {
    const [found, ...others] = await deliveriesOf(of);
    if (found === undefined || others.length > 0) throw new Error("there is not just one delivery");
    return found;
  };

  return { secrets, senderDeps, receive, hook, emit, deliveriesOf, onlyDelivery };
}
