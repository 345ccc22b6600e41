// Posts one event to a receiver. Redirects are failures. Of the response only status and Retry-After are read. Called by
// sender.ts.
import type { IncomingMessage } from "node:http";
import type { DeliveryError } from "../schemas/webhook.ts";
import { type RequestDeps, reasonOf, request, requestDefaults } from "./request.ts";
import { type Attempt, parseRetryAfter } from "./schedule.ts";

export interface SendDeps extends RequestDeps {
  readonly clock: { now(): number };
  /** Limit for the whole attempt, from the DNS look-up to the end of the response. */
  readonly timeoutMs: number;
}

export interface Message {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const maxResponseBytes = 64 * 1024;

export const sendDefaults = { ...requestDefaults, timeoutMs: 15_000 };

/** Makes one attempt. Never rejects: a failure is a result too. `ended` aborts it. */
export async function send(message: Message, deps: SendDeps, ended?: AbortSignal): Promise<Attempt> {
  const timeout = AbortSignal.timeout(deps.timeoutMs);
  const signal = ended === undefined ? timeout : AbortSignal.any([timeout, ended]);
  try {
    const { url, body } = message;
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "User-Agent": "Plosive-Webhooks/1",
      ...message.headers,
    };
    const answer = await request(url, { method: "POST", headers, body }, deps, signal);
    await drain(answer);
    return attemptOf(answer, deps.clock.now());
  } catch (error) {
    const reason = reasonOf(error);
    return failure(timeout.aborted ? "timeout" : reason === "target" ? "address" : reason);
  }
}

const failure = (error: DeliveryError): Attempt => ({ status: null, error, retryAfterMs: null });

function attemptOf(answer: IncomingMessage, now: number): Attempt {
  const status = answer.statusCode ?? 0;
  const retryAfterMs = parseRetryAfter(answer.headers["retry-after"], now);
  const error = status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? "redirect" : "status";
  return { status, error, retryAfterMs };
}

/**
 * Reads and discards the body, up to 64 KiB, so that the receiver can finish its response. The status counts anyway.
 */
async function drain(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxResponseBytes) break;
    }
  } catch {
    // Cut off.
  }
  answer.destroy();
}
