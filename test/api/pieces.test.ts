// Node's HTTP server with backpressure: what a connection sends is parsed in pieces, and no further than the server can take.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readInPieces } from "../../src/api/pieces.ts";
import { poll } from "../support/poll.ts";

const maxWaiting = 8;
const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
/** Of 4 KiB. */
const requestsOfPiece = Math.ceil(4_096 / request.length);
let waiting: [IncomingMessage, ServerResponse][];
let readOn: () => void;
let client: Socket;
let received: Buffer[];

const server = createServer((...message) => void waiting.push(message));
server.on("connection", (socket) => {
  readOn = readInPieces(socket, () => waiting.length > maxWaiting);
});

beforeEach(async () => {
  waiting = [];
  received = [];
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("data", (chunk) => received.push(chunk)).on("error", () => {});
});
afterEach(async () => {
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const text = () => Buffer.concat(received).toString("latin1");

async function answerNext(body: (request: IncomingMessage) => string | Promise<string>): Promise<void> {
  await poll("a request", () => waiting.length > 0);
  const [message, response] = waiting[0]!;
  response.end(await body(message));
  waiting.shift();
  readOn();
}

it("parses no more than a piece while too many requests wait, and all of them in the end", async () => {
  const requests = 5_000;
  client.write(request.repeat(requests));
  for (let n = 0; n < requests; n++) {
    if (n % 500 === 0) {
      await poll("requests to wait", () => waiting.length > maxWaiting);
      await pause(20);
    }
    expect(waiting.length).toBeLessThanOrEqual(maxWaiting + requestsOfPiece);
    await answerNext(() => `answer ${n}.`);
  }
  await poll("the last answer", () => text().endsWith(`answer ${requests - 1}.`));
  expect(text().match(/answer \d+/g)).toEqual(Array.from({ length: requests }, (_, n) => `answer ${n}`));
});

it("keeps the bytes of bodies, whichever way they are sent, between other requests", async () => {
  const bodies = [0, 1, 4_095, 4_096, 4_097, 100_000, 1_000_000].map((size) => randomBytes(size));
  const digest = (body: Buffer) => createHash("sha256").update(body).digest("hex");
  for (const body of bodies) {
    client.write(`${request}POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    client.write(body);
    client.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    if (body.length > 0)
      client.write(
        Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n")]),
      );
    client.write("0\r\n\r\n");
  }
  const expected = bodies.flatMap((body) => [digest(Buffer.alloc(0)), digest(body), digest(body)]);
  for (const _ of expected)
    await answerNext(async (message) => {
      const chunks: Buffer[] = [];
      for await (const chunk of message) chunks.push(chunk);
      return `digest ${digest(Buffer.concat(chunks))}.`;
    });
  await poll("the last answer", () => text().endsWith(`digest ${expected.at(-1)}.`));
  expect([...text().matchAll(/digest (\w+)/g)].map(([, hex]) => hex)).toEqual(expected);
});

it("goes on when a client takes its large answers late", async () => {
  const requests = 400;
  const large = "x".repeat(100_000);
  client.pause();
  client.write(request.repeat(requests));
  const answering = (async () => {
    for (let n = 0; n < requests; n++) await answerNext(() => `${large}answer ${n}.`);
  })();
  await pause(200);
  client.resume();
  await answering;
  await poll("the last answer", () => text().endsWith(`answer ${requests - 1}.`));
  expect(text().match(/answer \d+/g)?.length).toBe(requests);
});
