// /dashboard/session: signs in with an API key or a sign-in link, shows the session, signs out. Called by dashboard.ts and
// oidc-sign-in.ts.
import type { Context } from "koa";
import { endSession, insertSession, maybeOneAccount, oneSession } from "../../db/dashboard-session.ts";
import { insecureConnection } from "../../errors.ts";
import { dashboardSession, signInBody } from "../../schemas/dashboard.ts";
import { authenticate, type Caller } from "../authenticate.ts";
import { readBody } from "../body/read.ts";
import { expectedBytes, readBytes } from "../body/receive.ts";
import { credentialOfKey, credentialOfLink, lookUp } from "../credential.ts";
import { addressOf } from "../request-facts.ts";
import type { SharedDeps } from "../route.ts";
import { valuesOf } from "../validate.ts";
import { viewOf } from "../view.ts";
import { cookieNameFor, cookieText, tokenIn } from "./cookie.ts";
import { digestOf, makeToken } from "./token.ts";

export const sessionPath = "/dashboard/session";
const maxBodyBytes = 4_096;
const viewSession = viewOf(dashboardSession);

type Answer = (ctx: Context, deps: SharedDeps) => Promise<void>;

const signIn: Answer = async (ctx, deps) => {
  if (cookieNameFor(ctx.req, deps.config) === null) throw insecureConnection();
  const { api_key, sign_in_token } = await bodyOf(ctx);
  const credential =
    sign_in_token === undefined ? credentialOfKey(api_key) : await credentialOfLink(ctx, sign_in_token, deps);
  const caller = await authenticate(ctx, { method: "POST", path: sessionPath }, deps, credential);
  const { tenantId } = caller;
  // A credential that was given is a key.
  const keyId = caller.keyId as string;
  const session = await startSession(ctx, deps, async (digest) => {
    const made = { digest, keyId, prefix: credential.prefix };
    const by = { actorKeyId: keyId, ...originOf(ctx, deps) };
    await insertSession(deps.db.asTenant(tenantId), tenantId, made, by);
  });
  ctx.set("Location", "session");
  await show(ctx, deps, { tenantId, session }, 201);
};

/** Gives the browser a session in place of the one that it had, and returns the digest of its token. */
export async function startSession(
  ctx: Context,
  deps: SharedDeps,
  insert: (digest: Buffer) => Promise<void>,
): Promise<Buffer> {
  const name = cookieNameFor(ctx.req, deps.config);
  if (name === null) throw insecureConnection();
  const present = tokenIn(ctx.req, deps.config);
  const token = makeToken(deps.random);
  const digest = digestOf(token);
  await insert(digest);
  if (present !== undefined) await endSession(deps.db, digestOf(present), originOf(ctx, deps));
  ctx.append("Set-Cookie", cookieText(name, token));
  return digest;
}

const read: Answer = async (ctx, deps) => {
  ctx.state.usesSession = true;
  await show(ctx, deps, await authenticate(ctx, { method: "GET", path: sessionPath }, deps), 200);
};

/** Needs no valid key: whoever has the token may end its session. */
const signOut: Answer = async (ctx, deps) => {
  const token = tokenIn(ctx.req, deps.config);
  if (token !== undefined) {
    const digest = digestOf(token);
    const end = () => endSession(deps.db, digest, originOf(ctx, deps));
    await lookUp(ctx, deps, digest, async () => (await end()) || null);
  }
  const name = cookieNameFor(ctx.req, deps.config);
  if (name !== null) ctx.set("Set-Cookie", cookieText(name, null));
  ctx.status = 204;
};

export const sessionMethods: Readonly<Record<string, Answer>> = { GET: read, POST: signIn, DELETE: signOut };

async function show(
  ctx: Context,
  deps: SharedDeps,
  { tenantId, session }: Pick<Caller, "tenantId" | "session">,
  status: number,
): Promise<void> {
  ctx.state.tenantId = tenantId;
  const row = await oneSession(deps.db.asTenant(tenantId), tenantId, session as Buffer);
  const accounts = [];
  for (const id of row.accounts) {
    const name = await maybeOneAccount(deps.db.asTenant(id), id);
    if (name !== null) accounts.push({ id, name });
  }
  ctx.body = viewSession({ ...row, accounts });
  ctx.status = status;
}

export const originOf = (ctx: Context, { config }: SharedDeps) => ({
  ip: addressOf(ctx.req, config.PLOSIVE_TRUSTED_PROXIES),
  requestId: ctx.state.requestId as string,
});

/** Anybody may send this body, so it is small, and its memory is not a tenant's. */
async function bodyOf(ctx: Context) {
  const type = "application/json";
  const memory = Buffer.alloc(expectedBytes(ctx.req, maxBodyBytes, type));
  const bytes = await readBytes(ctx.req, memory, type);
  const [body] = valuesOf([readBody(signInBody, { bytes, type, optional: false })]);
  return body as { api_key?: string; sign_in_token?: string };
}
