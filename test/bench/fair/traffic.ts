// The HTTP traffic of both tenants: requests over kept connections, at a fixed rate (the measured tenant) or as fast as the
// service answers (the attacker). Called by main.ts and attacks.ts.
import { Agent, request } from "node:http";
import { connect } from "node:net";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Buffer;
  readonly contentType?: string;
  /** Sends no key. */
  readonly isAnonymous?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Reads the head of the response alone, and closes the connection after this time. */
  readonly unreadMs?: number;
  /** Fills 64 KiB on a connection of its own with this request, and waits for no response. */
  readonly isPipelined?: boolean;
}

export interface Answer {
  /** 0: the connection failed. */
  readonly status: number;
  readonly ms: number;
  readonly body: string;
}

export type Send = (request: Request) => Promise<Answer>;

/** Sends requests with the key of one tenant. */
export function makeSend(baseUrl: string, key: string): { send: Send; end: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const { hostname, port } = new URL(baseUrl);
  const send: Send = ({
    method,
    path,
    body,
    contentType = "application/json",
    isAnonymous = false,
    headers: more = {},
    unreadMs,
    isPipelined = false,
  }) =>
    new Promise((resolve) => {
      const begin = performance.now();
      const finish = (status: number, text: string) =>
        resolve({ status, ms: performance.now() - begin, body: text });
      const headers = {
        ...(isAnonymous ? {} : { "X-API-Key": key }),
        ...(body === undefined
          ? {}
          : { "Content-Type": contentType, "Content-Length": Buffer.byteLength(body) }),
        ...more,
      };
      if (isPipelined) {
        const lines = Object.entries({ Host: hostname, ...headers }).map(
          ([name, value]) => `${name}: ${value}`,
        );
        const one = `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
        pipeline(hostname, Number(port), one).then((status) => finish(status, ""));
        return;
      }
      const sent = request({ agent, hostname, port, method, path, headers }, (answer) => {
        if (unreadMs !== undefined && answer.statusCode === 200) {
          const close = () => {
            answer.destroy();
            finish(200, "");
          };
          setTimeout(close, unreadMs);
          return;
        }
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => finish(answer.statusCode ?? 0, Buffer.concat(chunks).toString("utf8")));
        answer.on("error", () => finish(0, ""));
      });
      sent.on("error", () => finish(0, ""));
      sent.end(body);
    });
  return { send, end: () => agent.destroy() };
}

const pipelineBytes = 64 * 1024;
const pipelineMs = 10_000;

/** Returns the status of the first response once the service has closed the connection, or after ten seconds. */
function pipeline(host: string, port: number, one: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () =>
      socket.write(one.repeat(Math.floor(pipelineBytes / one.length))),
    );
    let status = 0;
    socket.once("data", (head) => {
      status = Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString("latin1"))?.[1] ?? 0);
    });
    socket.resume().setTimeout(pipelineMs, () => socket.destroy());
    socket.on("error", () => {});
    socket.once("close", () => resolve(status));
  });
}

/** Sends until `isOver()`, `connections` requests at a time. Returns how often each status was answered. */
export async function flood(
  next: (nth: number) => Promise<Answer>,
  connections: number,
  isOver: () => boolean,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let nth = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!isOver()) {
        const { status } = await next(nth++);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        // A polite client would wait for Retry-After; this one does not, but leaves the machine some time.
        if (status === 429 || status === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }),
  );
  return statuses;
}

export interface Measured {
  readonly requests: number;
  readonly failed: number;
  /** Statuses of the failed requests. */
  readonly failures: readonly string[];
  readonly p50: number;
  readonly p99: number;
  /** The slowest hundredth in the order of sending: "GET at 3.2 s: 40 ms". */
  readonly slowest: readonly string[];
}

/** Sends one request every `1000 / perSecond` ms, whether earlier ones were answered or not. */
export async function measure(
  next: (nth: number) => Promise<Answer & { readonly method: string }>,
  perSecond: number,
  seconds: number,
): Promise<Measured> {
  const pending: ReturnType<typeof next>[] = [];
  const begin = performance.now();
  for (let nth = 0; nth < perSecond * seconds; nth++) {
    const due = begin + (nth * 1_000) / perSecond - performance.now();
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
    pending.push(next(nth));
  }
  const answers = await Promise.all(pending);
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  const failed = answers.filter(({ status }) => status < 200 || status >= 300);
  const failures = [...new Set(failed.map(({ status }) => String(status)))];
  const slowest = answers.flatMap(({ method, ms }, nth) =>
    ms >= at(0.99) ? [`${method} at ${(nth / perSecond).toFixed(1)} s: ${ms.toFixed(0)} ms`] : [],
  );
  return { requests: answers.length, failed: failed.length, failures, p50: at(0.5), p99: at(0.99), slowest };
}
