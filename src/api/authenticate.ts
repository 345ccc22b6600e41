// Authenticates a request and applies its rate limits: one SQL statement per request. The result is never cached, so a
// revoked key fails on the next request to any replica. Called by answer.ts before it reads the body.
import { setTimeout } from "node:timers/promises";
import type { Context } from "koa";
import { touchApiKey } from "../db/api-key.ts";
import { insertRefusal, type Refusal } from "../db/audit.ts";
import { expiredApiKey, insufficientScope, invalidApiKey, rateLimited, tenantSuspended } from "../errors.ts";
import type { KeyScope } from "../schemas/api-key.ts";
import { hashApiKey, isApiKey, prefixOf } from "./api-key-format.ts";
import { networkOf } from "./failed-auth-limiter.ts";
import type { Pace } from "./pace.ts";
import { addressOf } from "./request-facts.ts";
import type { Call, Route, SharedDeps } from "./route.ts";

export type Caller = Pick<Call, "tenantId" | "keyId" | "scopes">;

/** Returns the scope that a request to the route needs. */
export function scopeOf({ method, path }: Pick<Route, "method" | "path">): KeyScope {
  if (/^\/api\/v1\/(auth|webhooks)(\/|$)/.test(path)) return "admin";
  return method === "GET" ? "read" : "write";
}

/**
 * Returns the tenant, id and scopes of the key in X-API-Key, and sets the RateLimit headers. Throws invalidApiKey,
 * expiredApiKey, tenantSuspended, rateLimited or insufficientScope. Text without the format of a key costs no query; Node joins repeated
 * headers into one value, which has no such format either.
 */
export async function authenticate(ctx: Context, route: Route, deps: SharedDeps): Promise<Caller> {
  const given = ctx.req.headers["x-api-key"];
  if (typeof given !== "string" || !isApiKey(given)) throw invalidApiKey();
  const hash = hashApiKey(given);
  const ip = addressOf(ctx.req, deps.config.PLOSIVE_TRUSTED_PROXIES);
  const wait = deps.failedAuth.secondsToWait(ip, hash);
  if (wait > 0) throw await paced(ctx, deps.pace, networkOf(ip), rateLimited(wait));
  const own = deps.rates.policyOf(route);
  const refusal = deps.rates.refusalOf(hash, own);
  if (refusal !== undefined) throw await paced(ctx, deps.pace, refusal.tenantId, refusal.error);

  const caller = await deps.findCaller(hash, {
    rate: deps.rates.default.rate,
    policy: own.number,
    policyRate: own.rate,
  });
  const refuse = (reason: Refusal["reason"], error: Error) => {
    deps.failedAuth.recordFailure(ip, hash, reason);
    const refusal = { tenantId: caller?.tenant_id ?? null, reason, prefix: prefixOf(given) };
    if (deps.failedAuth.mayAudit())
      deps.background("record a refused API key in the audit log", () =>
        insertRefusal(deps.db, refusal, { ip, requestId: ctx.state.requestId }),
      );
    return error;
  };
  if (caller === null) throw refuse("unknown", invalidApiKey());
  if (caller.expired) throw refuse("expired", expiredApiKey());
  if (caller.suspended) throw refuse("suspended", tenantSuspended());
  deps.failedAuth.recordSuccess(hash);
  const { id: keyId, tenant_id: tenantId, scopes } = caller;
  const needed = scopeOf(route);
  if (scopes.length > 0 && !scopes.includes(needed)) throw insufficientScope(`the scope ${needed}`, scopes);
  ctx.set(deps.rates.settle(hash, own, caller));
  if (caller.unnoticed)
    deps.background("record the use of an API key", () => touchApiKey(deps.db.asTenant(tenantId), keyId));
  return { tenantId, keyId, scopes };
}

/** Waits until this client's next refusal may be sent. A client with too many waiting ones has to connect again. */
async function paced(ctx: Context, pace: Pace, client: string, error: Error): Promise<Error> {
  const waitMs = pace(client);
  if (waitMs === null) ctx.set("Connection", "close");
  else if (waitMs > 0) await setTimeout(waitMs);
  ctx.state.pausedMs = waitMs ?? 0;
  return error;
}
