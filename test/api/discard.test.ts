// Bodies that nobody reads: the client gets its answer, its connection stays usable, and the bytes take a bounded part of
// the process's time.
import { connect, type Socket } from "node:net";
import Koa from "koa";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { discardUnread } from "../../src/api/body/discard.ts";
import { type HttpServer, listen } from "../../src/api/server.ts";
import { poll } from "../support/poll.ts";

const MiB = 1024 * 1024;
let server: HttpServer;
beforeAll(async () => {
  const app = new Koa().use(discardUnread({ PLOSIVE_TRUSTED_PROXIES: 1 })).use((ctx) => {
    ctx.body = "refused";
  });
  server = await listen(app.callback(), 0, "127.0.0.1");
});
afterAll(() => server.stop(0));

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function send(bytes: number, network = 1) {
  const socket = connect(server.port, "127.0.0.1");
  sockets.push(socket);
  let answers = 0;
  socket.on("data", (piece) => {
    answers += piece.toString("latin1").split("refused").length - 1;
  });
  socket.on("error", () => {});
  const address = `X-Forwarded-For: 192.0.2.${network}`;
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${address}\r\nContent-Length: ${bytes}\r\n\r\n`);
  return { socket, answers: () => answers };
}

it("are refused before they arrive, and discarded at 16 MiB/s for all connections together", async () => {
  const began = performance.now();
  const clients = [1, 2, 3].map((network) => send(24 * MiB, network));
  for (const { answers } of clients) await poll("the refusal", () => answers() === 1);
  const body = Buffer.alloc(24 * MiB);
  for (const { socket } of clients) socket.write(body);
  for (const { socket } of clients) socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const { answers } of clients)
    await poll("the answer to the next request on the connection", () => answers() === 2);
  expect(performance.now() - began).toBeGreaterThan(4_000);
});

it("of one client are discarded at 8 MiB/s, and do not delay those of another one", async () => {
  const greedy = Array.from({ length: 60 }, () => send(MiB, 3));
  const second = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  const other = send(2 * MiB, 4);
  for (const { answers } of [...greedy, other]) await poll("the refusal", () => answers() === 1);
  const body = Buffer.alloc(2 * MiB);
  for (const { socket } of greedy) {
    socket.write(body.subarray(0, MiB));
    socket.write(second);
  }
  other.socket.write(body);
  other.socket.write(second);
  await poll("the answer to the other's next request", () => other.answers() === 2);
  // The greedy client's bodies take seven seconds. In one line with them the other client, which sends more, would be last.
  expect(greedy.filter(({ answers }) => answers() === 2).length).toBeLessThan(30);
});

it("end the connection when they exceed 64 MiB", async () => {
  const { socket, answers } = send(1024 * MiB);
  await poll("the refusal", () => answers() === 1);
  const piece = Buffer.alloc(MiB);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const fill = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", fill);
  fill();
  await closed;
});
