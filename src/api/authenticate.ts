// Who asks, and whether he asks too often: one statement for each request, never cached, so that a revoked key is dead
// on the next request to any replica. Called by answer.ts before it reads the body.
import type { Context } from "koa";
import { touchApiKey } from "../db/api-key.ts";
import { insertRefusal, type Refusal } from "../db/audit.ts";
import { tenantDatabase } from "../db/tenant-db.ts";
import { expiredApiKey, invalidApiKey, rateLimited, tenantSuspended } from "../errors.ts";
import { hashApiKey, isApiKey, prefixOf } from "./api-key-format.ts";
import { addressOf } from "./request-facts.ts";
import type { Route, SharedDeps } from "./route.ts";

export interface Caller {
  readonly tenantId: string;
  readonly keyId: string;
}

/**
 * Who owns the key in X-API-Key; sets the headers that tell of rates. Two such headers arrive joined and are therefore
 * no key, and what cannot be a key costs nothing.
 */
export async function authenticate(ctx: Context, route: Route, deps: SharedDeps): Promise<Caller> {
  const given = ctx.req.headers["x-api-key"];
  if (typeof given !== "string" || !isApiKey(given)) throw invalidApiKey();
  const hash = hashApiKey(given);
  const ip = addressOf(ctx.req, deps.config.PLOSIVE_TRUSTED_PROXIES);
  const wait = deps.failedAuth.secondsToWait(ip, hash);
  if (wait > 0) throw rateLimited(wait);
  const own = deps.rates.policyOf(route);
  deps.rates.checkMemory(hash, own);

  const caller = await deps.findCaller(hash, {
    rate: deps.rates.default.rate,
    policy: own.number,
    policyRate: own.rate,
  });
  const refuse = (reason: Refusal["reason"], error: Error) => {
    deps.failedAuth.recordFailure(ip, hash, reason);
    const refusal = { tenantId: caller?.tenant_id ?? null, reason, prefix: prefixOf(given) };
    if (deps.failedAuth.mayAudit())
      deps.background("note a refused API key", () =>
        insertRefusal(deps.db, refusal, { ip, requestId: ctx.state.requestId }),
      );
    return error;
  };
  if (caller === null) throw refuse("unknown", invalidApiKey());
  if (caller.expired) throw refuse("expired", expiredApiKey());
  if (caller.suspended) throw refuse("suspended", tenantSuspended());
  deps.failedAuth.recordSuccess(hash);
  ctx.set(deps.rates.settle(hash, own, caller));
  const { id: keyId, tenant_id: tenantId } = caller;
  if (caller.unnoticed)
    deps.background("note the use of an API key", () =>
      touchApiKey(tenantDatabase(deps.db, tenantId), keyId),
    );
  return { tenantId, keyId };
}
