// Responses that nobody reads: they hold a share of their account, or the oldest are cut off. Streams that are long leave time to
// others.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { Context } from "koa";
import { sql } from "slonik";
import { expect, it } from "vitest";
import { z } from "zod";
import type { Route } from "../../src/api/route.ts";
import { send } from "../../src/api/send.ts";
import type { Db } from "../../src/db/driver/page.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { useBackgroundWork } from "../support/background.ts";
import { untilLocked } from "../support/locks.ts";
import { poll } from "../support/poll.ts";
import { makeDataset } from "../support/world.ts";

const api = useApi();
const stage = useBackgroundWork(api);
const { client: greedy } = stage;

/** Asks for the path, or sends the change, and reads nothing after the first bytes. */
async function unread(client: Client, path: string, change?: unknown) {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  const body = change === undefined ? "" : JSON.stringify(change);
  const [method, ...headers] =
    change === undefined
      ? ["GET"]
      : ["PATCH", "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`];
  const lines = [`${method} ${path} HTTP/1.1`, "Host: x", `X-API-Key: ${client.key}`, ...headers];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  const [head] = await once(socket, "data");
  socket.pause();
  expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}

it("two whole sets that nobody reads hold their account's places, and no other's, until their connections end", async () => {
  // More than the buffers of both sockets hold.
  const set = `${stage.sets}/${(await stage.setOf(60_000)).id}`;
  const large = `${set}/annotations`;
  const other = await api.tenant();
  const others = `/api/v1/datasets/${await makeDataset(other)}/annotation-sets`;
  const small = `${others}/${(await other.post(others)).body.id}/annotations`;
  const sockets = [await unread(greedy, large), await unread(greedy, large)];
  const refused = await greedy.get(`${set}/export/csv`);
  expect([refused.status, refused.body.code]).toEqual([429, "share_exceeded"]);
  expect(refused.body.detail).toContain("exports and whole annotation sets");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await other.get(small)).status).toBe(200);
  // A page is no stream.
  expect((await greedy.get(`${large}?page=1`)).status).toBe(200);
  sockets[0]?.destroy();
  await poll("the place to be free", async () => (await greedy.get(large)).status === 200);
  sockets[1]?.destroy();
});

it("responses to changes that nobody reads lose the oldest ones, and hold no share of request bodies", async () => {
  const set = await stage.setOf(1_000);
  await execute(
    api.db,
    sql.fragment`update annotations set extra_data = jsonb_build_object('text', repeat('x', 7500))
      where annotation_set_id = ${set.id}`,
  );
  const bulk = `${stage.sets}/${set.id}/annotations/bulk`;
  const ids = await api.db.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from annotations where annotation_set_id = ${set.id}`);
  // Each response has 8 MB, of which the kernel keeps at most 4 MiB by default, so four fit into 32 MiB. The body has more than a
  // large one, and its share has room for 8 MiB of them.
  const change = { annotations: ids.map((id) => ({ id, annotator: "y".repeat(255) })) };
  expect(JSON.stringify(change).length).toBeGreaterThan(256 * 1024);
  const sockets: Socket[] = [];
  for (let n = 0; n < 9; n++) sockets.push(await unread(greedy, bulk, change));
  const lengthOf = async (socket: Socket) => {
    let bytes = 0;
    socket.on("error", () => {});
    socket.on("data", (piece) => {
      bytes += piece.length;
      if (bytes > 7_500_000) socket.end();
    });
    await once(socket.resume(), "close");
    return bytes;
  };
  for (const cut of sockets.slice(0, 5)) expect(await lengthOf(cut)).toBeLessThan(7_500_000);
  for (const whole of sockets.slice(5)) expect(await lengthOf(whole)).toBeGreaterThan(7_500_000);
  for (const socket of sockets) socket.destroy();
});

/** Runs `work` while no statement can read annotations. */
const whileLocked = <T>(work: (tx: Db) => Promise<T>) =>
  api.db.transaction(async (tx) => {
    await tx.query(sql.unsafe`lock table annotations in access exclusive mode`);
    return await work(tx);
  });
const connections = () => api.pool.state().acquiredConnections;

it("an export that searched long keeps its account's place three times as long, even if it found nothing", async () => {
  const set = `${stage.sets}/${(await stage.setOf(1)).id}`;
  const nothing = `${set}/export/csv?annotator=nobody`;
  const searchMs = 400;
  const both = await whileLocked(async (tx) => {
    const exports = [greedy.get(nothing), greedy.get(nothing)];
    await untilLocked(tx, 2);
    await setTimeout(searchMs);
    return exports;
  });
  for (const { text } of await Promise.all(both)) expect(text).toMatch(/^id,.*\r\n$/);
  const ended = performance.now();
  expect((await greedy.get(nothing)).status).toBe(200);
  // Less what the test itself took until now.
  expect(performance.now() - ended).toBeGreaterThan(2 * searchMs);
});

it("an export whose client has gone keeps its account's place until its search has ended", async () => {
  const set = `${stage.sets}/${(await stage.setOf(1)).id}`;
  const nothing = `${set}/export/csv?annotator=nobody`;
  const [third] = await whileLocked(async (tx) => {
    const sockets = [await unread(greedy, nothing), await unread(greedy, nothing)];
    await untilLocked(tx, 2);
    for (const socket of sockets) socket.destroy();
    const begun = greedy.get(nothing);
    await setTimeout(500);
    await poll("only these to hold connections", () => connections() === 2, 3_000);
    return [begun];
  });
  expect((await third).status).toBe(200);
});

it("a long stream rests after each piece as long as the piece took", async () => {
  const pieceMs = 20;
  const pieces = 5;
  const stream = async function* () {
    for (let n = 0; n < pieces; n++) {
      const end = performance.now() + pieceMs;
      while (performance.now() < end);
      yield "[]";
    }
  };
  const ctx = { set() {}, state: {}, req: { headers: {} } } as unknown as Context & { body: Readable };
  const began = performance.now();
  send(ctx, { method: "GET", answer: { status: 200 } } as Route, { stream: stream() });
  expect((await ctx.body.toArray()).length).toBe(pieces);
  // Timers may fire a fraction of a millisecond early.
  expect(performance.now() - began).toBeGreaterThan(2 * pieces * pieceMs - pieces);
});
