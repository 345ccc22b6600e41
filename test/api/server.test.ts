// The HTTP server: clients that do not read their response or do not wait for it, and the graceful shutdown, which running
// requests survive and idle connections do not delay.
import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { listen, type Times } from "../../src/api/server.ts";
import { poll } from "../support/poll.ts";

/** Longer than any test: a shutdown that waits for it fails by the test's own time limit. */
const graceMs = 1_000_000;
const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface Connection {
  readonly socket: Socket;
  text(): string;
  readonly closed: Promise<unknown>;
}

function open(port: number, options: { allowHalfOpen?: boolean } = {}): Connection {
  const socket = connect({ port, host: "127.0.0.1", ...options }).setEncoding("latin1");
  sockets.push(socket);
  let text = "";
  socket.on("data", (piece) => {
    text += piece;
  });
  socket.on("error", () => {});
  return { socket, text: () => text, closed: once(socket, "close") };
}

/** A server that answers when the test tells it to. */
async function start(begin: (response: ServerResponse) => void = () => {}, times?: Times) {
  const running: ServerResponse[] = [];
  const listener: RequestListener = (_, response) => {
    begin(response);
    running.push(response);
  };
  const server = await listen(listener, 0, "127.0.0.1", times);
  return { ...server, running };
}

describe("a client that takes nothing of its response", () => {
  const large = Buffer.alloc(64 * 1024 * 1024);

  it("is cut off, and one that reads slowly is not", async () => {
    const { port, running, stop } = await start((response) => response.end(large), { stallMs: 4_000 });
    const [stalled, slow] = [open(port), open(port)];
    for (const { socket } of [stalled, slow]) socket.pause().write(request);
    await poll("the responses to begin", () => running.length === 2);
    const reading = setInterval(() => {
      slow.socket.resume();
      setTimeout(() => slow.socket.pause(), 2);
    }, 1_000);
    await poll("the stalled one to be cut off", () => running[0]!.closed);
    expect(running[1]!.closed).toBe(false);
    clearInterval(reading);
    slow.socket.resume();
    await poll("the slow one to have read all", () => slow.text().length > large.length);
    await stop(graceMs);
  });

  it("may wait longer than that for a handler that is still working", async () => {
    const { port, running, stop } = await start(undefined, { stallMs: 1_000 });
    const client = open(port);
    client.socket.write(request);
    await poll("the request to arrive", () => running.length === 1);
    await once(running[0]!.socket!, "timeout");
    running[0]?.end("answer");
    await poll("the answer", () => client.text().endsWith("answer"));
    await stop(graceMs);
  });
});

describe("a client that does not end its half of the connection", () => {
  const half = { allowHalfOpen: true };
  const post = "POST / HTTP/1.1\r\nHost: x\r\n";

  it("loses the connection when its request turns out not to be HTTP", async () => {
    const { port, running, stop } = await start();
    const client = open(port, half);
    client.socket.write(`${post}Transfer-Encoding: chunked\r\n\r\nno size\r\n`);
    await poll("the response", () => client.text().includes("the request is not HTTP"));
    expect(client.text()).toMatch(/^HTTP\/1\.1 400 /);
    await poll("the connection to end", () => running[0]?.closed);
    await stop(graceMs);
  });

  it("loses the connection when its request comes too late, and the request does not run when its rest comes", async () => {
    let received = "";
    const read = (response: ServerResponse) =>
      response.req.on("data", (piece) => {
        received += piece;
      });
    const { port, running, stop } = await start(read, { requestMs: 1_000 });
    const client = open(port, half);
    client.socket.write(`${post}Content-Length: 2\r\n\r\na`);
    await poll("the response", () => client.text().includes("took too long to arrive"));
    expect(client.text()).toMatch(/^HTTP\/1\.1 408 /);
    client.socket.write("b");
    await poll("the connection to end", () => running[0]?.closed);
    expect([received, running[0]?.req.complete]).toEqual(["a", false]);
    await stop(graceMs);
  });
});

it("what is not HTTP after a request ends the connection, and is not answered within the response", async () => {
  const { port, stop } = await start((response) => response.write("first "));
  const client = open(port);
  client.socket.write(request);
  await poll("the response to begin", () => client.text().includes("first"));
  client.socket.write("nonsense\r\n\r\n");
  await client.closed;
  expect(client.text()).toMatch(/first \r\n$/);
  await stop(graceMs);
});

describe("a request that does not reach the app", () => {
  const id = "take-17-first-try";
  const post = `POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n`;

  it.each([
    ["expects what the server cannot do", `${post}Expect: foo\r\n\r\n`, 417, id],
    ["names no host", `GET / HTTP/1.1\r\nX-Request-Id: ${id}\r\n\r\n`, 400, id],
    ["has two transfer codings", `${post}Transfer-Encoding: gzip, chunked\r\n\r\n`, 400, id],
    ["has a body that is not HTTP", `${post}Transfer-Encoding: chunked\r\n\r\nno size\r\n`, 400, id],
    [
      "has a malformed id",
      `POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: a b\r\nExpect: foo\r\n\r\n`,
      417,
      null,
    ],
    ["is not HTTP", "nonsense\r\n\r\n", 400, null],
  ])(
    "because it %s gets its own id if that is known, and is never kept by a cache",
    async (...[, text, status, own]) => {
      const { port, stop } = await start();
      const client = open(port);
      client.socket.write(text);
      await client.closed;
      const answer = client.text();
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer).toMatch(/\r\nCache-Control: no-store\r\n/);
      expect(answer).toMatch(new RegExp(`\r\nX-Request-Id: ${own ?? "[0-9a-f]{8}-[0-9a-f-]{27}"}\r\n`));
      await stop(graceMs);
    },
  );
});

