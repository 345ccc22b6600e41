// What follows from an attempt: delivered, tried again later, given up, webhook switched off. Pure; called by sender.ts.
import type { DeliveryOutcome } from "../db/webhook-delivery.ts";
import type { DeliveryError } from "../schemas/webhook.ts";

export interface Attempt {
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** Null: it succeeded. */
  readonly error: DeliveryError | null;
  /** What the receiver asked for in Retry-After. */
  readonly retryAfterMs: number | null;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits after the first, second, ... failed attempt. Ten attempts in 75 hours. */
export const waits = [
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
export const maxAttempts = waits.length + 1;
/** Up to this much of a wait is added by chance, so that what failed together does not come back together. */
const jitter = 0.1;
/** A webhook that has only failed for so long is switched off. */
export const disableAfterMs = 5 * 24 * hour;

// "Not so fast", or a proxy in front of a receiver that is away: then nothing is sent to this webhook for a while.
const throttling = new Set([429, 502, 504]);
const throttle = { usual: 30 * second, least: second, most: hour };

/** `chance`: a number from 0 to 1. `attempt` counts from 1. */
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
  const pauseMs = Math.min(throttle.most, Math.max(throttle.least, result.retryAfterMs ?? throttle.usual));
  const throttledUntil = throttled ? now + pauseMs : null;
  const webhook = { disable, failingSince: since, throttledUntil } as const;
  const wait = waits[attempt - 1];
  if (disable !== null || wait === undefined)
    return { status: "failed", nextAttemptAt: null, ...facts, webhook };
  const next = now + Math.round(wait * (1 + jitter * chance));
  return { status: "pending", nextAttemptAt: Math.max(next, throttledUntil ?? 0), ...facts, webhook };
}

/** Retry-After in seconds or as a date; null when it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * second;
  // Date.parse alone makes a date of almost anything.
  const date = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
