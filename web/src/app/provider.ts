// Signing in through the OpenID provider of the installation, if it has one. The server writes the provider's name into the
// page, and reports what went wrong in the fragment of the address.
import { dashboardUrl, href } from "./base.ts";

/** Undefined: there are only API keys. */
export const providerName =
  document.querySelector<HTMLMetaElement>('meta[name="plosive-provider"]')?.content || undefined;

/** Where a sign-in begins. It ends on the present page, or on the first one of another account. */
export function signInUrl(account?: string): string {
  const here = window.location.pathname.slice(href("/").length) + window.location.search;
  const query = new URLSearchParams(account === undefined ? [["return", here]] : [["tenant", account]]);
  return `${dashboardUrl}/oidc/start?${query}`;
}

/** The server sends the browser on to the provider, if that can sign out. */
export const signOutUrl = `${dashboardUrl}/oidc/end`;

const reasons: Readonly<Record<string, string>> = {
  account_unavailable:
    "The account that your role is for does not exist any more or is suspended. Ask the administrator of this service.",
  cross_site_request: "A page of another site has begun it. Begin it here.",
  insecure_connection:
    "It needs https. Open the https address of this service, or ask its administrator for it.",
  no_role:
    "You are signed in there, but you have no role in an account of this service. Ask its administrator for the role viewer, labeller or owner, and name the request id: the log of the service has your groups.",
  provider_unavailable: "It does not respond. Try again later, or sign in with an API key.",
  rate_limited: "There were too many attempts from your network. Wait a little, then try again.",
  sign_in_refused: "It has refused the sign-in, or you have cancelled it.",
};

/** Takes what went wrong out of the address. */
export function refusalOfAddress(): string | undefined {
  const { hash, pathname, search } = window.location;
  const told = new URLSearchParams(hash.slice(1));
  const code = told.get("refused");
  if (code === null) return undefined;
  window.history.replaceState(null, "", pathname + search);
  // Anybody can write such an address, so nothing of it is shown but the id.
  const id = /^[\w.-]{8,128}$/.exec(told.get("request") ?? "")?.[0];
  const reason = reasons[code] ?? "It took too long, or was begun in another window. Try again.";
  return `Signing in with ${providerName ?? "OpenID Connect"} failed. ${reason}${id === undefined ? "" : ` Request id: ${id}`}`;
}
