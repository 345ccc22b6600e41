// Discards what is left of a body that nobody reads. Used by app.ts.
import type { IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Middleware } from "koa";
import type { ApiSettings } from "../../config.ts";
import { makeDebts } from "../debts.ts";
import { networkOf } from "../failed-auth-limiter.ts";
import { collectGarbageAfter } from "../garbage.ts";
import { addressOf } from "../request-facts.ts";

/** A client that sends more than this does so on purpose. */
const maxBytes = 64 * 1024 * 1024;
/** For all connections of the process together: Node itself would read refused bodies as fast as they come. */
const bytesPerSecond = 16 * 1024 * 1024;
/** Of a tenant, or of a network without a valid key: one client's many connections do not delay what others send. */
const bytesPerSecondOfClient = 8 * 1024 * 1024;
/** Shorter pauses are not worth a timer, so small bodies are discarded at once. */
const minPauseMs = 20;

const all = makeDebts();
const clients = makeDebts();

/** Before Koa responds: Node would begin to discard right after the response. */
export function discardUnread(config: Pick<ApiSettings, "PLOSIVE_TRUSTED_PROXIES">): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      if (!ctx.req.complete) {
        const network = networkOf(addressOf(ctx.req, config.PLOSIVE_TRUSTED_PROXIES));
        discardRest(ctx.req, ctx.state.tenantId || network);
      }
    }
  };
}

/**
 * Most clients read the response only after they have sent the whole body; if the server closed the connection earlier,
 * they would see a broken connection instead of the error.
 */
function discardRest(request: IncomingMessage, client: string): void {
  let left = maxBytes;
  /** Several pieces may come before the first one's pause. */
  let unpaid = 0;
  const drop = async (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) return void request.socket.destroy();
    collectGarbageAfter(chunk.length);
    unpaid += 1;
    // The client's own debt first: what waits for it does not count for all yet.
    await pause(request, clients.add(client, (chunk.length / bytesPerSecondOfClient) * 1_000));
    await pause(request, all.add("", (chunk.length / bytesPerSecond) * 1_000));
    unpaid -= 1;
    if (unpaid === 0) request.resume();
  };
  request.on("data", drop).resume();
}

async function pause(request: IncomingMessage, ms: number) {
  if (ms < minPauseMs) return;
  request.pause();
  await setTimeout(ms, undefined, { ref: false });
}
