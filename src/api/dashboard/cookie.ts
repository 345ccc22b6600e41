// The cookie that holds the token of a session, and the one that lasts while a user signs in at an OpenID provider. Their
// names depend on the connection, so that nobody on the way of a plain http request can plant a cookie that counts on https.
// Called by credential.ts, session.ts and oidc-sign-in.ts.
import type { IncomingMessage } from "node:http";
import type { ApiSettings } from "../../config.ts";
import { isToken } from "./token.ts";

type Settings = Pick<ApiSettings, "PLOSIVE_TRUSTED_PROXIES" | "PLOSIVE_DASHBOARD_INSECURE">;

/** Returns the name of the cookie; null if the connection must not have a session. */
export function cookieNameFor(request: IncomingMessage, settings: Settings): string | null {
  // Browsers accept Secure cookies from a loopback host without https. The prefix __Host- makes them refuse the cookie from
  // any other host or path.
  if (isTrustworthy(request, settings)) return "__Host-plosive_session";
  return settings.PLOSIVE_DASHBOARD_INSECURE ? "plosive_session" : null;
}

/** Whether browsers treat the page as one that nobody on the way could have changed. */
export const isTrustworthy = (
  request: IncomingMessage,
  settings: Pick<Settings, "PLOSIVE_TRUSTED_PROXIES">,
) => isEncrypted(request, settings.PLOSIVE_TRUSTED_PROXIES) || isLoopback(request.headers.host ?? "");

/** Returns the token in the cookie; undefined if there is none, or several, or one without the form of a token. */
export function tokenIn(request: IncomingMessage, settings: Settings): string | undefined {
  const name = cookieNameFor(request, settings);
  const value = name === null ? undefined : valueIn(request, name);
  return value !== undefined && isToken(value) ? value : undefined;
}

/** Returns the value of the cookie; undefined if there is none, or several. */
export function valueIn(request: IncomingMessage, name: string): string | undefined {
  const cookies = (request.headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  const [cookie, ...others] = cookies.filter((cookie) => cookie.startsWith(`${name}=`));
  return others.length === 0 ? cookie?.slice(name.length + 1) : undefined;
}

/** Returns the value of Set-Cookie. The cookie has no lifetime: it goes when the browser ends. Null deletes it. */
export function cookieText(name: string, token: string | null): string {
  const gone = token === null ? "; Max-Age=0" : "";
  return `${name}=${token ?? ""}; Path=/; HttpOnly; SameSite=Strict${secureIn(name)}${gone}`;
}

/** Lax, because a browser sends no Strict cookie when another site, the provider, has sent it here. Null deletes it. */
export function signInCookieText(name: string, value: string | null): string {
  const lifetime = value === null ? 0 : signInSeconds;
  return `${name}=${value ?? ""}; Path=/; HttpOnly; SameSite=Lax${secureIn(name)}; Max-Age=${lifetime}`;
}

/** How long a user may take at the provider. */
const signInSeconds = 600;
const secureIn = (name: string) => (name.startsWith("__Host-") ? "; Secure" : "");

/** TLS ends at a proxy. As with the client's address, only the entry of the outermost trusted proxy counts. */
function isEncrypted(request: IncomingMessage, trustedProxies: number): boolean {
  if (trustedProxies === 0) return false;
  const protocols = String(request.headers["x-forwarded-proto"] ?? "").split(",");
  // A proxy that replaces the header instead of appending to it leaves fewer entries.
  return (protocols.at(-trustedProxies) ?? protocols[0])?.trim().toLowerCase() === "https";
}

const isLoopback = (host: string) =>
  /^(localhost|[a-z0-9.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
