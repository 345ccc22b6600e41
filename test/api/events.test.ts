// Events over HTTP: the list, and the stream with its start, its end and its limits.
import { execFile } from "node:child_process";
import { connect } from "node:net";
import { promisify } from "node:util";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { serverPrograms } from "../../tools/postgres.ts";
import { clientOf, execute, serveApi, testDeps, useApi } from "../support/api.ts";
import { blockOf } from "../support/documents.ts";
import { readEvents, useEvents } from "../support/events.ts";
import { poll } from "../support/poll.ts";

const api = useApi({ timing: { beatMs: 300, stallMs: 5_000 } });
/** An interval of keep-alive comments that no test reaches. */
const neverMs = 600_000;
const { stream, emit } = useEvents(api);

describe("GET /api/v1/events", () => {
  it("lists events newest first, filtered by type and by the id after which they begin", async () => {
    const client = await api.tenant();
    await emit(client.tenantId, "audio_file.ready", { audio_file_id: "a" });
    await emit(client.tenantId, "model.created", { model_id: "m" });
    const { body } = await client.get("/api/v1/events");
    expect(body.items.map((item: { type: string }) => item.type)).toEqual([
      "model.created",
      "audio_file.ready",
      "api_key.created",
    ]);
    expect(body).toMatchObject({ total: 3, has_more: false });
    const oldest = body.items[2].id;
    const after = await client.get(`/api/v1/events?after=${oldest}&types=model.created&types=model.archived`);
    expect(after.body.items).toMatchObject([{ type: "model.created", data: { model_id: "m" } }]);
    const other = await api.tenant();
    expect((await other.get(`/api/v1/events?after=${oldest}`)).body.items).toEqual([]);
  });

  it("refuses unknown event types, in the list and in the stream", async () => {
    const client = await api.tenant();
    for (const path of ["/api/v1/events?types=nonsense", "/api/v1/events/stream?types=training_job.*"]) {
      const answer = await client.get(path);
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["query", "types", 0]]);
    }
  });
});

