// The HTTPS server from which worker pods fetch their work and to which they report. Started by endpoint.ts.
//   GET /v1/runs/{run}/shards/{shard}/work        PUT /v1/runs/{run}/shards/{shard}/progress
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gzip as gzipWithCallback } from "node:zlib";
import { makeSemaphore } from "../../src/db/driver/semaphore.ts";
import { UnverifiedTokenError } from "../../src/kube/pod-tokens.ts";
import type { Log } from "../../src/log.ts";
import { parseRunName } from "../../src/schemas/job-kind.ts";
import { progress as progressSchema } from "../../src/schemas/worker.ts";
import type { Authorize } from "./authorize.ts";
import type { Coalescer } from "./coalesce.ts";
import type { RunMetrics } from "./metrics.ts";
import type { WorkAnswer } from "./work.ts";

export type RunServerOptions = {
  port: number;
  certFile: string;
  keyFile: string;
  authorize: Authorize;
  work: (run: string, shard: number) => Promise<WorkAnswer>;
  coalescer: Coalescer;
  metrics: RunMetrics;
  log: Log;
};

export type RunServer = { port: number; stop(): Promise<void> };

type Answer = { status: number; body?: unknown; text?: AsyncIterable<string>; retryAfter?: number };

const path = /^\/v1\/runs\/([a-z0-9-]{1,63})\/shards\/(0|[1-9][0-9]{0,4})\/(work|progress)$/;
const gzip = promisify(gzipWithCallback);
const maxBodyBytes = 128 * 1024;
const reloadMs = 60_000;
/** Responses in pieces that are sent at the same time. Each one adds about 150 MiB to the resident memory, mostly garbage. */
const streamsAtOnce = 2;
/** Shorter than a worker waits for a response. */
const streamWaitMs = 45_000;
const idleMs = 60_000;
const longestStreamMs = 600_000;

export async function startRunServer(options: RunServerOptions): Promise<RunServer> {
  const { certFile, keyFile, authorize, log, metrics, coalescer } = options;
  const tls = () => ({ cert: readFileSync(certFile), key: readFileSync(keyFile) });

  const handle = async (request: IncomingMessage): Promise<Answer> => {
    const match = path.exec(new URL(request.url ?? "/", "https://runs").pathname);
    if (match === null) return refusal(404, "there is no such path");
    const [, run = "", index = "", verb = ""] = match;
    if (request.method !== (verb === "work" ? "GET" : "PUT"))
      return refusal(405, "this path does not support the method");
    const shard = Number(index);
    const caller = await authorize(bearer(request), run, shard).catch((error: unknown) => {
      if (error instanceof UnverifiedTokenError) metrics.progressReport("refused");
      throw error;
    });
    if (!caller.allowed) {
      metrics.progressReport(caller.status === 410 ? "ended" : "refused");
      log.warn({ run, shard, status: caller.status }, `refused a pod: ${caller.message}`);
      return refusal(caller.status, caller.message);
    }
    if (verb === "work") {
      const answer = await options.work(run, shard);
      if (answer.status !== 200) return refusal(answer.status, answer.message);
      return "text" in answer ? { status: 200, text: answer.text } : { status: 200, body: answer.work };
    }
    const parsed = progressSchema.safeParse(await json(request));
    if (!parsed.success) {
      metrics.progressReport("invalid");
      return refusal(
        422,
        parsed.error.issues
          .map((i) => `${i.path.join(".")}: ${i.message}`)
          .join("; ")
          .slice(0, 1000),
      );
    }
    const report = parsed.data;
    const named = parseRunName(run);
    const points =
      named?.kind === "training"
        ? report.metrics.map((point) => ({ trainingJobId: named.id, ...point }))
        : [];
    const taken = coalescer.add(
      {
        run,
        shard,
        podUid: caller.podUid,
        seq: report.seq,
        itemsDone: report.items_done,
        itemsTotal: report.items_total,
        itemsFailed: report.items_failed,
        fraction: report.fraction,
        message: report.message,
        checkpointStep: report.checkpoint_step ?? null,
      },
      points,
    );
    metrics.progressReport(taken ? "accepted" : "stale");
    return { status: 204 };
  };

  const whileFree = makeSemaphore(streamsAtOnce, streamWaitMs);

  const server = createServer({ ...tls(), minVersion: "TLSv1.2" }, (request, response) => {
    handle(request)
      .then(async (answer) => {
        const { text } = answer;
        await (text === undefined
          ? send(request, response, answer)
          : whileFree(() => stream(request, response, text)));
      })
      .catch(async (error: unknown) => {
        if (response.headersSent) throw error;
        if (error instanceof BodyError)
          return await send(request, response, refusal(error.status, error.message));
        // Kubernetes, Postgres or the object store is unreachable, or too many pods fetch large work. The pod retries.
        log.warn({ url: request.url, err: String(error) }, "could not answer a pod; it will retry");
        const answer = refusal(503, "the service is temporarily unavailable; retry later");
        return await send(request, response, { ...answer, retryAfter: 2 });
      })
      .catch((error: unknown) => {
        log.warn({ url: request.url, err: String(error) }, "could not send the response to a pod");
        response.destroy();
      });
  });
  server.requestTimeout = 30_000;
  // Reloads the certificate, because its issuer renews the files in place.
  const reload = setInterval(() => {
    try {
      server.setSecureContext(tls());
    } catch (error) {
      log.warn({ err: String(error) }, "could not reload the certificate; keeping the old one");
    }
  }, reloadMs);
  reload.unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      clearInterval(reload);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), 5_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

class BodyError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const refusal = (status: number, message: string): Answer => ({
  status,
  body: { detail: message },
  ...(status === 503 ? { retryAfter: 1 } : {}),
});

function bearer(request: IncomingMessage): string | undefined {
  const value = request.headers.authorization;
  return value?.startsWith("Bearer ") ? value.slice(7) : undefined;
}

async function json(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new BodyError(413, `the report is larger than ${maxBodyBytes / 1024} KiB`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new BodyError(400, "the report is not valid JSON");
  }
}

async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  if (answer.retryAfter !== undefined) response.setHeader("retry-after", answer.retryAfter);
  // The unread rest of a refused body must not be parsed as the next request.
  if (!request.complete) response.setHeader("connection", "close");
  if (answer.body === undefined) {
    response.writeHead(answer.status).end();
    return;
  }
  let body = Buffer.from(JSON.stringify(answer.body));
  response.setHeaders(jsonHeaders);
  if (body.length > 8_192 && acceptsGzip(request)) {
    body = await gzip(body);
    response.setHeader("content-encoding", "gzip");
  }
  response.writeHead(answer.status, { "content-length": body.length }).end(body);
}

/**
 * Sends text in pieces, as fast as the pod reads. After a failure the response has no end, which the worker treats as a
 * failed request.
 */
async function stream(
  request: IncomingMessage,
  response: ServerResponse,
  text: AsyncIterable<string>,
): Promise<void> {
  response.setHeaders(jsonHeaders);
  response.setTimeout(idleMs, () => response.destroy());
  const pieces = Readable.from(text, { objectMode: false, highWaterMark: 1 });
  const signal = AbortSignal.timeout(longestStreamMs);
  if (!acceptsGzip(request)) return await pipeline(pieces, response, { signal });
  response.setHeader("content-encoding", "gzip");
  await pipeline(pieces, createGzip(), response, { signal });
}

const jsonHeaders = new Headers({
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
});
const acceptsGzip = (request: IncomingMessage) => /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
