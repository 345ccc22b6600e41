// Responses that a tenant's clients do not read: their bytes in the process are bounded, whatever they respond to.
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import Koa from "koa";
import { afterAll, beforeAll, expect, it } from "vitest";
import { boundUnread } from "../../src/api/middleware/bound-unread.ts";
import { type HttpServer, listen } from "../../src/api/server.ts";
import { makeLog } from "../../src/log.ts";
import { poll } from "../support/poll.ts";

/** Three of them are within the bound. The kernel takes only a part of one. */
const large = Buffer.alloc(10 * 1024 * 1024);
async function* endless() {
  for (;;) yield large;
}
const responses: ServerResponse[] = [];
let server: HttpServer;
beforeAll(async () => {
  const app = new Koa().use(boundUnread(makeLog("test", "fatal"))).use((ctx) => {
    const [, tenant, what] = ctx.path.split("/");
    ctx.state.tenantId = tenant;
    ctx.body = what === "stream" ? Readable.from(endless()) : large;
    responses.push(ctx.res);
  });
  // It would log what is cut off.
  app.silent = true;
  server = await listen(app.callback(), 0, "127.0.0.1");
});
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop(0);
});

/** Sends a request of a tenant, and reads nothing. */
async function leaveUnread(path: string): Promise<ServerResponse> {
  const before = responses.length;
  const socket = connect(server.port, "127.0.0.1").pause();
  socket.on("error", () => {});
  sockets.push(socket);
  socket.write(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return await poll("the response to begin", () => responses[before]?.headersSent && responses[before]);
}

it("of more than 32 MiB lose the oldest ones, but no streams; one that is read comes whole, and other tenants lose none", async () => {
  const kept = [await leaveUnread("one/stream"), await leaveUnread("other")];
  const [first, second, third] = [
    await leaveUnread("one"),
    await leaveUnread("one"),
    await leaveUnread("one"),
  ];
  expect(first.closed).toBe(false);
  const read = await fetch(`http://127.0.0.1:${server.port}/one`);
  expect((await read.arrayBuffer()).byteLength).toBe(large.length);
  await poll("the oldest to be cut off", () => first.closed);
  // What was read, or cut off, counts no more.
  const fourth = await leaveUnread("one");
  expect([...kept, second, third, fourth].map(({ closed }) => closed)).toEqual(Array(5).fill(false));
  await leaveUnread("one");
  await poll("the next one to be cut off", () => second.closed);
  expect([...kept, third, fourth].map(({ closed }) => closed)).toEqual(Array(4).fill(false));
});
