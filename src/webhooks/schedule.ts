// Decides what follows from an attempt: delivered, retried later, given up, webhook disabled. Pure; called by
// sender.ts.
import type { DeliveryOutcome } from "../db/webhook-delivery.ts";
import type { DeliveryError } from "../schemas/webhook.ts";

export interface Attempt {
  /** HTTP status of the response; null when there was none. */
  readonly status: number | null;
  /** Null: the attempt succeeded. */
  readonly error: DeliveryError | null;
  /** The receiver's Retry-After header. */
  readonly retryAfterMs: number | null;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Backoff in ms after the first, second, ... failed attempt: ten attempts in 75 hours. */
export const retryDelays = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
export const maxAttempts = retryDelays.length + 1;
/**
 * Up to this fraction of a delay is added at random, so that deliveries that failed together are not retried together.
 */
const jitter = 0.1;
/** A webhook whose attempts all failed for this long is disabled. */
export const disableAfterMs = 5 * 24 * hour;

// 429 asks for fewer requests; 502 and 504 come from a proxy whose receiver is down. All deliveries to the webhook
// pause.
const throttling = new Set([429, 502, 504]);
const throttle = { default: 30 * second, min: second, max: hour };

/** Returns the outcome of attempt number `attempt`, from 1. `chance`: a random number from 0 to 1 for the jitter. */
export function afterAttempt(
  attempt: number,
  result: Attempt,
  failingSince: number | null,
  now: number,
  chance: number,
): DeliveryOutcome {
  const facts = { lastStatus: result.status, lastError: result.error };
  if (result.error === null) {
    const webhook = { disable: null, failingSince: null, throttledUntil: null };
    return { status: "delivered", nextAttemptAt: null, ...facts, webhook };
  }
  const since = failingSince ?? now;
  const disable = result.status === 410 ? "gone" : now - since >= disableAfterMs ? "failing" : null;
  const throttled = result.status !== null && throttling.has(result.status);
  const pauseMs = Math.min(throttle.max, Math.max(throttle.min, result.retryAfterMs ?? throttle.default));
  const throttledUntil = throttled ? now + pauseMs : null;
  const webhook = { disable, failingSince: since, throttledUntil } as const;
  const wait = retryDelays[attempt - 1];
  if (disable !== null || wait === undefined)
    return { status: "failed", nextAttemptAt: null, ...facts, webhook };
  const next = now + Math.round(wait * (1 + jitter * chance));
  return { status: "pending", nextAttemptAt: Math.max(next, throttledUntil ?? 0), ...facts, webhook };
}

/** Returns Retry-After, given in seconds or as a date, in ms; null when it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * second;
  // Date.parse alone accepts almost any text.
  const date = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