describe("the event stream", () => {
  it("sends events as they occur, with headers that prevent caching and buffering", async () => {
    const client = await api.tenant();
    const reader = await stream(client);
    expect(reader.status).toBe(200);
    expect(reader.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(reader.headers.get("cache-control")).toBe("no-store");
    expect(reader.headers.get("x-accel-buffering")).toBe("no");
    await poll("the head", () => reader.text().startsWith("retry: 2000\n\n"));
    await emit(client.tenantId, "model.created", { model_id: "m", text: "two\nlines" });
    const event = await reader.until("model.created");
    expect(event).toEqual({
      id: expect.any(Number),
      type: "model.created",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { model_id: "m", text: "two\nlines" },
    });
    // Events from before the connection are not in the stream.
    expect(reader.events).toHaveLength(1);
    await poll("a sign of life", () => reader.text().includes(": still here\n\n"));
  });

  it("carries the event of a change through the API", async () => {
    const client = await api.tenant();
    const reader = await stream(client);
    const key = await client.post("/api/v1/auth/api-keys", { name: "second" });
    await emit(client.tenantId, "model.created");
    expect((await reader.until("api_key.created")).data).toEqual({ api_key_id: key.body.id });
  });

  it("contains only the requested types, and no event of another tenant", async () => {
    const [client, other] = [await api.tenant(), await api.tenant()];
    const reader = await stream(client, "?types=model.created&types=model.archived");
    await emit(other.tenantId, "model.created", { of: "another" });
    await emit(client.tenantId, "audio_file.ready");
    await emit(client.tenantId, "model.archived");
    await reader.until("model.archived");
    expect(reader.events).toHaveLength(1);
  });

  it("resumes after Last-Event-ID without a gap and without a repetition", async () => {
    const client = await api.tenant();
    const first = await stream(client);
    await emit(client.tenantId, "model.created");
    const last = await first.until("model.created");
    first.close();
    // Emits more than one batch of the stream while no reader is connected.
    await emit(client.tenantId, "audio_file.ready", {}, 250);
    const second = await stream(client, "", { "Last-Event-ID": String(last.id) });
    await emit(client.tenantId, "model.archived");
    await second.until("model.archived");
    expect(second.events).toHaveLength(251);
    const ids = second.events.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids[0]).toBeGreaterThan(last.id);
  });

  it("resumes with an id from after the moment to which the database went back, as docs/backup.md says", async () => {
    const client = await api.tenant();
    const first = await stream(client);
    await emit(client.tenantId, "model.created");
    const last = await first.until("model.created");
    first.close();
    // As it was before the event.
    await execute(
      api.db,
      sql.fragment`with gone as (delete from events where tenant_id = ${client.tenantId} and seq = ${last.id})
        update event_positions set seq = seq - 1 where tenant_id = ${client.tenantId}`,
    );
    const known = { "Last-Event-ID": String(last.id) };
    expect((await client.get("/api/v1/events/stream", known)).status).toBe(422);
    const url = new URL(api.db.configuration.connectionUri);
    // psql does not read the options as the pool writes them.
    url.search = "";
    // The programs of PLOSIVE_TEST_POSTGRES may come without psql; that of Debian is on the path of the tests.
    const env = { PATH: `${serverPrograms()}:${process.env.PATH}`, OWNER_URL: url.href };
    await promisify(execFile)("/bin/bash", ["-c", blockOf("docs/backup.md", "psql ")], { env });
    const second = await stream(client, "", known);
    await emit(client.tenantId, "audio_file.ready");
    expect((await second.until("audio_file.ready")).id).toBeGreaterThan(last.id);
  });

  it.each(["x", "-1", "1.5", "1e3", "99999999999999999999", "999999999", "1, 2"])(
    "refuses %s as Last-Event-ID",
    async (value) => {
      const client = await api.tenant();
      const answer = await client.get("/api/v1/events/stream", { "Last-Event-ID": value });
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["header", "Last-Event-ID"]]);
    },
  );

  it("can be open ten times per tenant, and a closed stream frees its slot", async () => {
    const client = await api.tenant();
    const readers = await Promise.all(Array.from({ length: 10 }, () => stream(client)));
    expect(readers.map((reader) => reader.status)).toEqual(Array(10).fill(200));
    const refused = await client.get("/api/v1/events/stream");
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_streams"]);
    expect((await stream(await api.tenant())).status).toBe(200);
    readers[0]?.close();
    const again = await poll("a place", async () => {
      const reader = await stream(client);
      return reader.status === 200 && reader;
    });
    for (const reader of [again, ...readers]) reader.close();
  });

  it("ends when its key is revoked and when its account is suspended", async () => {
    const client = await api.tenant();
    const second = (await client.post("/api/v1/auth/api-keys", { name: "second" })).body;
    const reader = await stream(clientOf(api.url, second.key, client.tenantId));
    const other = await stream(client);
    expect((await client.delete(`/api/v1/auth/api-keys/${second.id}`)).status).toBe(204);
    expect(await reader.ended).toBe("closed");
    await emit(client.tenantId, "model.created");
    await other.until("model.created");
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${client.tenantId}`,
    );
    expect(await other.ended).toBe("closed");
  });

  it("ends when its key expires, although an expiry sends no notification", async () => {
    const client = await api.tenant();
    const expires_at = new Date(Date.now() + 1_000).toISOString();
    const key = (await client.post("/api/v1/auth/api-keys", { name: "short", expires_at })).body.key;
    expect(await (await stream(clientOf(api.url, key, client.tenantId))).ended).toBe("closed");
  });

  it("shows signs of life while it passes many events that are not wanted", async () => {
    const client = await api.tenant();
    await emit(client.tenantId, "model.created");
    const first = (await client.get("/api/v1/events")).body.items.at(-1).id;
    await execute(
      api.db,
      sql.fragment`insert into events (tenant_id, seq, type, data, created_at)
        select ${client.tenantId}, 1000000 + n,
          case n when 40000 then 'audio_file.ready' else 'model.created' end, '{}'::jsonb, now()
        from generate_series(1, 40000) n`,
    );
    const reader = await stream(client, "?types=audio_file.ready", { "Last-Event-ID": String(first) });
    await reader.until("audio_file.ready");
    expect(reader.text().split("audio_file.ready")[0]).toContain(": still here");
    reader.close();
  });

  it("is cut when its reader stalls, without filling memory", async () => {
    const client = await api.tenant();
    await emit(client.tenantId, "model.created");
    const first = (await client.get("/api/v1/events")).body.items.at(-1).id;
    // More than any socket buffers.
    await execute(
      api.db,
      sql.fragment`insert into events (tenant_id, seq, type, data, created_at)
        select ${client.tenantId}, 1000000 + n, 'model.created', jsonb_build_object('text', repeat('x', 1000)), now()
        from generate_series(1, 40000) n`,
    );
    // Nine streams besides the stalled one: the eleventh is refused until the server cuts the stalled one.
    const others = await Promise.all(Array.from({ length: 9 }, () => stream(client)));
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.write(
      `GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\nLast-Event-ID: ${first}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    expect((await stream(client)).status).toBe(429);
    const place = await poll("the stalled reader to be cut", async () => {
      const reader = await stream(client);
      return reader.status === 200 && reader;
    });
    for (const reader of [place, ...others]) reader.close();
    socket.resume();
    await closed;
  });
});

