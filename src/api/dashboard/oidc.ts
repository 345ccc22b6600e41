// The OpenID provider that may sign users in: the addresses to send the browser to, and who has come back. Tokens stay in the
// memory of one request: none is stored or logged. Called by oidc-sign-in.ts.
import { readFileSync } from "node:fs";
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientSecretBasic,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
} from "openid-client";
import { z } from "zod";
import type { ApiSettings } from "../../config.ts";
import { providerUnavailable } from "../../errors.ts";
import { type Role, type RoleMappings, roles } from "../../schemas/role.ts";
import { digestOf } from "./token.ts";

/** The settings of a provider, if there is one. */
export type ProviderSettings = ApiSettings & {
  PLOSIVE_OIDC_ISSUER: string;
  PLOSIVE_OIDC_CLIENT_ID: string;
  PLOSIVE_PUBLIC_URL: string;
};

export const hasProvider = (config: ApiSettings): config is ProviderSettings =>
  config.PLOSIVE_OIDC_ISSUER !== undefined;

export interface ProviderUser {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** Of the claim that gives roles. */
  readonly values: readonly string[];
}

/** A sign-in that did not succeed although the provider responds. `reason` is for the log. */
export interface Refused {
  /** The provider said no, such as after the user has cancelled. */
  readonly isByProvider: boolean;
  readonly reason: string;
}

export interface Provider {
  /** All functions reject with providerUnavailable. `token`: a secret of the browser, from which everything else derives. */
  authorizationUrl(token: string): Promise<URL>;
  /** Exchanges the code in the query of the callback for the user. */
  userOf(token: string, query: string): Promise<ProviderUser | Refused>;
  /** Null: the provider cannot sign out. */
  endSessionUrl(): Promise<URL | null>;
}

/** A change of the provider's metadata is noticed after this time. Its keys are fetched again by themselves. */
const metadataMs = 600_000;
/** Of each request to the provider. */
const timeoutSeconds = 10;

export function makeProvider(config: ProviderSettings, clock: { now(): number }): Provider {
  const redirectUri = `${config.PLOSIVE_PUBLIC_URL}/dashboard/oidc/callback`;
  let known: { readonly made: Promise<Configuration>; readonly until: number } | undefined;

  /** Requests at the same time share one discovery. */
  const discovered = async (): Promise<Configuration> => {
    if (known === undefined || clock.now() >= known.until) {
      const made = discover(config);
      known = { made, until: clock.now() + metadataMs };
      made.catch(() => {
        if (known?.made === made) known = undefined;
      });
    }
    return await known.made.catch((error: unknown) => {
      throw providerUnavailable(error);
    });
  };

  return {
    authorizationUrl: async (token) =>
      buildAuthorizationUrl(await discovered(), {
        redirect_uri: redirectUri,
        scope: config.PLOSIVE_OIDC_SCOPES,
        state: derived("state", token),
        nonce: derived("nonce", token),
        code_challenge: await calculatePKCECodeChallenge(derived("verifier", token)),
        code_challenge_method: "S256",
      }),
    userOf: async (token, query) => {
      const provider = await discovered();
      try {
        return await userOf(provider, config, token, new URL(`${redirectUri}?${query}`));
      } catch (error) {
        if (isOutage(error)) throw providerUnavailable(error);
        return { isByProvider: error instanceof AuthorizationResponseError, reason: reasonOf(error) };
      }
    },
    endSessionUrl: async () => {
      const provider = await discovered();
      if (provider.serverMetadata().end_session_endpoint === undefined) return null;
      return buildEndSessionUrl(provider, {
        post_logout_redirect_uri: `${config.PLOSIVE_PUBLIC_URL}/dashboard/`,
      });
    },
  };
}

/** The three values must not reveal one another: the state and the nonce are in addresses. */
const derived = (purpose: "state" | "nonce" | "verifier", token: string) =>
  digestOf(`${purpose} ${token}`).toString("base64url");

