// Everything under /dashboard (docs/dashboard.md): the web app, the session, and the REST API for pages that have a session.
// Middleware and not routes, so the OpenAPI description does not list it. Used by app.ts.
import type { IncomingMessage } from "node:http";
import type { Context, Middleware } from "koa";
import { crossSiteRequest, methodNotAllowed } from "../../errors.ts";
import type { SharedDeps } from "../route.ts";
import { makeOidcSignIn, oidcPrefix } from "./oidc-sign-in.ts";
import { makePages } from "./pages.ts";
import { sessionMethods, sessionPath } from "./session.ts";

const prefix = "/dashboard";
const writes = ["POST", "PUT", "PATCH", "DELETE"];

/** If the dashboard is disabled, its paths are unknown. */
export function dashboard(deps: SharedDeps): Middleware {
  const sendFile = makePages(deps);
  const signInByProvider = makeOidcSignIn(deps);
  return async (ctx, next) => {
    const { path } = ctx;
    const isOurs = path === prefix || path.startsWith(`${prefix}/`);
    if (!isOurs || !deps.config.PLOSIVE_DASHBOARD_ENABLED) return await next();
    ctx.set("Cache-Control", "no-store");
    ctx.set("Cross-Origin-Resource-Policy", "same-origin");
    if (writes.includes(ctx.method) && !isSameOrigin(ctx.req)) throw crossSiteRequest();
    if (path.startsWith(`${prefix}/api/`)) {
      // From here on it is a request to the REST API, with another credential.
      ctx.state.usesSession = true;
      ctx.path = path.slice(prefix.length);
      return await next();
    }
    if (path === sessionPath) {
      ctx.state.route = path;
      if (isAllowed(ctx, Object.keys(sessionMethods))) await sessionMethods[ctx.method]?.(ctx, deps);
    } else if (path.startsWith(oidcPrefix)) {
      if (isAllowed(ctx, ["GET"])) await signInByProvider(ctx);
    } else if (isAllowed(ctx, ["GET", "HEAD"])) {
      if (path === prefix) redirect(ctx);
      else await sendFile(ctx);
    }
  };
}

/** Browsers send Sec-Fetch-Site, and pages cannot change it. Older ones send Origin with every write. */
function isSameOrigin({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { origin = "", host } = headers;
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

/** Whether to answer the method. Answers OPTIONS itself. Throws methodNotAllowed. */
function isAllowed(ctx: Context, methods: readonly string[]): boolean {
  if (methods.includes(ctx.method)) return true;
  const allow = [...methods, "OPTIONS"].sort();
  if (ctx.method !== "OPTIONS") throw methodNotAllowed(allow);
  ctx.set("Allow", allow.join(", "));
  ctx.status = 204;
  return false;
}

/** Relative, so that a path prefix that a proxy removed is kept. */
function redirect(ctx: Context): void {
  ctx.state.route = prefix;
  ctx.set("Location", `dashboard/${ctx.search}`);
  ctx.status = 308;
}
