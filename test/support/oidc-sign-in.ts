// An API whose users sign in through an OpenID provider, and browsers that do it. Called at the top of test files:
// `const oidc = useOidc()`.
import type { Role } from "../../src/schemas/role.ts";
import { type Client, testSettings, useApi } from "./api.ts";
import { type Browser, browserWith, cookieOf, type Sent, send } from "./dashboard.ts";
import { useProvider } from "./oidc-provider.ts";

/** Behind a proxy that ends TLS and adds a path prefix. Nothing listens there. */
export const publicUrl = "https://plosive.example.com/audio";

/** What a browser that has begun to sign in has, and where the provider sends it. */
export interface Begun {
  readonly cookie: string;
  readonly callback: URL;
}

export function useOidc() {
  const roles: { value: string; tenant: string; role: Role }[] = [];
  const provider = useProvider(() => publicUrl);
  const settings = () =>
    testSettings({
      PLOSIVE_PUBLIC_URL: publicUrl,
      PLOSIVE_OIDC_ISSUER: provider.issuer,
      PLOSIVE_OIDC_CLIENT_ID: "public",
      PLOSIVE_OIDC_SCOPES: "openid profile email groups",
      PLOSIVE_OIDC_ROLES: roles,
    });
  const api = useApi({
    // When the API starts, the provider runs.
    get config() {
      return settings();
    },
  });
  const start = (query = "", headers = {}) =>
    send(api.url, "GET", `/dashboard/oidc/start${query}`, { headers });
  const finish = ({ cookie, callback }: Begun, url = api.url): Promise<Sent> =>
    send(url, "GET", callback.href.slice(publicUrl.length), {
      headers: { Cookie: cookie, "Sec-Fetch-Site": "cross-site" },
    });
  const begin = async (query = "", url = api.url): Promise<Begun> => {
    const answer = await send(url, "GET", `/dashboard/oidc/start${query}`);
    const callback = await provider.follow(answer.headers.location ?? "");
    return { cookie: cookieOf(answer), callback };
  };
  return {
    api,
    provider,
    settings,
    roles,
    start,
    begin,
    finish,
    /** Gives a new user a role in the account, and signs it in. */
    async signedIn(client: Client, role: Role): Promise<Browser & { readonly subject: string }> {
      const subject = `user-${roles.length}`;
      roles.push({ value: subject, tenant: client.tenantId, role });
      provider.user = { sub: subject, name: `Ada ${roles.length}`, groups: ["everybody", subject] };
      const answer = await finish(await begin());
      return { ...browserWith(api.url, sessionOf(answer)), subject };
    },
  };
}

/** The cookie of the session that the answer starts. Throws if it starts none. */
export function sessionOf(answer: Sent): string {
  const cookie = answer.headers["set-cookie"]?.find((text) => text.startsWith("__Host-plosive_session="));
  if (cookie === undefined)
    throw new Error(`no session: ${answer.status} ${answer.headers.location} ${answer.text}`);
  return cookie.split(";")[0] ?? "";
}

/** What a refused sign-in tells the sign-in page; null for another answer. */
export function refusalIn(answer: Sent): string | null {
  const [page, told] = (answer.headers.location ?? "").split("#");
  const isRefused =
    answer.status === 303 &&
    page === "../sign-in" &&
    !String(answer.headers["set-cookie"]).includes("_session=");
  return isRefused ? new URLSearchParams(told).get("refused") : null;
}