async function discover(config: ProviderSettings): Promise<Configuration> {
  const issuer = new URL(config.PLOSIVE_OIDC_ISSUER);
  const file = config.PLOSIVE_OIDC_CLIENT_SECRET_FILE;
  // The file is read for each sign-in: a Secret of Kubernetes changes in running pods.
  const confidential: ReturnType<typeof None> = (...request) =>
    ClientSecretBasic(readFileSync(file ?? "", "utf8").trim())(...request);
  return await discovery(
    issuer,
    config.PLOSIVE_OIDC_CLIENT_ID,
    undefined,
    file === undefined ? None() : confidential,
    {
      timeout: timeoutSeconds,
      // Also checks the signature of the id token, beside the TLS connection that it comes from. The setting allows http to
      // a loopback host only.
      execute: [enableNonRepudiationChecks, ...(issuer.protocol === "http:" ? [allowInsecureRequests] : [])],
    },
  );
}

async function userOf(
  provider: Configuration,
  config: ProviderSettings,
  token: string,
  callback: URL,
): Promise<ProviderUser> {
  const tokens = await authorizationCodeGrant(provider, callback, {
    expectedState: derived("state", token),
    expectedNonce: derived("nonce", token),
    pkceCodeVerifier: derived("verifier", token),
    idTokenExpected: true,
  });
  const claim = config.PLOSIVE_OIDC_CLAIM;
  let claims: Record<string, unknown> = { ...tokens.claims() };
  const subject = subjects.parse(claims.sub);
  // Many providers keep the id token small.
  const isShort = claims[claim] === undefined || nameIn(claims) === undefined;
  if (isShort && provider.serverMetadata().userinfo_endpoint !== undefined)
    claims = { ...(await fetchUserInfo(provider, tokens.access_token, subject)), ...claims };
  return {
    issuer: provider.serverMetadata().issuer,
    subject,
    name: nameIn(claims) ?? subject,
    // Whoever chooses an address without owning it must not get its role.
    values: claim === "email" && claims.email_verified !== true ? [] : textsIn(claims[claim]),
  };
}

const subjects = z.string().regex(/^\P{C}{1,255}$/u);

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string");

/** For people to read: without control characters, which Postgres and terminals may not take. */
function nameIn({ name, preferred_username, email }: Record<string, unknown>): string | undefined {
  return [name, preferred_username, email]
    .flatMap(textsIn)
    .map((text) =>
      text
        .replace(/\p{C}+/gu, " ")
        .trim()
        .slice(0, 200),
    )
    .find((text) => text !== "");
}

/** Whether to try again later makes sense. */
function isOutage(error: unknown): boolean {
  const { code, cause, message } = error as { code?: string; cause?: unknown; message?: string };
  const answer = error instanceof ResponseBodyError ? error : cause;
  const status = answer instanceof Response || answer instanceof ResponseBodyError ? answer.status : 0;
  return status >= 500 || status === 429 || code === "OAUTH_TIMEOUT" || message === "fetch failed";
}

/** Causes hold claims and parameters, so only the message and the code are logged. */
function reasonOf(error: unknown): string {
  const {
    code = "",
    message,
    error: answered = "",
  } = error as { code?: string; message: string; error?: string };
  return [code, answered, message]
    .filter((text) => text !== "")
    .join(": ")
    .slice(0, 300);
}

/** The accounts in which these values give a role, in the order of the setting, each with the highest of the roles. */
export function accountsOf(
  mappings: RoleMappings,
  values: readonly string[],
): readonly { readonly tenant: string; readonly role: Role }[] {
  const found = new Map<string, Role>();
  for (const { value, tenant, role } of mappings) {
    if (!values.includes(value)) continue;
    const before = found.get(tenant);
    if (before === undefined || roles.indexOf(role) > roles.indexOf(before)) found.set(tenant, role);
  }
  return [...found].map(([tenant, role]) => ({ tenant, role }));
}
