// CORS: lets web pages of the configured origins call the API. Keys are sent in a header that pages set themselves, so
// there are no cookies and no credentials mode. Used by app.ts.
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
  "X-Next-Cursor",
  "X-Request-Id",
  "Idempotency-Replayed",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
];

/** Must wrap everything that responds, including error responses, because pages could not read these otherwise. */
export function cors(origins: readonly string[]): Middleware {
  return async (ctx, next) => {
    if (origins.length === 0) return await next();
    // Responses differ by origin, and caches must know it.
    ctx.vary("Origin");
    const origin = ctx.get("Origin");
    if (!origins.includes(origin)) return await next();
    ctx.set("Access-Control-Allow-Origin", origin);
    const isPreflight = ctx.method === "OPTIONS" && ctx.get("Access-Control-Request-Method") !== "";
    if (!isPreflight) {
      ctx.set("Access-Control-Expose-Headers", exposedHeaders.join(", "));
      return await next();
    }
    await next();
    // An unknown path has no Allow header.
    const methods = ctx.response.get("Allow");
    if (methods !== undefined) ctx.set("Access-Control-Allow-Methods", methods);
    ctx.set("Access-Control-Allow-Headers", allowedHeaders.join(", "));
    ctx.set("Access-Control-Max-Age", "600");
  };
}
