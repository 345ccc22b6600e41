// HTTP to the API server: keep-alive connections, a deadline on every request, retries after 429 with Retry-After, a
// client-side rate limiter, and failures as KubeError. Independent of resource types. Called by client.ts.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Credentials, ServerAccess } from "./config.ts";
import { KubeError } from "./errors.ts";
import { makeRateLimit } from "./rate-limit.ts";

export type KubeRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  contentType?: string;
  /** Limit for the whole request, response included: a hung lease renewal would otherwise lose the lease silently. */
  timeoutMs?: number;
  /** Bypasses the rate limiter and uses separate connections, so it never waits behind slow requests. */
  urgent?: boolean;
  signal?: AbortSignal;
};

export type RequestListener = (method: string, status: number, seconds: number) => void;

export type Transport = {
  /** Sends a request and returns the parsed JSON response. Rejects with KubeError. */
  send(request: KubeRequest): Promise<unknown>;
  /** Opens a watch and returns the response with its body still open. It has no deadline: the caller aborts it. */
  open(request: KubeRequest): Promise<IncomingMessage>;
  /** Closes idle connections. Called after one connection was found dead: the others are probably dead too. */
  dropIdleConnections(): void;
  /** Reports every later request: method, status (0: no response), and seconds until the response headers. */
  onRequest(listener: RequestListener): void;
  close(): void;
};

export type RequestRate = { perSecond: number; burst: number };

type Agent = HttpAgent | HttpsAgent;

const userAgent = "plosive";
const maxAttempts = 4;

export function makeTransport(
  access: ServerAccess,
  // High on purpose: it only stops runaway loops. Under load the API server's priority and fairness decides who waits.
  options: RequestRate = { perSecond: 1_000, burst: 1_000 },
): Transport {
  const listeners: RequestListener[] = [];
  const limit = makeRateLimit(options);
  let agents: { credentials: Credentials; normal: Agent; urgent: Agent } | undefined;
  /** Those of earlier certificates. Their last requests and watches run on. */
  let retired: readonly Agent[] = [];

  const makeAgent = (credentials: Credentials, maxSockets: number): Agent => {
    const { ca, cert, key, servername, rejectUnauthorized } = credentials;
    const shared = { keepAlive: true, keepAliveMsecs: 10_000, maxSockets, scheduling: "lifo" as const };
    return access.server.startsWith("https:")
      ? new HttpsAgent({
          ...shared,
          ca,
          cert,
          key,
          servername,
          ...(rejectUnauthorized === false ? { rejectUnauthorized } : {}),
        })
      : new HttpAgent(shared);
  };
  const current = (): readonly Agent[] => (agents === undefined ? [] : [agents.normal, agents.urgent]);
  /** Lets requests that run end: one whose connection broke may have been processed, and would be sent again. */
  const retireAgents = () => {
    for (const agent of current()) agent.maxFreeSockets = 0;
    dropFree(current());
    retired = [...retired, ...current()].filter(({ sockets }) => Object.keys(sockets).length > 0);
  };
  const agentFor = (credentials: Credentials, urgent: boolean) => {
    if (agents === undefined || !sameTls(agents.credentials, credentials)) {
      retireAgents();
      agents = {
        credentials,
        normal: makeAgent(credentials, 64),
        urgent: makeAgent(credentials, 4),
      };
    }
    return urgent ? agents.urgent : agents.normal;
  };

  const open = async (request: KubeRequest): Promise<IncomingMessage> => {
    const { signal } = request;
    // A plugin of the kubeconfig may take as long as it likes.
    const credentials = await untilAborted(access.credentials(), signal).catch((cause: unknown) => {
      throw unreachable(request, cause, false);
    });
    const url = new URL(access.server + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const headers = {
      ...credentials.headers,
      // The API server's signing keys have a media type of their own.
      accept: "application/json, */*",
      "user-agent": userAgent,
      ...(body === undefined
        ? {}
        : { "content-type": request.contentType ?? "application/json", "content-length": body.length }),
    };
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const began = performance.now();
    let isReported = false;
    // Reports once: a watch that fails after its headers must not count as another request.
    const report = (status: number) => {
      if (isReported) return;
      isReported = true;
      for (const listener of listeners) listener(request.method, status, (performance.now() - began) / 1000);
    };
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(unreachable(request, signal.reason, false));
      const call = send(url, {
        method: request.method,
        headers,
        agent: agentFor(credentials, request.urgent ?? false),
        signal,
      });
      // Node reports nothing of an aborted request that still waits for a connection.
      const onAbort = () => {
        if (call.socket !== null) return;
        report(0);
        reject(unreachable(request, signal?.reason, false));
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      call.once("close", () => signal?.removeEventListener("abort", onAbort));
      call.once("response", (response) => {
        report(response.statusCode ?? 0);
        resolve(response);
      });
      call.on("error", (cause: NodeJS.ErrnoException) => {
        report(0);
        // The server closed an idle connection just as we reused it: the server did not process the request.
        const stale = call.reusedSocket && cause.code === "ECONNRESET" && !signal?.aborted;
        // Node's own error says only that the request was aborted.
        reject(unreachable(request, signal?.aborted ? signal.reason : cause, stale));
      });
      call.end(body);
    });
  };

  const sendOnce = async (request: KubeRequest): Promise<unknown> => {
    const limitMs = request.timeoutMs ?? 15_000;
    // Not AbortSignal.timeout: that cannot be cancelled and creates an error after every request, long after its
    // response.
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new Error(`timed out after ${limitMs} ms`)), limitMs);
    const signal =
      request.signal === undefined ? timeout.signal : AbortSignal.any([request.signal, timeout.signal]);
    let response: IncomingMessage;
    let content: string;
    try {
      response = await open({ ...request, signal });
      content = await text(response);
    } catch (cause) {
      if (cause instanceof KubeError) throw cause;
      throw unreachable(request, signal.aborted ? signal.reason : cause, false);
    } finally {
      clearTimeout(timer);
    }
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return parse(request, content);
    throw failure(request, status, content, response.headers["retry-after"]);
  };

  const dropIdleConnections = () => dropFree(current());

  return {
    dropIdleConnections,
    open: async (request) => {
      await limit.take(request.signal);
      const response = await open(request);
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return response;
      const content = await text(response).catch(() => "");
      throw failure(request, status, content, response.headers["retry-after"]);
    },
    async send(request) {
      for (let attempt = 1; ; attempt++) {
        if (!request.urgent) await limit.take(request.signal);
        try {
          return await sendOnce(request);
        } catch (error) {
          if (attempt === maxAttempts || !(error instanceof KubeError)) throw error;
          if (error.reason === "StaleConnection") continue;
          if (error.status === 0) dropIdleConnections();
          // After 429 the server has done nothing, so even a create may be sent again.
          if (error.status !== 429 || request.signal?.aborted) throw error;
          // The leader renews its lease by urgent requests: it would lose it in a longer pause.
          const longest = request.urgent ? 1 : 10;
          const waitMs = 1_000 * Math.min(error.retryAfterSeconds ?? 1, longest);
          await pause(waitMs, undefined, { signal: request.signal }).catch(() => {
            throw error;
          });
        }
      }
    },
    onRequest: (listener) => void listeners.push(listener),
    close: () => {
      for (const agent of [...retired, ...current()]) agent.destroy();
    },
  };
}

