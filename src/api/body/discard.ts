// Discards what is left of a body that nobody reads. Used by app.ts.
import type { IncomingMessage } from "node:http";
import type { Middleware } from "koa";
import { collectGarbageAfter } from "../garbage.ts";

/** A client that sends more than this does so on purpose. */
const maxBytes = 64 * 1024 * 1024;
/** For all connections of the process together: Node itself would read refused bodies as fast as they come. */
const bytesPerSecond = 16 * 1024 * 1024;
/** Shorter pauses are not worth a timer, so small bodies are discarded at once. */
const minPauseMs = 20;
let isPaidAt = 0;

/** Before Koa responds: Node would begin to discard right after the response. */
export const discardUnread: Middleware = async (ctx, next) => {
  try {
    await next();
  } finally {
    discardRest(ctx.req);
  }
};

/**
 * Most clients read the response only after they have sent the whole body; if the server closed the connection earlier,
 * they would see a broken connection instead of the error.
 */
function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  let left = maxBytes;
  const drop = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) return void request.socket.destroy();
    collectGarbageAfter(chunk.length);
    const now = performance.now();
    isPaidAt = Math.max(isPaidAt, now) + (chunk.length / bytesPerSecond) * 1_000;
    if (isPaidAt - now < minPauseMs) return;
    request.pause();
    setTimeout(() => request.resume(), isPaidAt - now).unref();
  };
  request.on("data", drop).resume();
}
