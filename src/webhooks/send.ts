// Sends one POST to a receiver. The URL is untrusted input; no other code of Plosive connects to addresses from
// requests. Protection against SSRF: the host name is resolved once, every address must be public, and the socket
// connects only to those addresses. TLS is verified against the host name. Redirects are failures. Of the response only
// status and Retry-After are read. Called by sender.ts.
import { Resolver, lookup as systemLookup } from "node:dns/promises";
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import type { DeliveryError } from "../schemas/webhook.ts";
import { isPublicAddress } from "./address.ts";
import { type Attempt, parseRetryAfter } from "./schedule.ts";
import { type AllowedOrigins, checkTarget, type Target } from "./target.ts";

export interface SendDeps {
  /** Returns all addresses of a host name. Rejects or returns none when there are none. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  readonly allowed: AllowedOrigins;
  readonly isPublic: (address: string) => boolean;
  readonly clock: { now(): number };
  /** Limit for the whole attempt, from the DNS look-up to the end of the response. */
  readonly timeoutMs: number;
  /** Certificate authorities (PEM) that replace the default ones; for tests. */
  readonly ca?: string;
}

export interface Message {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const maxResponseBytes = 64 * 1024;

/** Uses neither the search list of /etc/resolv.conf, which would try cluster-internal names first, nor /etc/hosts. */
async function resolvePublic(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

export const sendDefaults = { resolve: resolvePublic, isPublic: isPublicAddress, timeoutMs: 15_000 };

/** Makes one attempt. Never rejects: a failure is a result too. `ended` aborts it. */
export async function send(message: Message, deps: SendDeps, ended?: AbortSignal): Promise<Attempt> {
  const checked = checkTarget(message.url, deps.allowed);
  if ("refusal" in checked) return failure("address");
  const timeout = AbortSignal.timeout(deps.timeoutMs);
  const signal = ended === undefined ? timeout : AbortSignal.any([timeout, ended]);
  try {
    const addresses = await abortable(signal, addressesOf(checked.target, deps));
    if (addresses.length === 0) return failure("address");
    return await post(checked.target.url, addresses, message, deps, signal);
  } catch (error) {
    return failure(timeout.aborted ? "timeout" : reasonOf(error));
  }
}

const failure = (error: DeliveryError): Attempt => ({ status: null, error, retryAfterMs: null });

/** Returns no address when the name does not resolve or is not public: a tenant must not be able to tell them apart. */
async function addressesOf(target: Target, deps: SendDeps): Promise<readonly string[]> {
  const name = target.url.hostname.replace(/^\[|\]$/g, "");
  if (target.allowed) {
    if (isIP(name)) return [name];
    return (await systemLookup(name, { all: true })).map(({ address }) => address);
  }
  const addresses = await deps.resolve(name).catch(() => []);
  // One address that is not public refuses the whole name: an attacker may add public ones as a decoy.
  return addresses.every((address) => deps.isPublic(address)) ? addresses : [];
}

function post(
  url: URL,
  addresses: readonly string[],
  message: Message,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Attempt> {
  const secure = url.protocol === "https:";
  const options: RequestOptions & { ca?: string } = {
    method: "POST",
    // No keep-alive: a reused connection could lead to an address of an earlier look-up.
    agent: secure ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false }),
    lookup: pinned(addresses),
    signal,
    maxHeaderSize: 16 * 1024,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(message.body),
      "User-Agent": "Plosive-Webhooks/1",
      Connection: "close",
      ...message.headers,
    },
    ...(secure && deps.ca !== undefined ? { ca: deps.ca } : {}),
  };
  const expected = new BlockList();
  for (const address of addresses) expected.addAddress(address, familyOf(address));
  return new Promise((resolve, reject) => {
    let result: Attempt | undefined;
    const request = (secure ? httpsRequest : httpRequest)(url, options, (answer) => {
      const attempt = attemptOf(answer, deps.clock.now());
      result = attempt;
      drain(answer, () => {
        resolve(attempt);
        request.destroy();
      });
    });
    request.on("socket", (socket) =>
      socket.once("connect", () => {
        // Defense in depth, should Node ever ignore `lookup`.
        const remote = socket.remoteAddress ?? "";
        if (!expected.check(remote, familyOf(remote)))
          request.destroy(new Error("connected to another address"));
      }),
    );
    request.on("error", (error) => (result === undefined ? reject(error) : resolve(result)));
    request.end(message.body);
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

function attemptOf(answer: IncomingMessage, now: number): Attempt {
  const status = answer.statusCode ?? 0;
  const retryAfterMs = parseRetryAfter(answer.headers["retry-after"], now);
  const error = status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? "redirect" : "status";
  return { status, error, retryAfterMs };
}

/**
 * Reads and discards the body, up to 64 KiB, so that the receiver can finish its response. The status counts anyway.
 */
function drain(answer: IncomingMessage, done: () => void): void {
  let bytes = 0;
  answer.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) done();
  });
  answer.on("end", done);
  answer.on("error", done);
  answer.on("close", done);
}

function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function reasonOf(error: unknown): DeliveryError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL|EPROTO|HOSTNAME)/.test(code))
    return "tls";
  if (/^HPE_/.test(code)) return "protocol";
  return "connection";
}
