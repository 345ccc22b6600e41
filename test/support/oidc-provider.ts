// An OpenID provider (oidc-provider) on a loopback port, which asks for no password: `const provider = useProvider(publicUrl)`.
// Tests choose who signs in, and may change what its id tokens say.
/// <reference path="./oidc-provider-types.d.ts" />
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import Provider, { type Context } from "oidc-provider";
import { afterAll, beforeAll } from "vitest";
import { send } from "./dashboard.ts";

export const clientSecret = "a secret + more / than % words";

export interface TestProvider {
  issuer: string;
  /** Claims of whoever signs in next; `sub` names the user. Null: the user cancels. */
  user: ({ readonly sub: string } & Record<string, unknown>) | null;
  /** Changes the claims and the header of the next id tokens. */
  claims: (claims: Record<string, unknown>, header: Record<string, unknown>) => unknown;
  /** Signs the next id tokens. */
  key: KeyObject;
  /** Answers each request of a client with this status instead. */
  status: number | undefined;
  readonly ownKey: KeyObject;
  /** Requests to the token endpoint. */
  exchanges: number;
  /** Requests for the metadata. */
  discoveries: number;
  /** How long a request to the token endpoint takes. */
  exchangeMs: number;
  /** Requests to the token endpoint at the same time, at most so far. */
  mostExchanges: number;
  /** Opens the address as a new browser, and returns the address to which the provider sends it back. */
  follow(url: string): Promise<URL>;
  stop(): Promise<void>;
  resume(): Promise<void>;
}

/** `publicUrl`: returns the address of the service, once the tests run. */
export function useProvider(publicUrl: () => string): TestProvider {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let server: Server | undefined;
  let port = 0;
  const state = {
    issuer: "",
    user: null as TestProvider["user"],
    claims: ((claims) => claims) as TestProvider["claims"],
    key: privateKey,
    status: undefined as number | undefined,
    exchanges: 0,
    discoveries: 0,
    exchangeMs: 0,
    mostExchanges: 0,
  };
  const users = new Map<string, Record<string, unknown>>();
  const listen = async () => {
    server = createServer();
    await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
    state.issuer = `http://127.0.0.1:${port}`;
    const provider = makeProvider(state.issuer, publicUrl(), privateKey, users, state);
    const answer = provider.callback();
    server.on("request", async (request, response) => {
      if (!request.url?.startsWith("/interaction/")) return answer(request, response);
      // A real browser gets a page with a link, because cookies depend on the site from which a request begins.
      if (request.headers.accept?.includes("text/html") && !request.url.endsWith("?on")) {
        response.setHeader("Content-Type", "text/html");
        response.end(`<h1>Provider</h1><a href="${request.url}?on">Sign in there</a>`);
        return;
      }
      const { user } = state;
      if (user !== null) users.set(user.sub, user);
      const result = user === null ? { error: "access_denied" } : { login: { accountId: user.sub } };
      await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    });
  };
  const stop = async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  };
  beforeAll(listen);
  afterAll(stop);
  return Object.assign(state, {
    ownKey: privateKey,
    stop,
    resume: listen,
    async follow(url: string): Promise<URL> {
      const cookies = new Map<string, string>();
      let next = new URL(url);
      while (next.host === `127.0.0.1:${port}`) {
        const Cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
        const answer = await send(next.origin, "GET", next.pathname + next.search, { headers: { Cookie } });
        for (const cookie of answer.headers["set-cookie"] ?? []) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
          cookies.set(name, value);
        }
        if (answer.headers.location === undefined)
          throw new Error(`${next}: ${answer.status} ${answer.text}`);
        next = new URL(answer.headers.location, next);
      }
      return next;
    },
  });
}

type State = Pick<
  TestProvider,
  "claims" | "key" | "status" | "exchanges" | "discoveries" | "exchangeMs" | "mostExchanges"
>;

function makeProvider(
  issuer: string,
  publicUrl: string,
  key: KeyObject,
  users: ReadonlyMap<string, Record<string, unknown>>,
  state: State,
) {
  const client = {
    redirect_uris: [`${publicUrl}/dashboard/oidc/callback`],
    post_logout_redirect_uris: [`${publicUrl}/dashboard/`],
  };
  const provider = new Provider(issuer, {
    clients: [
      { ...client, client_id: "plosive", client_secret: clientSecret },
      { ...client, client_id: "public", token_endpoint_auth_method: "none" },
    ],
    jwks: { keys: [{ ...key.export({ format: "jwk" }), kid: "own", alg: "RS256", use: "sig" }] },
    cookies: { keys: ["of a test"] },
    scopes: ["openid", "profile", "email", "groups"],
    claims: {
      openid: ["sub"],
      profile: ["name", "preferred_username"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        logoutSource: async (ctx: Context, form: string) => {
          ctx.body = `<h1>Provider</h1>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out there</button>`;
        },
      },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    ttl: {
      Session: 600,
      Interaction: 600,
      Grant: 600,
      AccessToken: 600,
      IdToken: 600,
      AuthorizationCode: 60,
    },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ ...users.get(sub), sub }),
    }),
    // Nobody is asked for consent.
    loadExistingGrant: async ({ oidc }: Context) => {
      const { client, session } = oidc;
      const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
  });
  let running = 0;
  provider.use(async (ctx, next) => {
    const isOfClient = ["/token", "/me", "/jwks", "/.well-known/openid-configuration"].includes(ctx.path);
    if (ctx.path.startsWith("/.well-known/")) state.discoveries += 1;
    if (isOfClient && state.status !== undefined) {
      ctx.status = state.status;
      ctx.body = "as a test wants";
      return;
    }
    if (ctx.path !== "/token") return await next();
    running += 1;
    state.mostExchanges = Math.max(state.mostExchanges, running);
    await setTimeout(state.exchangeMs);
    await next();
    running -= 1;
    state.exchanges += 1;
    const body = ctx.body as { id_token?: string | undefined };
    if (body.id_token !== undefined) body.id_token = changed(body.id_token, state);
  });
  return provider;
}

/** Signs other claims. The header may say another algorithm. */
function changed(idToken: string, { claims, key }: State): string | undefined {
  const [header, payload] = idToken
    .split(".")
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  const told = claims(payload, header);
  if (told === undefined) return undefined;
  const text = [header, told]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = header.alg === "none" ? "" : sign("sha256", Buffer.from(text), key).toString("base64url");
  return `${text}.${signature}`;
}
