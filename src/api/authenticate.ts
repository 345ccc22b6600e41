// Authenticates a request and applies its rate limits: one SQL statement per request. The result is never cached, so a
// revoked key fails on the next request to any replica. Called by answer.ts before it reads the body.
import type { Context } from "koa";
import { touchApiKey } from "../db/api-key.ts";
import { insertRefusal, type Refusal } from "../db/audit.ts";
import {
  accountChanged,
  expiredApiKey,
  insufficientRole,
  insufficientScope,
  invalidApiKey,
  rateLimited,
  sessionEnded,
  tenantSuspended,
} from "../errors.ts";
import type { KeyScope } from "../schemas/api-key.ts";
import { permissionsOf } from "../schemas/role.ts";
import { type Credential, credentialOf, tokenOf } from "./credential.ts";
import { waitForTurn } from "./pace.ts";
import { addressOf } from "./request-facts.ts";
import type { Call, Route, SharedDeps } from "./route.ts";

export type Caller = Pick<Call, "tenantId" | "keyId" | "scopes" | "session">;

/** Names the account that a page of the dashboard shows. Tabs share the session's cookie, and one may have changed the account. */
const shownAccountHeader = "x-plosive-account";

/** Returns the scope that a request to the route needs; null: any key may sign in to the dashboard. */
export function scopeOf({ method, path }: Pick<Route, "method" | "path">): KeyScope | null {
  if (path.startsWith("/dashboard/")) return null;
  if (/^\/api\/v1\/(auth|webhooks)(\/|$)/.test(path)) return "admin";
  return method === "GET" ? "read" : "write";
}

const sets = String.raw`/api/v1/datasets/\{dataset_id\}/annotation-sets`;
const labelling = new RegExp(
  String.raw`^(POST (${sets}|/api/v1/inference-jobs/\{inference_job_id\}/to-annotation-set)$|[A-Z]+ ${sets}/\{annotation_set_id\}/(annotations|reviewed|import)(/|$))`,
);

/**
 * Whether a request that needs the scope `write` changes only labels: annotations, reviewed files, new drafts. Publishing or
 * deleting a set cannot be undone, and is not among them.
 */
export const isLabelling = ({ method, path }: Pick<Route, "method" | "path">): boolean =>
  labelling.test(`${method} ${path}`);

/**
 * Returns the tenant, id and scopes of the request's key, and sets the RateLimit headers. Throws invalidApiKey,
 * expiredApiKey, tenantSuspended, rateLimited, insufficientScope, insufficientRole, sessionEnded or accountChanged. `given`:
 * the key to sign in with.
 */
export async function authenticate(
  ctx: Context,
  route: Pick<Route, "method" | "path" | "rate" | "resumable">,
  deps: SharedDeps,
  given?: Credential,
): Promise<Caller> {
  const own = deps.rates.policyOf(route);
  const refuseAgain = async (digest: Buffer, session: Buffer | null = null) => {
    const refusal = deps.rates.refusalOf(digest, own, session);
    if (refusal === undefined) return;
    await waitForTurn(ctx, deps.pace, refusal.tenantId);
    throw refusal.error;
  };
  // A session that was refused a moment ago is not looked up again.
  const token = given === undefined ? tokenOf(ctx, deps) : null;
  if (token !== null) await refuseAgain(token);
  const { hash, prefix, session } = given ?? (await credentialOf(ctx, route, deps));
  const ip = addressOf(ctx.req, deps.config.PLOSIVE_TRUSTED_PROXIES);
  const wait = deps.failedAuth.secondsToWait(ip, hash);
  if (wait > 0) throw rateLimited(wait);
  await refuseAgain(hash, session);

  const caller = await deps.findCaller(hash, {
    rate: deps.rates.default.rate,
    policy: own.number,
    policyRate: own.rate,
  });
  const refuse = (reason: Refusal["reason"], error: Error) => {
    deps.failedAuth.recordFailure(ip, hash, reason);
    const refusal = { tenantId: caller?.tenant_id ?? null, reason, prefix };
    // The log of refused keys has no place for users.
    if (prefix !== "" && deps.failedAuth.mayAudit())
      deps.background("record a refused API key in the audit log", () =>
        insertRefusal(deps.db, refusal, { ip, requestId: ctx.state.requestId }),
      );
    return error;
  };
  if (caller === null) throw refuse("unknown", prefix === "" ? sessionEnded() : invalidApiKey());
  if (caller.expired) throw refuse("expired", expiredApiKey());
  if (caller.suspended) throw refuse("suspended", tenantSuspended());
  deps.failedAuth.recordSuccess(hash);
  const { id: keyId, tenant_id: tenantId, role } = caller;
  const scopes = role === null ? caller.scopes : permissionsOf[role];
  ctx.set(deps.rates.settle(session === null ? [hash] : [hash, session], own, caller));
  const shown = ctx.get(shownAccountHeader);
  if (session !== null && shown !== "" && shown !== tenantId) throw accountChanged();
  const needed = scopeOf(route);
  const isAllowed =
    needed === null ||
    scopes.length === 0 ||
    scopes.includes(needed) ||
    (needed === "write" && scopes.includes("label") && isLabelling(route));
  if (!isAllowed)
    throw role === null
      ? insufficientScope(`the scope ${needed}`, scopes)
      : insufficientRole(role, isLabelling(route) ? "labeller or owner" : "owner");
  if (caller.unnoticed && keyId !== null)
    deps.background("record the use of an API key", () => touchApiKey(deps.db.asTenant(tenantId), keyId));
  return { tenantId, keyId, scopes, session };
}
