// The consequences of a delivery attempt as tables, and two small formats: signatures and encrypted secrets.
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import {
  afterAttempt,
  disableAfterMs,
  maxAttempts,
  parseRetryAfter,
  retryDelays,
} from "../../src/webhooks/schedule.ts";
import { formatSecret, makeSecret, makeSecretBox } from "../../src/webhooks/secret.ts";
import { signatureHeaders } from "../../src/webhooks/sign.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const failed = (status: number | null = 500, retryAfterMs: number | null = null) =>
  ({ status, error: status === null ? "timeout" : "status", retryAfterMs }) as const;

describe("after an attempt", () => {
  it("that failed, the next follows after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, then none", () => {
    const wait = (attempt: number, chance: number) =>
      ((afterAttempt(attempt, failed(), now, now, chance).nextAttemptAt ?? Number.NaN) - now) / 1000;
    const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
    expect(retryDelays.map((ms) => ms / 60_000)).toEqual(minutes);
    expect(maxAttempts).toBe(10);
    minutes.forEach((expected, i) => {
      expect(wait(i + 1, 0)).toBeCloseTo(expected * 60);
      expect(wait(i + 1, 1)).toBeCloseTo(expected * 60 * 1.1);
    });
    expect(afterAttempt(10, failed(), now, now, 0)).toMatchObject({ status: "failed", nextAttemptAt: null });
  });

  it("that succeeded, earlier failures are forgotten", () => {
    const attempt = { status: 200, error: null, retryAfterMs: null };
    expect(afterAttempt(7, attempt, now - disableAfterMs * 2, now, 0)).toEqual({
      status: "delivered",
      nextAttemptAt: null,
      lastStatus: 200,
      lastError: null,
      webhook: { disable: null, failingSince: null, throttledUntil: null },
    });
  });

  it("that failed first, its time is kept until a success", () => {
    expect(afterAttempt(1, failed(), null, now, 0).webhook.failingSince).toBe(now);
    expect(afterAttempt(1, failed(), now - 5, now, 0).webhook.failingSince).toBe(now - 5);
  });

  it.each([
    [410, now, "gone"],
    [500, now - disableAfterMs + 1, null],
    [500, now - disableAfterMs, "failing"],
    [null, now - disableAfterMs, "failing"],
  ])(
    "with answer %s, failing since %i, the reason to disable the webhook is %s",
    (status, since, disable) => {
      const outcome = afterAttempt(1, failed(status), since, now, 0);
      expect(outcome.webhook.disable).toBe(disable);
      expect(outcome.status).toBe(disable === null ? "pending" : "failed");
    },
  );

  it.each([
    [429, null, 30_000],
    [502, null, 30_000],
    [504, null, 30_000],
    [429, 120_000, 120_000],
    [429, 0, 1_000],
    [429, 10 * 3_600_000, 3_600_000],
    [500, 120_000, null],
    [503, null, null],
    [null, null, null],
  ])(
    "with answer %s and Retry-After %s, the webhook is paused for %s ms",
    (status, retryAfterMs, pauseMs) => {
      const { webhook, nextAttemptAt } = afterAttempt(1, failed(status, retryAfterMs), null, now, 0);
      expect(webhook.throttledUntil).toBe(pauseMs === null ? null : now + pauseMs);
      // The retry is never earlier than Retry-After and never earlier than the schedule.
      expect(nextAttemptAt).toBe(now + Math.max(5_000, pauseMs ?? 0));
    },
  );

  it.each([
    [undefined, null],
    ["17", 17_000],
    ["0", 0],
    ["-1", null],
    ["1.5", null],
    ["99999999999999", null],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Thu, 01 Jan 2015 00:01:00 GMT", 0],
    ["later", null],
  ])("with Retry-After %s, the requested pause is %s ms", (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });
});

describe("signatures", () => {
  const body = JSON.stringify({ type: "model.created", data: { text: "ä\n" } });

  it("are verified by the library of Standard Webhooks, and rejected after any change", () => {
    const secret = makeSecret(randomBytes);
    const receiver = new Webhook(formatSecret(secret));
    const headers = signatureHeaders("evt_1", Date.now(), body, [secret]);
    expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => receiver.verify(`${body} `, headers)).toThrow();
    expect(() => receiver.verify(body, { ...headers, "webhook-id": "evt_2" })).toThrow();
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(() => receiver.verify(body, { ...headers, "webhook-timestamp": later })).toThrow();
    const old = signatureHeaders("evt_1", Date.now() - 3_600_000, body, [secret]);
    expect(() => receiver.verify(body, old)).toThrow();
  });

  it("equal those of the library", () => {
    const secret = makeSecret(randomBytes);
    const at = new Date(now);
    const signed = new Webhook(formatSecret(secret)).sign("evt_1", at, body);
    expect(signatureHeaders("evt_1", now, body, [secret])["webhook-signature"]).toBe(signed);
  });

  it("with two secrets are verified by receivers that know either", () => {
    const [fresh, old] = [makeSecret(randomBytes), makeSecret(randomBytes)];
    const headers = signatureHeaders("evt_1", Date.now(), body, [fresh, old]);
    expect(headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    for (const secret of [fresh, old]) new Webhook(formatSecret(secret)).verify(body, headers);
    expect(() => new Webhook(formatSecret(makeSecret(randomBytes))).verify(body, headers)).toThrow();
  });
});

describe("a webhook secret", () => {
  const key = () => randomBytes(32).toString("base64");

  it("has 32 random bytes", () => {
    expect(formatSecret(makeSecret(randomBytes))).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it("is stored encrypted and can be decrypted", () => {
    const box = makeSecretBox(key(), randomBytes);
    const secret = makeSecret(randomBytes);
    const stored = box.seal(secret, "w1");
    expect(stored.includes(secret)).toBe(false);
    expect(box.open(stored, "w1")).toEqual(secret);
    expect(box.seal(secret, "w1")).not.toEqual(stored);
  });

  it("cannot be decrypted for another webhook, with another key, without a key, or after a change", () => {
    const box = makeSecretBox(key(), randomBytes);
    const stored = box.seal(makeSecret(randomBytes), "w1");
    expect(() => box.open(stored, "w2")).toThrow();
    expect(() => makeSecretBox(key(), randomBytes).open(stored, "w1")).toThrow();
    expect(() => makeSecretBox(undefined, randomBytes).open(stored, "w1")).toThrow();
    const changed = Buffer.from(stored);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    expect(() => box.open(changed, "w1")).toThrow();
  });

  it("that was stored before an encryption key existed stays readable", () => {
    const secret = makeSecret(randomBytes);
    const stored = makeSecretBox(undefined, randomBytes).seal(secret, "w1");
    expect(makeSecretBox(key(), randomBytes).open(stored, "w1")).toEqual(secret);
  });

  it("is not encrypted with a key of another length", () => {
    expect(() => makeSecretBox(randomBytes(16).toString("base64"), randomBytes)).toThrow("32 bytes");
  });
});
