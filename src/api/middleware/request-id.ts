// Gives every request an id, which is in its response and its log lines: the client's own X-Request-Id if it is well
// formed, else a new one. Used by app.ts.
import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";

const wellFormed = /^[A-Za-z0-9._-]{8,128}$/;

export const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get("X-Request-Id");
  ctx.state.requestId = wellFormed.test(given) ? given : randomUUID();
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};
