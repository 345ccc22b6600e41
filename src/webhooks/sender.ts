// Claims due deliveries, posts them and records their outcomes. All replicas of the operator run it at once. If a replica is killed,
// its deliveries are claimed again when their leases expire, so receivers get each delivery at least once, always with
// the same webhook-id. Driven by dispatch.ts.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Db } from "../db/driver/page.ts";
import { makeSemaphore } from "../db/driver/semaphore.ts";
import { type ClaimedDelivery, claimDeliveries, recordOutcome } from "../db/webhook-delivery.ts";
import type { Log } from "../log.ts";
import { type Attempt, afterAttempt } from "./schedule.ts";
import type { Random, SecretBox } from "./secret.ts";
import { type SendDeps, send } from "./send.ts";
import { signatureHeaders } from "./sign.ts";

export interface SenderDeps extends SendDeps {
  readonly pool: Db;
  readonly secrets: SecretBox;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
}

export interface Sender {
  /** Claims due deliveries within the limits and starts sending them. Returns how many; does not wait for their end. */
  start(): Promise<number>;
  /** Resolves when no attempt is in progress. */
  idle(): Promise<void>;
  /** Aborts the attempts in progress. Their leases expire, and the deliveries are sent again. */
  abort(): void;
}

const maxConcurrent = 64;
/** Concurrent attempts of this process: a receiver that times out after 15 seconds delays only its own deliveries. */
export const limits = { webhook: 4, tenant: 8, host: 16 } as const;

/** `onFree` is called when an attempt ends, so that another one may start. */
export function makeSender(deps: SenderDeps, onFree: () => void): Sender {
  const { pool, log, clock } = deps;
  const metrics = makeMetrics(deps.registry);
  const inFlight = new Map<string, { delivery: ClaimedDelivery; done: Promise<void> }>();
  const ended = new AbortController();
  // Leaves connections for reconciles. Its maximum wait is well below the lease.
  const record = makeSemaphore(3, 20_000);
  // The attempt, the wait for a connection, and the recording of the outcome usually fit into the lease. Where they do not,
  // another process sends the delivery again, and this outcome has no effect.
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
    await record(() => recordOutcome(pool, delivery, now, outcome));
    const facts = { webhookId: delivery.webhook_id, deliveryId: delivery.id, attempt: delivery.attempt };
    if (outcome.webhook.disable !== null)
      log.warn({ ...facts, reason: outcome.webhook.disable }, "disabled a webhook");
    else if (attempt.error === "secret")
      log.warn(facts, "could not decrypt the secret of a webhook with the current key; rotate the secret");
    else log.debug({ ...facts, status: attempt.status, error: attempt.error }, "attempted a delivery");
  };

  const attemptOf = async (delivery: ClaimedDelivery): Promise<Attempt> => {
    const secrets = [delivery.secret, delivery.old_secret]
      .filter((stored) => stored !== null)
      .flatMap((stored) => openSecret(deps.secrets, stored, delivery.webhook_id));
    if (secrets.length === 0) return { status: null, error: "secret", retryAfterMs: null };
    const headers = signatureHeaders(delivery.message_id, clock.now(), delivery.body, secrets);
    return await send({ url: delivery.url, headers, body: delivery.body }, deps, ended.signal);
  };

  return {
    start: async () => {
      if (ended.signal.aborted || inFlight.size >= maxConcurrent) return 0;
      const claimed = await claimDeliveries(pool, {
        now: clock.now(),
        leaseMs,
        limit: maxConcurrent - inFlight.size,
        inFlight: [...inFlight.values()].map(({ delivery }) => delivery),
        limits,
      });
      for (const delivery of claimed) {
        // An unforeseen error must not occupy a slot for ever.
        const done = deliver(delivery)
          .catch((err) =>
            log.warn({ err, deliveryId: delivery.id }, "could not record the outcome of a delivery"),
          )
          .finally(() => {
            inFlight.delete(delivery.id);
            metrics.inFlight.set(inFlight.size);
            onFree();
          });
        inFlight.set(delivery.id, { delivery, done });
      }
      metrics.inFlight.set(inFlight.size);
      return claimed.length;
    },
    idle: async () => {
      while (inFlight.size > 0) await Promise.all([...inFlight.values()].map(({ done }) => done));
    },
    abort: () => ended.abort(),
  };
}

/** Returns the secret, or none if it was sealed with another key. */
function openSecret(box: SecretBox, stored: Buffer, webhookId: string): Buffer[] {
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
      help: "Deliveries that succeeded or were given up",
      labelNames: ["status"],
      registers: [registry],
    }),
    seconds: new Histogram({
      name: "plosive_webhook_attempt_seconds",
      help: "Duration of attempts in seconds",
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers: [registry],
    }),
    inFlight: new Gauge({
      name: "plosive_webhook_attempts_running",
      help: "Attempts in progress in this process",
      registers: [registry],
    }),
  };
}