/** Closes the connections that no request uses. */
function dropFree(agents: readonly Agent[]): void {
  for (const agent of agents)
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
}

/** Settles as the promise does; rejects with the signal's reason if that comes first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function parse(request: KubeRequest, content: string): unknown {
  try {
    return content === "" ? {} : JSON.parse(content);
  } catch (cause) {
    // The response is from something else, such as a proxy in between.
    throw unreachable(request, new Error(`not JSON: ${content.slice(0, 100)}`, { cause }), false);
  }
}

function failure(
  request: KubeRequest,
  status: number,
  content: string,
  retryAfter: string | undefined,
): KubeError {
  let reason = "";
  let message = content.slice(0, 300);
  let namesFields = false;
  try {
    const parsed = JSON.parse(content) as {
      reason?: string;
      message?: string;
      details?: { causes?: readonly { field?: string }[] };
    };
    reason = parsed.reason ?? "";
    message = parsed.message ?? message;
    namesFields = parsed.details?.causes?.some(({ field = "" }) => field !== "") ?? false;
  } catch {
    // Not a Status object, for example a proxy's error page: the HTTP status has to do.
  }
  return new KubeError(`${request.method} ${request.path}: ${status} ${message}`, {
    status,
    reason,
    namesFields,
    retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter) || undefined,
  });
}

function unreachable(request: KubeRequest, cause: unknown, stale: boolean): KubeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new KubeError(`${request.method} ${request.path}: no answer from the API server (${why})`, {
    status: 0,
    reason: stale ? "StaleConnection" : "Unreachable",
    cause,
  });
}

function sameTls(a: Credentials, b: Credentials): boolean {
  return (
    String(a.ca) === String(b.ca) && String(a.cert) === String(b.cert) && String(a.key) === String(b.key)
  );
}
