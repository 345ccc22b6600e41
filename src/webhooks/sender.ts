// Sends what is due: claims deliveries, posts them, tells what became of each. Any number of replicas do so at once; a
// delivery of one that was killed is claimed again when its lease is over, so receivers get it at least once, always with
// the same webhook-id. Driven by dispatch.ts.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { makeLimit } from "../db/limit.ts";
import type { DatabasePool } from "../db/pool.ts";
import { tenantDatabase } from "../db/tenant-db.ts";
import { type ClaimedDelivery, claimDeliveries, recordOutcome } from "../db/webhook-delivery.ts";
import type { Log } from "../log.ts";
import { type Attempt, afterAttempt } from "./schedule.ts";
import type { Random, SecretBox } from "./secret.ts";
import { type SendDeps, send } from "./send.ts";
import { signatureHeaders } from "./sign.ts";

export interface SenderDeps extends SendDeps {
  readonly pool: DatabasePool;
  readonly secrets: SecretBox;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
}

export interface Sender {
  /** Starts what is due and has a place. Returns how many; the work goes on after it. */
  start(): Promise<number>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  /** Gives up what is under way: its leases run out, and it is sent again. */
  abort(): void;
}

const places = 64;
/** At once from this process: a receiver that takes its 15 seconds to fail holds up its own deliveries only. */
export const limits = { webhook: 4, tenant: 8, host: 16 } as const;

/** `onFree`: a place has become free. */
export function makeSender(deps: SenderDeps, onFree: () => void): Sender {
  const { pool, log, clock } = deps;
  const metrics = makeMetrics(deps.registry);
  const busy = new Map<string, { delivery: ClaimedDelivery; done: Promise<void> }>();
  const ended = new AbortController();
  // Requests need connections too; this is still far within the lease.
  const record = makeLimit(3, 20_000);
  // Time to send, to wait for a connection, and to tell the outcome.
  const leaseMs = deps.timeoutMs + 45_000;

  const deliver = async (delivery: ClaimedDelivery): Promise<void> => {
    const start = performance.now();
    const attempt = await attemptOf(delivery);
    if (ended.signal.aborted && attempt.error !== null) return;
    metrics.seconds.observe((performance.now() - start) / 1000);
    metrics.attempts.inc({ result: attempt.error ?? "delivered" });
    const now = clock.now();
    const chance = (deps.random(1)[0] ?? 0) / 255;
    const outcome = afterAttempt(delivery.attempt, attempt, delivery.failing_since, now, chance);
    if (outcome.status !== "pending") metrics.finished.inc({ status: outcome.status });
    const db = tenantDatabase(pool, delivery.tenant_id);
    await record(() => recordOutcome(db, delivery, now, outcome));
    const facts = { webhookId: delivery.webhook_id, deliveryId: delivery.id, attempt: delivery.attempt };
    if (outcome.webhook.disable !== null)
      log.warn({ ...facts, reason: outcome.webhook.disable }, "switched a webhook off");
    else if (attempt.error === "secret")
      log.warn(facts, "the secret of a webhook cannot be read with the present key: it must be rotated");
    else log.debug({ ...facts, status: attempt.status, error: attempt.error }, "tried a delivery");
  };

  const attemptOf = async (delivery: ClaimedDelivery): Promise<Attempt> => {
    const secrets = [delivery.secret, delivery.old_secret]
      .filter((stored) => stored !== null)
      .flatMap((stored) => openedBy(deps.secrets, stored, delivery.webhook_id));
    if (secrets.length === 0) return { status: null, error: "secret", retryAfterMs: null };
    const headers = signatureHeaders(delivery.message_id, clock.now(), delivery.body, secrets);
    return await send({ url: delivery.url, headers, body: delivery.body }, deps, ended.signal);
  };

  return {
    start: async () => {
      if (ended.signal.aborted || busy.size >= places) return 0;
      const claimed = await claimDeliveries(pool, {
        now: clock.now(),
        leaseMs,
        places: places - busy.size,
        busy: [...busy.values()].map(({ delivery }) => delivery),
        limits,
      });
      for (const delivery of claimed) {
        // Also what no one could foresee must not take a place for ever.
        const done = deliver(delivery)
          .catch((err) =>
            log.warn({ err, deliveryId: delivery.id }, "could not tell what became of a delivery"),
          )
          .finally(() => {
            busy.delete(delivery.id);
            metrics.busy.set(busy.size);
            onFree();
          });
        busy.set(delivery.id, { delivery, done });
      }
      metrics.busy.set(busy.size);
      return claimed.length;
    },
    idle: async () => {
      while (busy.size > 0) await Promise.all([...busy.values()].map(({ done }) => done));
    },
    abort: () => ended.abort(),
  };
}

/** One secret; none if the key that it was sealed with is lost. */
function openedBy(box: SecretBox, stored: Buffer, webhookId: string): Buffer[] {
  try {
    return [box.open(stored, webhookId)];
  } catch {
    return [];
  }
}

function makeMetrics(registry: Registry) {
  return {
    attempts: new Counter({
      name: "plosive_webhook_attempts_total",
      help: "Attempts to deliver an event, by result",
      labelNames: ["result"],
      registers: [registry],
    }),
    finished: new Counter({
      name: "plosive_webhook_deliveries_total",
      help: "Deliveries that arrived or were given up",
      labelNames: ["status"],
      registers: [registry],
    }),
    seconds: new Histogram({
      name: "plosive_webhook_attempt_seconds",
      help: "How long attempts took",
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers: [registry],
    }),
    busy: new Gauge({
      name: "plosive_webhook_attempts_running",
      help: "Attempts under way in this process",
      registers: [registry],
    }),
  };
}