describe("a client that disconnects", () => {
  it("while its request is being checked leaves no used slot", async () => {
    const client = await api.tenant();
    const deps = testDeps(api.pool, api.storage);
    const own = await serveApi(deps);
    const url = `${own.url}/api/v1/events/stream`;
    try {
      // Some disconnect before the look-up of their key, some during it, some after the stream has begun.
      for (let wave = 0; wave < 8; wave++) {
        const sockets = Array.from({ length: 10 }, (_, i) => {
          const socket = connect(own.server.port, "127.0.0.1");
          socket.on("error", () => {});
          socket.write(`GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\n\r\n`);
          setTimeout(() => socket.destroy(), wave * 3 + i);
          return new Promise((resolve) => socket.once("close", resolve));
        });
        await Promise.all(sockets);
      }
      await poll("all places to be free", async () =>
        /plosive_waiting_requests\{what="stream"\} 0/.test(await deps.registry.metrics()),
      );
      const readers = await Promise.all(Array.from({ length: 10 }, () => readEvents(url, client.key)));
      expect(readers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      for (const reader of readers) reader.close();
    } finally {
      await own.stop();
    }
  });
});

describe("without keep-alive comments", () => {
  it("the stream reacts to a revoked key and to an event, because a notification wakes it", async () => {
    const client = await api.tenant();
    const second = (await client.post("/api/v1/auth/api-keys", { name: "second" })).body;
    const deps = { ...testDeps(api.pool, api.storage), timing: { beatMs: neverMs } };
    const own = await serveApi(deps);
    const url = `${own.url}/api/v1/events/stream`;
    try {
      const readers = [await readEvents(url, client.key), await readEvents(url, second.key)];
      // The listener is connected when the first of these events arrives.
      await emit(client.tenantId, "model.created");
      for (const reader of readers) await reader.until("model.created");
      await poll("the listener", async () => {
        await emit(client.tenantId, "model.archived");
        return readers[1]?.events.some(({ type }) => type === "model.archived");
      });
      await client.delete(`/api/v1/auth/api-keys/${second.id}`);
      expect(await readers[1]?.ended).toBe("closed");
      await emit(client.tenantId, "audio_file.ready");
      await readers[0]?.until("audio_file.ready");
      readers[0]?.close();
    } finally {
      await own.stop();
    }
  });
});

describe("an API process that stops", () => {
  it("ends its streams cleanly and at once, and another process resumes them", async () => {
    const client = await api.tenant();
    const deps = testDeps(api.pool, api.storage);
    const own = await serveApi(deps);
    const reader = await readEvents(`${own.url}/api/v1/events/stream`, client.key);
    await emit(client.tenantId, "model.created");
    const last = await reader.until("model.created");
    own.app.drain();
    expect(await reader.ended).toBe("closed");
    const start = performance.now();
    const graceMs = 10_000;
    await own.server.stop(graceMs);
    expect(performance.now() - start).toBeLessThan(graceMs);
    await own.stop();
    await emit(client.tenantId, "model.archived");
    const next = await stream(client, "", { "Last-Event-ID": String(last.id) });
    await next.until("model.archived");
    expect(next.events).toHaveLength(1);
  });
});
