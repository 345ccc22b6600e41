// Headers of every answer: nothing under /api is stored by anyone, nothing is shown as a page or guessed at.
import type { Middleware } from "koa";

export const secureHeaders: Middleware = async (ctx, next) => {
  ctx.set("X-Content-Type-Options", "nosniff");
  ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  ctx.set("Referrer-Policy", "no-referrer");
  if (ctx.path.startsWith("/api/")) ctx.set("Cache-Control", "no-store");
  await next();
};