describe("requests of a client that does not wait for the responses", () => {
  it("run one at a time, and are answered in order", async () => {
    const { port, running, stop } = await start();
    const client = open(port);
    client.socket.write(request.repeat(3));
    for (const n of [1, 2, 3]) {
      await poll(`request ${n} to run`, () => running.length === n);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(running.length).toBe(n);
      running[n - 1]?.end(`answer ${n}`);
    }
    await poll("the answers", () => client.text().endsWith("answer 3"));
    expect(client.text().match(/answer \d/g)).toEqual(["answer 1", "answer 2", "answer 3"]);
    await stop(graceMs);
  });

  it("are read no further than a piece before their turn, and are all answered", async () => {
    const requests = 3_000;
    const { port, running, stop } = await start((response) => response.end("answer."));
    const client = open(port);
    client.socket.write(request.repeat(requests));
    await poll("the answers", () => client.text().match(/answer\./g)?.length === requests);
    expect(running.length).toBe(requests);
    await stop(graceMs);
  });

  it("end the connection when 4,096 of all connections wait, unless it is the only one of its connection", async () => {
    const { port, running, stop } = await start();
    // 128 of each wait: less than a piece.
    const clients = Array.from({ length: 32 }, () => open(port));
    for (const { socket } of clients) socket.write(request.repeat(129));
    await poll("the first ones to run", () => running.length === clients.length);
    const [patient, greedy] = [open(port), open(port)];
    patient.socket.write(request.repeat(2));
    greedy.socket.write(request.repeat(3));
    await greedy.closed;
    await poll("the others to run", () => running.length === clients.length + 2);
    clients[0]?.socket.destroy();
    await poll("the connection to end", () => running[0]?.closed);
    // The places of its requests are free.
    const next = open(port);
    next.socket.write(request.repeat(3));
    await poll("the next one to run", () => running.length === clients.length + 3);
    for (const { socket } of [patient, next]) expect(socket.destroyed).toBe(false);
    await stop(0);
  });
});

describe("a server that shuts down", () => {
  it("finishes running requests and announces the end of the connection", async () => {
    const { port, running, stop } = await start();
    const client = open(port);
    client.socket.write(request);
    await poll("the request to arrive", () => running.length === 1);
    const stopped = stop(graceMs);
    running[0]?.end("answer");
    await client.closed;
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close\r\n.*answer$/s);
    await stopped;
  });

  it("closes the connection of a stream at the end of the stream, not before", async () => {
    const { port, running, stop } = await start((response) => response.write("first "));
    const client = open(port);
    client.socket.write(request);
    await poll("the stream to begin", () => client.text().includes("first"));
    expect(client.text()).toContain("Connection: keep-alive");
    const stopped = stop(graceMs);
    running[0]?.end("last");
    await client.closed;
    expect(client.text()).toMatch(/first .*last\r\n0\r\n\r\n$/s);
    await stopped;
  });

  it("closes idle connections and those that never sent a request", async () => {
    const { port, stop } = await start((response) => response.end("answer"));
    const kept = open(port);
    kept.socket.write(request);
    await poll("the answer", () => kept.text().endsWith("answer"));
    const unused = open(port);
    await once(unused.socket, "connect");
    // The kernel reports the connection first; the server has accepted it once it serves a later one.
    const later = open(port);
    later.socket.write(request);
    await poll("the answer", () => later.text().endsWith("answer"));
    await stop(graceMs);
    await Promise.all([kept.closed, unused.closed, later.closed]);
  });

  it("serves a request that was half sent, and no further one on its connection", async () => {
    const { port, stop } = await start((response) => response.end("answer"));
    const client = open(port);
    client.socket.write(request.slice(0, -2));
    // Once the server has answered a later request, it has read everything that was sent earlier.
    const other = open(port);
    other.socket.write(request);
    await poll("the other's answer", () => other.text().endsWith("answer"));
    const stopped = stop(graceMs);
    client.socket.write(`\r\n${request}`);
    await client.closed;
    expect(client.text().match(/HTTP\/1\.1 200 OK\r\nConnection: close/g)).toHaveLength(1);
    await stopped;
  });

  it("cuts requests that are still running when the grace period is over", async () => {
    const { port, running, stop } = await start();
    const client = open(port);
    client.socket.write(request);
    await poll("the request to arrive", () => running.length === 1);
    await stop(10);
    await client.closed;
    expect(client.text()).toBe("");
  });
});
