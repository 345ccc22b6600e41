// The graceful shutdown of the HTTP server: running requests finish, and idle connections do not delay it.
import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { listen } from "../../src/api/server.ts";
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

function open(port: number): Connection {
  const socket = connect(port, "127.0.0.1").setEncoding("latin1");
  sockets.push(socket);
  let text = "";
  socket.on("data", (piece) => {
    text += piece;
  });
  socket.on("error", () => {});
  return { socket, text: () => text, closed: once(socket, "close") };
}

/** A server that answers when the test tells it to. */
async function start(begin: (response: ServerResponse) => void = () => {}) {
  const running: ServerResponse[] = [];
  const listener: RequestListener = (_, response) => {
    begin(response);
    running.push(response);
  };
  const server = await listen(listener, 0, "127.0.0.1");
  return { ...server, running };
}

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
