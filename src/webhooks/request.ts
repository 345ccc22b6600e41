// Sends one request to a URL that a client chose. The URL is untrusted input; no other code of Plosive connects to addresses
// from requests. Protection against SSRF: the host name is resolved once, every address must be public, and the socket
// connects only to those addresses. TLS is verified against the host name. Nothing follows redirects by itself. Called by
// send.ts and by src/uploads/fetch.ts.
import { Resolver, lookup as systemLookup } from "node:dns/promises";
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import { isPublicAddress } from "./address.ts";
import { type AllowedOrigins, checkTarget, type Target } from "./target.ts";

export interface RequestDeps {
  /** Returns all addresses of a host name. Rejects or returns none when there are none. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly allowed: AllowedOrigins;
  readonly isPublic: (address: string) => boolean;
  /** Certificate authorities (PEM) that replace the default ones; for tests. */
  readonly ca?: string;
}

export interface OutwardRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string;
}

/** Why there was no response. */
export type RequestFailure = "target" | "address" | "tls" | "protocol" | "connection";

/** The URL is refused (checkTarget). */
class TargetError extends Error {
  override name = "TargetError";
}

/** The host has no address, or one that is not public. */
class AddressError extends Error {
  override name = "AddressError";
}

/** Uses neither the search list of /etc/resolv.conf, which would try cluster-internal names first, nor /etc/hosts. */
async function resolvePublic(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

export const requestDefaults = { resolve: resolvePublic, isPublic: isPublicAddress };

/** Resolves when the response begins. Rejects with an error that reasonOf classifies, or with the reason of `signal`. */
export async function request(
  url: string,
  sent: OutwardRequest,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const checked = checkTarget(url, deps.allowed);
  if ("refusal" in checked) throw new TargetError(checked.refusal);
  const addresses = await abortable(signal, addressesOf(checked.target, deps));
  if (addresses.length === 0) throw new AddressError("the host has no public address");
  return await connect(checked.target.url, addresses, sent, deps, signal);
}

/** Returns no address when the name does not resolve or is not public: a tenant must not be able to tell them apart. */
async function addressesOf(target: Target, deps: RequestDeps): Promise<readonly string[]> {
  const name = target.url.hostname.replace(/^\[|\]$/g, "");
  if (target.allowed) {
    if (isIP(name)) return [name];
    return (await systemLookup(name, { all: true })).map(({ address }) => address);
  }
  const addresses = await deps.resolve(name).catch(() => []);
  // One address that is not public refuses the whole name: an attacker may add public ones as a decoy.
  return addresses.every((address) => deps.isPublic(address)) ? addresses : [];
}

function connect(
  url: URL,
  addresses: readonly string[],
  { method, headers, body }: OutwardRequest,
  deps: RequestDeps,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === "https:";
  const options: RequestOptions & { ca?: string } = {
    method,
    // No keep-alive: a reused connection could lead to an address of an earlier look-up.
    agent: secure ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false }),
    lookup: pinned(addresses),
    signal,
    maxHeaderSize: 16 * 1024,
    headers: { Connection: "close", ...headers },
    ...(secure && deps.ca !== undefined ? { ca: deps.ca } : {}),
  };
  const expected = new BlockList();
  for (const address of addresses) expected.addAddress(address, familyOf(address));
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? httpsRequest : httpRequest)(url, options, resolve);
    outgoing.on("socket", (socket) =>
      socket.once("connect", () => {
        // Defense in depth, should Node ever ignore `lookup`.
        const remote = socket.remoteAddress ?? "";
        if (!expected.check(remote, familyOf(remote)))
          outgoing.destroy(new Error("connected to another address"));
      }),
    );
    // After the response has begun, its reader sees failures.
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const familyOf = (address: string) => (isIPv6(address) ? "ipv6" : "ipv4");

/** A DNS look-up function that returns these addresses for every name. */
function pinned(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_name, options, callback) => {
    const first = found[0];
    if (options.all) callback(null, found);
    else callback(null, first?.address ?? "", first?.family);
  };
}

function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

export function reasonOf(error: unknown): RequestFailure {
  if (error instanceof TargetError) return "target";
  if (error instanceof AddressError) return "address";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL|EPROTO|HOSTNAME)/.test(code))
    return "tls";
  if (/^HPE_/.test(code)) return "protocol";
  return "connection";
}
