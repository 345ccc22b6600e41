// Gives every request an id, which is in its response and its log lines: the client's own X-Request-Id if it is well
// formed, else a new one. Used by app.ts, and by server.ts for requests that do not reach the app.
import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";

const wellFormed = /^[A-Za-z0-9._-]{8,128}$/;

export const requestIdOf = (given: unknown) =>
  typeof given === "string" && wellFormed.test(given) ? given : randomUUID();

export const requestId: Middleware = async (ctx, next) => {
  ctx.state.requestId = requestIdOf(ctx.get("X-Request-Id"));
  ctx.set("X-Request-Id", ctx.state.requestId);
  await next();
};
