// Lets pages of other origins call the API from a browser, if any are allowed at all. Keys travel in a
// header that pages set themselves, so no cookies and no credentials mode.
import type { Middleware } from "koa";

const allowedHeaders = [
  "X-API-Key",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Last-Event-ID",
  "X-Request-Id",
  "traceparent",
];
const exposedHeaders = [
  "Location",
  "ETag",
  "X-Annotation-Set-ETag",
  "X-Total-Count",
  "X-Request-Id",
  "Idempotency-Replayed",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
];

/** Goes around everything that answers, errors too: a page could not read them otherwise. */
export function cors(origins: readonly string[]): Middleware {
  return async (ctx, next) => {
    if (origins.length === 0) return await next();
    // Answers differ by origin; what keeps them must know.
    ctx.vary("Origin");
    const origin = ctx.get("Origin");
    if (!origins.includes(origin)) return await next();
    ctx.set("Access-Control-Allow-Origin", origin);
    const isQuestion = ctx.method === "OPTIONS" && ctx.get("Access-Control-Request-Method") !== "";
    if (!isQuestion) {
      ctx.set("Access-Control-Expose-Headers", exposedHeaders.join(", "));
      return await next();
    }
    await next();
    // A path that is not there has no methods.
    const methods = ctx.response.get("Allow");
    if (methods !== undefined) ctx.set("Access-Control-Allow-Methods", methods);
    ctx.set("Access-Control-Allow-Headers", allowedHeaders.join(", "));
    ctx.set("Access-Control-Max-Age", "600");
  };
}
