// Who is signed in. The server keeps the session; the browser has only a cookie that scripts cannot read, and the API key
// is in the memory of this page for the one request that exchanges it.
import { computed, signal } from "@preact/signals";
import { ApiError } from "../../../client/error.ts";
import { dashboardUrl, href } from "./base.ts";
import { forget } from "./kept.ts";
import { signOutUrl } from "./provider.ts";

export interface Session {
  readonly tenant_id: string;
  readonly tenant_name: string;
  /** Null: the session is a user's. */
  readonly key_id: string | null;
  readonly key_prefix: string | null;
  readonly key_name: string | null;
  /** Null: the session is a key's. Undefined: the server is of an older release. */
  readonly user_name?: string | null;
  readonly role?: string | null;
  /** Other accounts in which the user has a role. */
  readonly accounts?: readonly { readonly id: string; readonly name: string }[];
  /** Empty: everything. */
  readonly scopes: readonly string[];
  readonly key_expires_at: string | null;
  readonly expires_at: string;
}

export type State =
  | { readonly is: "loading" }
  | { readonly is: "signed-in"; readonly session: Session }
  | { readonly is: "signed-out"; readonly reason?: string }
  | { readonly is: "unreachable"; readonly error: unknown };

export const state = signal<State>({ is: "loading" });
export const session = computed(() => (state.value.is === "signed-in" ? state.value.session : undefined));

/** Whether the user's role, or the key that the user signed in with, allows this. `label` is a part of `write`. */
export function can(scope: "read" | "label" | "write" | "admin"): boolean {
  const scopes = session.value?.scopes ?? [];
  return scopes.length === 0 || scopes.includes(scope) || (scope === "label" && scopes.includes("write"));
}

/** Why the user's role or key does not allow an action; undefined: it does. */
export function missing(scope: "label" | "write" | "admin"): string | undefined {
  if (can(scope)) return undefined;
  const role = session.value?.role;
  return role == null
    ? `The key that you signed in with has no scope “${scope === "label" ? "write" : scope}”`
    : `Your role is “${role}”; this needs the role ${scope === "label" ? "“labeller” or “owner”" : "“owner”"}`;
}

async function call(method: "GET" | "POST" | "DELETE", body?: object): Promise<Response> {
  const init = {
    method,
    signal: AbortSignal.timeout(30_000),
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  };
  const response = await fetch(`${dashboardUrl}/session`, init);
  if (response.ok) return response;
  throw new ApiError(response, await response.json().catch(() => undefined));
}

/** Reads the session that the cookie names. `quietly` leaves the page as it is while the server does not respond. */
export async function restore({ quietly = false } = {}): Promise<void> {
  const before = entries;
  try {
    enter(await (await call("GET")).json());
  } catch (error) {
    if (entries !== before) return;
    if (error instanceof ApiError && error.status === 401) end(error);
    else if (!quietly) state.value = { is: "unreachable", error };
  }
}

/** How often somebody has signed in on this page, or the page has found that they are. */
let entries = 0;
export const sessionNumber = (): number => entries;

/** Whose data this page has shown. The page is loaded anew before it shows another account. */
let shown: string | undefined;
export const shownAccount = (): string | undefined => shown;

/** Tabs share the session: each tells the others in which account it is signed in now; null: in none. */
let tabs: BroadcastChannel | undefined;

export function followTabs(): void {
  tabs = new BroadcastChannel("plosive.session");
  tabs.onmessage = ({ data }: MessageEvent<string | null>) => {
    const isNews = state.peek().is === "signed-in" ? data !== shown : data !== null;
    if (isNews) void restore({ quietly: true });
  };
}

/** Exchanges an API key, or the token of a one-time link, for a session. */
export async function signIn(credential: { api_key: string } | { sign_in_token: string }): Promise<void> {
  enter(await (await call("POST", credential)).json());
}

function enter(next: Session): void {
  if (shown !== undefined && shown !== next.tenant_id) {
    window.location.replace(href("/"));
    return;
  }
  if (state.peek().is !== "signed-in") tabs?.postMessage(next.tenant_id);
  shown = next.tenant_id;
  entries += 1;
  state.value = { is: "signed-in", session: next };
}

export async function signOut(): Promise<void> {
  await call("DELETE").catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  });
  tabs?.postMessage(null);
  forget("uploads.");
  const isUser = session.peek()?.role != null;
  // The page is loaded anew, so that nothing of the account stays in its memory.
  window.location.replace(isUser ? signOutUrl : href("/"));
}

/** Called when the server refuses the session: it has ended, or its key was revoked or has expired. */
export function end(refusal: Pick<ApiError, "detail" | "code"> | string): void {
  const before = state.peek().is;
  if (before === "signed-out") return;
  const reason =
    typeof refusal === "string"
      ? refusal
      : refusal.code === "api_key_expired"
        ? "Your session has ended, because its API key has expired. Sign in with another key."
        : "Your session has ended. Sign in to go on where you were.";
  state.value = before === "signed-in" ? { is: "signed-out", reason } : { is: "signed-out" };
}

/** Takes the token of a one-time link out of the address: "#token=…" never reaches a server or the history. */
export function tokenOfAddress(): string | undefined {
  const { hash, pathname, search } = window.location;
  if (!hash.startsWith("#token=")) return undefined;
  window.history.replaceState(null, "", pathname + search);
  return hash.slice("#token=".length);
}
