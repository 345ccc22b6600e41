// Gives every request an id that stands in its answer and in its log lines: the caller's own if it is a decent one.
import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";

const acceptable = /^[A-Za-z0-9._-]{8,128}$/;

export const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get("X-Request-Id");
  ctx.state.requestId = acceptable.test(given) ? given : randomUUID();
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};
