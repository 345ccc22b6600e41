// /dashboard/oidc: signs users in through an OpenID provider (docs/dashboard.md#openid-connect). Browsers open these paths as
// pages, so every outcome is a redirect to a page of the dashboard. Called by dashboard.ts.
import type { Context } from "koa";
import { insertUserSession } from "../../db/dashboard-session.ts";
import { acquireBoth, BusyError, makeKeyedSemaphore, makeSemaphore } from "../../db/driver/semaphore.ts";
import {
  AppError,
  accountUnavailable,
  crossSiteRequest,
  insecureConnection,
  noRole,
  providerUnavailable,
  rateLimited,
  routeNotFound,
  signInFailed,
  signInRefused,
} from "../../errors.ts";
import { lookUp } from "../credential.ts";
import { networkOf } from "../failed-auth-limiter.ts";
import { addressOf } from "../request-facts.ts";
import type { SharedDeps } from "../route.ts";
import { cookieNameFor, signInCookieText, valueIn } from "./cookie.ts";
import { accountsOf, hasProvider, makeProvider, type Provider, type ProviderUser } from "./oidc.ts";
import { originOf, startSession } from "./session.ts";
import { digestOf, isToken, makeToken } from "./token.ts";

export const oidcPrefix = "/dashboard/oidc/";

/** Waits for a place among the requests to the provider, and returns the function that leaves it. */
type EnterProvider = (network: string) => Promise<() => void>;
type Answer = (
  ctx: Context,
  deps: SharedDeps,
  provider: Provider,
  enterProvider: EnterProvider,
) => Promise<string>;

/**
 * Sign-ins at the same time that wait for the provider. Anybody can begin one, and a provider may throttle the service for
 * too many: then nobody could sign in.
 */
const places = { all: 10, network: 2 };
const maxWaitMs = 10_000;

function makeEnterProvider(): EnterProvider {
  const all = makeSemaphore(places.all, maxWaitMs, () =>
    providerUnavailable(new BusyError(`${places.all} sign-ins already wait for it`)),
  );
  const ofNetwork = makeKeyedSemaphore(places.network, maxWaitMs, () => rateLimited(maxWaitMs / 1_000));
  return (network) => acquireBoth(() => ofNetwork(network), all.acquire);
}

/**
 * Throws crossSiteRequest if a page of another site has opened the path: it could switch the user to another account. A typed
 * address or a bookmark has "none"; browsers that do not say where they come from are let through.
 */
function requireOwnPage({ headers }: Context): void {
  if (!["same-origin", "none", undefined].includes(headers["sec-fetch-site"] as string | undefined))
    throw crossSiteRequest();
}

/** Sends the browser to the provider. The cookie binds what comes back to this browser. */
const start: Answer = async (ctx, deps, provider) => {
  requireOwnPage(ctx);
  const name = nameOf(ctx, deps);
  const token = makeToken(deps.random);
  const url = await provider.authorizationUrl(token);
  const query = new URLSearchParams(ctx.querystring);
  const page = Buffer.from(pageIn(query.get("return") ?? "")).toString("base64url");
  const tenant = (query.get("tenant") ?? "")
    .replace(/[^\w-]/g, "")
    .slice(0, 36)
    .toLowerCase();
  ctx.append("Set-Cookie", signInCookieText(name, `${token}.${tenant}.${page}`));
  return url.href;
};

