// Security headers of every response: caches must not store responses under /api, and browsers must neither render
// responses as pages nor guess their type. Used by app.ts.
import type { Middleware } from "koa";

export const secureHeaders: Middleware = async (ctx, next) => {
  ctx.set("X-Content-Type-Options", "nosniff");
  ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  ctx.set("Referrer-Policy", "no-referrer");
  if (ctx.path.startsWith("/api/")) ctx.set("Cache-Control", "no-store");
  await next();
};
