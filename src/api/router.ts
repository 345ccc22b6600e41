// Finds the route of each request: 404 for unknown paths, 405 for unsupported methods. Called by app.ts; answer.ts
// handles the request then.
import Router, { type Layer } from "@koa/router";
import type { Context, Middleware } from "koa";
import { methodNotAllowed, routeNotFound } from "../errors.ts";
import { answer } from "./answer.ts";
import type { Route, SharedDeps } from "./route.ts";

/** Returns the middleware that responds to every request, also to those without a route. */
export function makeRouter(routes: readonly Route[], deps: SharedDeps): Middleware[] {
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

/** Prefers literal path segments over parameters: `.../upload-url` is not the file with the id `upload-url`. */
function mostLiteral(ctx: Context): Layer[] {
  const matched = (ctx.matched ?? []) as Layer[];
  const least = Math.min(...matched.map((layer) => layer.paramNames.length));
  return matched.filter((layer) => layer.paramNames.length === least);
}

/** Returns the methods of the path; empty if the path is unknown. */
function allowedMethods(ctx: Context): string[] {
  const methods = mostLiteral(ctx).flatMap((layer) => layer.methods);
  return methods.length === 0 ? [] : [...new Set([...methods, "OPTIONS"])].sort();
}
