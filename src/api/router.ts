// Makes the table of routes answer requests: each step of a request in the order that design 2.0.5 fixes.
// Unknown path or method, then the key, then the body as such, then its fields, then the handler.
import { Readable } from "node:stream";
import Router from "@koa/router";
import type { Context, Middleware } from "koa";
import { methodNotAllowed, routeNotFound } from "../errors.ts";
import { authenticate } from "./authenticate.ts";
import { readBody } from "./read-body.ts";
import type { HandlerDeps, Reply, Route } from "./route.ts";
import { fromQuery, validateParts } from "./validate.ts";

const defaultMaxBodyBytes = 1024 * 1024;

/** The middleware that answers every request, known route or not. */
export function makeRouter(routes: readonly Route[], deps: HandlerDeps): Middleware[] {
  const router = new Router({ strict: true, sensitive: true });
  for (const route of routes) {
    const path = route.path.replace(/\{(\w+)\}/g, ":$1");
    router.register(path, [route.method.toLowerCase()], (ctx: Context) => {
      if (!mostLiteral(ctx).some((layer) => layer.path === path)) throw methodNotAllowed(allowedMethods(ctx));
      return answer(ctx, route, deps);
    });
  }
  return [
    router.routes() as Middleware,
    (ctx) => {
      const methods = allowedMethods(ctx);
      if (methods.length === 0) throw routeNotFound();
      if (ctx.method !== "OPTIONS") throw methodNotAllowed(methods);
      ctx.set("Allow", methods.join(", "));
      ctx.status = 204;
    },
  ];
}

interface Layer {
  readonly path: string | RegExp;
  readonly methods: string[];
  readonly paramNames: readonly unknown[];
}

/** `.../upload-url` is a path of its own and not the file with the id `upload-url`. */
function mostLiteral(ctx: Context): Layer[] {
  const matched = (ctx.matched ?? []) as Layer[];
  const least = Math.min(...matched.map((layer) => layer.paramNames.length));
  return matched.filter((layer) => layer.paramNames.length === least);
}

/** Empty when the path is unknown. */
function allowedMethods(ctx: Context): string[] {
  const methods = mostLiteral(ctx).flatMap((layer) => layer.methods);
  return methods.length === 0 ? [] : [...new Set([...methods, "OPTIONS"])].sort();
}

async function answer(ctx: Context, route: Route, deps: HandlerDeps): Promise<void> {
  ctx.state.route = route.path;
  const tenantId = route.auth === false ? "" : await authenticate(ctx.req, deps);
  ctx.state.tenantId = tenantId;
  let given =
    route.body === undefined ? undefined : await readBody(ctx.req, route.maxBodyBytes ?? defaultMaxBodyBytes);
  if (given === undefined && route.bodyOptional) given = {};
  const [params, query, body] = validateParts([
    { part: "path", schema: route.params, value: ctx.params },
    {
      part: "query",
      schema: route.query,
      value: route.query && fromQuery(route.query, new URLSearchParams(ctx.querystring)),
    },
    { part: "body", schema: route.body, value: given },
  ]);
  send(ctx, route, await route.handler({ params, query, body, tenantId, deps }));
}

function send(ctx: Context, route: Route, reply: Reply): void {
  for (const [name, value] of Object.entries(reply.headers ?? {})) ctx.set(name, value);
  if (reply.location !== undefined) ctx.set("Location", reply.location);
  ctx.status = reply.status ?? route.answer.status;
  if (reply.stream !== undefined) {
    ctx.type = "application/json; charset=utf-8";
    ctx.body = Readable.from(reply.stream);
  } else if (reply.body !== undefined) {
    ctx.type = route.answer.contentType ?? "application/json; charset=utf-8";
    ctx.body = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
  }
}
