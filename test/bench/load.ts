// The load generator for one endpoint: each connection sends its next request when the previous answer is complete.
// Started by test/bench/measure.ts as a process: it reads a job as JSON from stdin and writes its measurements as JSON
// to stdout. It uses plain sockets, because it shares the machine with the measured server and must use little CPU
// time.
import { connect, type Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";

export interface LoadJob {
  readonly port: number;
  readonly method: "GET" | "POST";
  /** One request for each connection, in turn. */
  readonly paths: readonly string[];
  readonly key: string;
  readonly body?: string;
  readonly connections: number;
  /** Warm-up requests before the measurement, on all connections together. */
  readonly warmUp: number;
  readonly seconds: number;
  readonly expect: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly bytes: number;
  /** Milliseconds from the first byte sent to the last byte received. */
  readonly p50: number;
  readonly p99: number;
  /** CPU seconds of the load generator itself. */
  readonly cpu: number;
}

async function run(job: LoadJob): Promise<LoadResult> {
  const requestTo = (path: string | undefined) =>
    Buffer.from(
      `${job.method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${job.key}\r\n` +
        (job.body === undefined
          ? "\r\n"
          : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(job.body)}\r\n\r\n${job.body}`),
    );
  const sockets = await Promise.all(Array.from({ length: job.connections }, () => open(job.port)));
  const readers = sockets.map((socket, i) => ({
    reader: new AnswerReader(socket),
    request: requestTo(job.paths[i % job.paths.length]),
  }));

  let left = job.warmUp;
  await Promise.all(
    readers.map(async ({ reader, request }) => {
      while (left-- > 0) requireStatus(await reader.ask(request), job);
    }),
  );

  const times: number[] = [];
  let bytes = 0;
  const cpuBefore = process.cpuUsage();
  const begin = performance.now();
  const end = begin + job.seconds * 1_000;
  await Promise.all(
    readers.map(async ({ reader, request }) => {
      while (performance.now() < end) {
        const sent = performance.now();
        const answer = await reader.ask(request);
        times.push(performance.now() - sent);
        requireStatus(answer, job);
        bytes += answer.bytes;
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const socket of sockets) socket.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    requests: times.length,
    seconds,
    bytes,
    p50: at(0.5),
    p99: at(0.99),
    cpu: (user + system) / 1e6,
  };
}

function requireStatus(answer: { status: number; body: string }, job: LoadJob): void {
  if (answer.status !== job.expect)
    throw new Error(`${job.method} ${job.paths[0]} answered ${answer.status}: ${answer.body.slice(0, 300)}`);
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
}

let input = "";
for await (const chunk of process.stdin) input += chunk;
process.stdout.write(JSON.stringify(await run(JSON.parse(input))));
