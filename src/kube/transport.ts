// HTTP to the API server: kept-alive connections, a deadline on every request, 429 with Retry-After, a client-side
// rate limit, and failures as KubeError. Knows no kind. Called by client.ts.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import type { Credentials, ServerAccess } from "./config.ts";
import { KubeError } from "./errors.ts";
import { makeRateLimit } from "./rate-limit.ts";

export type KubeRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  contentType?: string;
  /** For the whole request, answer included. A hung lease renewal would else lose the lease silently. */
  timeoutMs?: number;
  /** On connections of its own: it never waits behind requests that the API server is slow to answer. */
  urgent?: boolean;
  signal?: AbortSignal;
};

export type RequestListener = (method: string, status: number, seconds: number) => void;

export type Transport = {
  /** The parsed JSON answer. Throws KubeError. */
  send(request: KubeRequest): Promise<unknown>;
  /** The open answer of a watch; only the headers have a deadline. */
  open(request: KubeRequest): Promise<IncomingMessage>;
  /** Ends the connections that wait for requests: one was found dead, and most likely they went the same way. */
  distrust(): void;
  /** Every request from now on, with the time until the head of its answer; status 0: there was none. */
  onRequest(listener: RequestListener): void;
  close(): void;
};

export type RequestRate = { perSecond: number; burst: number };

type Agent = HttpAgent | HttpsAgent;

const userAgent = "plosive";
const tries = 4;

export function makeTransport(
  access: ServerAccess,
  // Against loops that run wild; who is to wait when much is going on, the API server's own queues know better.
  options: RequestRate = { perSecond: 1_000, burst: 1_000 },
): Transport {
  const listeners: RequestListener[] = [];
  const limit = makeRateLimit(options);
  let agents: { made: Credentials; patient: Agent; urgent: Agent } | undefined;

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
  const destroyAgents = () => {
    agents?.patient.destroy();
    agents?.urgent.destroy();
  };
  const agentFor = (credentials: Credentials, urgent: boolean) => {
    if (agents === undefined || !sameTls(agents.made, credentials)) {
      destroyAgents();
      agents = {
        made: credentials,
        patient: makeAgent(credentials, 64),
        urgent: makeAgent(credentials, 4),
      };
    }
    return urgent ? agents.urgent : agents.patient;
  };

  const open = async (request: KubeRequest): Promise<IncomingMessage> => {
    const credentials = await access.credentials();
    const url = new URL(access.server + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const headers = {
      ...credentials.headers,
      accept: "application/json",
      "user-agent": userAgent,
      ...(body === undefined
        ? {}
        : { "content-type": request.contentType ?? "application/json", "content-length": body.length }),
    };
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const began = performance.now();
    let isTold = false;
    // A watch that breaks off after its head is not another request.
    const tell = (status: number) => {
      if (isTold) return;
      isTold = true;
      for (const listener of listeners) listener(request.method, status, (performance.now() - began) / 1000);
    };
    return new Promise((resolve, reject) => {
      const call = send(url, {
        method: request.method,
        headers,
        agent: agentFor(credentials, request.urgent ?? false),
        signal: request.signal,
      });
      call.once("response", (response) => {
        tell(response.statusCode ?? 0);
        resolve(response);
      });
      call.on("error", (cause: NodeJS.ErrnoException) => {
        tell(0);
        // The server closed an idle connection just as it was used again: nothing was processed.
        const stale = call.reusedSocket && cause.code === "ECONNRESET";
        reject(unreachable(request, cause, stale));
      });
      call.end(body);
    });
  };

  const once = async (request: KubeRequest): Promise<unknown> => {
    const limitMs = request.timeoutMs ?? 15_000;
    // One that is taken back: AbortSignal.timeout lives on after the answer, and makes an error when its time comes.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`none within ${limitMs} ms`)), limitMs);
    const signal =
      request.signal === undefined ? late.signal : AbortSignal.any([request.signal, late.signal]);
    let response: IncomingMessage;
    let content: string;
    try {
      response = await open({ ...request, signal });
      content = await text(response);
    } catch (cause) {
      throw cause instanceof KubeError ? cause : unreachable(request, cause, false);
    } finally {
      clearTimeout(timer);
    }
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return parse(request, content);
    throw failure(request, status, content, response.headers["retry-after"]);
  };

  const distrust = () => {
    for (const agent of agents === undefined ? [] : [agents.patient, agents.urgent])
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
  };

  return {
    distrust,
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
          return await once(request);
        } catch (error) {
          if (attempt === tries || !(error instanceof KubeError)) throw error;
          if (error.reason === "StaleConnection") continue;
          if (error.status === 0) distrust();
          // 429 says that nothing was done, so even a create may be sent again.
          if (error.status !== 429 || request.signal?.aborted) throw error;
          await new Promise((resolve) =>
            setTimeout(resolve, 1_000 * Math.min(error.retryAfterSeconds ?? 1, 10)),
          );
        }
      }
    },
    onRequest: (listener) => void listeners.push(listener),
    close: destroyAgents,
  };
}

function parse(request: KubeRequest, content: string): unknown {
  try {
    return content === "" ? {} : JSON.parse(content);
  } catch (cause) {
    // Something stands between, and answers in the API server's place.
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
  try {
    const parsed = JSON.parse(content) as { reason?: string; message?: string };
    reason = parsed.reason ?? "";
    message = parsed.message ?? message;
  } catch {
    // A proxy's page or nothing at all: the status says enough.
  }
  return new KubeError(`${request.method} ${request.path}: ${status} ${message}`, {
    status,
    reason,
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
