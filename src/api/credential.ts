// What authenticates a request: an API key, given in X-API-Key or found by a session of the dashboard, or the session itself
// if it is a user's. A request counts only the one that its path is for: the other one is ignored. Called by authenticate.ts
// and dashboard/session.ts.
import type { Context } from "koa";
import { maybeOneKeyOfSession, useSignInLink } from "../db/dashboard-session.ts";
import { invalidApiKey, rateLimited, sessionEnded, signInLinkUsed } from "../errors.ts";
import { hashApiKey, isApiKey, prefixOf } from "./api-key-format.ts";
import { tokenIn } from "./dashboard/cookie.ts";
import { digestOf } from "./dashboard/token.ts";
import { addressOf } from "./request-facts.ts";
import type { Route, SharedDeps } from "./route.ts";

export interface Credential {
  /** Digest of the API key; of the token for a session of a user. */
  readonly hash: Buffer;
  /** First 8 characters of the API key; empty for a session of a user. */
  readonly prefix: string;
  /** Digest of the session's token; null without a session. */
  readonly session: Buffer | null;
}

/** Throws invalidApiKey, sessionEnded or rateLimited. `ctx.state.usesSession` is set by dashboard/dashboard.ts. */
export async function credentialOf(
  ctx: Context,
  route: Pick<Route, "resumable">,
  deps: SharedDeps,
): Promise<Credential> {
  const session = tokenOf(ctx, deps);
  if (session === null) return credentialOfKey(ctx.req.headers["x-api-key"]);
  // An event stream reconnects by itself, and would keep a session alive that nobody uses.
  const touches = !route.resumable;
  const key = await lookUp(ctx, deps, session, () => maybeOneKeyOfSession(deps.db, session, touches));
  if (key === null) throw sessionEnded();
  return { hash: key.key_hash, prefix: key.key_prefix, session };
}

/** Returns the digest of the session's token; null if the path is not for sessions. Throws sessionEnded. */
export function tokenOf(ctx: Context, { config }: Pick<SharedDeps, "config">): Buffer | null {
  if (!ctx.state.usesSession) return null;
  const token = tokenIn(ctx.req, config);
  if (token === undefined) throw sessionEnded();
  return digestOf(token);
}

/**
 * Text without the format of a key costs no query; Node joins repeated headers into one value, which has no such format
 * either. Throws invalidApiKey.
 */
export function credentialOfKey(given: string | string[] | undefined): Credential {
  if (typeof given !== "string" || !isApiKey(given)) throw invalidApiKey();
  return { hash: hashApiKey(given), prefix: prefixOf(given), session: null };
}

/** Uses up the link. Throws signInLinkUsed or rateLimited. */
export async function credentialOfLink(ctx: Context, token: string, deps: SharedDeps): Promise<Credential> {
  const digest = digestOf(token);
  const key = await lookUp(ctx, deps, digest, () => useSignInLink(deps.db, digest));
  if (key === null) throw signInLinkUsed();
  return { hash: key.key_hash, prefix: key.key_prefix, session: null };
}

/** Looks up a token by its digest. One that is not found counts as a failed authentication. Throws rateLimited. */
export async function lookUp<T>(
  ctx: Context,
  { failedAuth, config }: Pick<SharedDeps, "failedAuth" | "config">,
  digest: Buffer,
  find: () => Promise<T | null>,
): Promise<T | null> {
  const ip = addressOf(ctx.req, config.PLOSIVE_TRUSTED_PROXIES);
  const wait = failedAuth.secondsToWait(ip, digest);
  if (wait > 0) throw rateLimited(wait);
  const found = await find();
  if (found === null) failedAuth.recordFailure(ip, digest, "token");
  else failedAuth.recordSuccess(digest);
  return found;
}