/** The provider has sent the browser back. */
const callback: Answer = async (ctx, deps, provider, enterProvider) => {
  const name = nameOf(ctx, deps);
  const [token = "", tenant = "", page = ""] = (valueIn(ctx.req, name) ?? "").split(".");
  ctx.append("Set-Cookie", signInCookieText(name, null));
  if (!isToken(token)) throw signInFailed();
  const leave = await enterProvider(networkOf(addressOf(ctx.req, deps.config.PLOSIVE_TRUSTED_PROXIES)));
  const user = await userOf(ctx, deps, provider, token).finally(leave);
  const accounts = accountsOf(deps.config.PLOSIVE_OIDC_ROLES, user.values);
  const chosen = tenant === "" ? accounts[0] : accounts.find((account) => account.tenant === tenant);
  if (chosen === undefined) {
    const { issuer, subject, values } = user;
    const line = { issuer, subject, values: values.slice(0, 50), requestId: ctx.state.requestId };
    deps.log.warn(line, "a user of the OpenID provider has no role; PLOSIVE_OIDC_ROLES gives roles");
    throw noRole();
  }
  const others = accounts.filter((account) => account !== chosen).map((account) => account.tenant);
  await startSession(ctx, deps, async (digest) => {
    const made = { ...user, role: chosen.role, accounts: others };
    const db = deps.db.asTenant(chosen.tenant);
    if (!(await insertUserSession(db, chosen.tenant, digest, made, originOf(ctx, deps))))
      throw accountUnavailable();
  });
  ctx.state.tenantId = chosen.tenant;
  return `../${pageIn(Buffer.from(page, "base64url").toString())}`;
};

/** After the session has ended here: signs the user out at the provider too, if it can do so and responds. */
const end: Answer = async (ctx, _, provider) => {
  requireOwnPage(ctx);
  return (await provider.endSessionUrl().catch(() => null))?.href ?? "../";
};

const answers: Readonly<Record<string, Answer>> = { start, callback, end };

/** Returns the function that answers a GET below /dashboard/oidc/. Without a provider, the paths are unknown. */
export function makeOidcSignIn(deps: SharedDeps): (ctx: Context) => Promise<void> {
  const provider = hasProvider(deps.config) ? makeProvider(deps.config, deps.clock) : undefined;
  const enterProvider = makeEnterProvider();
  return async (ctx) => {
    const answer = answers[ctx.path.slice(oidcPrefix.length)];
    if (provider === undefined || answer === undefined) throw routeNotFound();
    ctx.state.route = ctx.path;
    const answered = answer(ctx, deps, provider, enterProvider);
    ctx.set("Location", await answered.catch((error) => refusal(ctx, deps, error)));
    ctx.status = 303;
  };
}

/** The page that says what went wrong. The fragment reaches no server and no log. */
function refusal(ctx: Context, { log }: SharedDeps, error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  const { requestId } = ctx.state;
  ctx.state.code = error.code;
  if (error.status >= 500) log.warn({ reason: String(error.cause), requestId }, error.message);
  return `../sign-in#${new URLSearchParams({ refused: error.code, request: requestId })}`;
}

/** Throws insecureConnection. */
function nameOf(ctx: Context, { config }: SharedDeps): string {
  const name = cookieNameFor(ctx.req, config);
  if (name === null) throw insecureConnection();
  return name.replace("session", "sign_in");
}

/**
 * Answers that lead to no user count as failed authentications, those of sign-ins that this one waited for too. Throws
 * signInRefused, signInFailed or rateLimited.
 */
async function userOf(
  ctx: Context,
  deps: SharedDeps,
  provider: Provider,
  token: string,
): Promise<ProviderUser> {
  let isByProvider = false;
  const user = await lookUp(ctx, deps, digestOf(ctx.querystring), async () => {
    const found = await provider.userOf(token, ctx.querystring);
    if (!("reason" in found)) return found;
    isByProvider = found.isByProvider;
    const { requestId } = ctx.state;
    deps.log.warn({ reason: found.reason, requestId }, "a sign-in through the OpenID provider failed");
    return null;
  });
  if (user === null) throw isByProvider ? signInRefused() : signInFailed();
  return user;
}

/** Returns path and query of a page of the dashboard, relative to /dashboard/; the first page for anything else. */
function pageIn(text: string): string {
  const base = "http://dashboard/dashboard/";
  const url = URL.parse(`./${text}`, base);
  if (text.length > 1_000 || url === null || !url.href.startsWith(base)) return "";
  return `${url.pathname}${url.search}`.slice("/dashboard/".length).replace(/^\/+/, "");
}
