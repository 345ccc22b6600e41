// The event stream while the database or the connection for notifications is away.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeListener } from "../../src/db/driver/listen.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { makeLog } from "../../src/log.ts";
import { execute, serveApi, testDeps, useApi } from "../support/api.ts";
import { readEvents, useEvents } from "../support/events.ts";
import { poll } from "../support/poll.ts";
import { startProxy } from "../support/proxy.ts";

const api = useApi({ timing: { beatMs: 300, stallMs: 5_000 } });
/** An interval of keep-alive comments that no test reaches. */
const neverMs = 600_000;
const { stream, emit } = useEvents(api);
/** Ends all connections that wait for notifications. */
const endListening = () =>
  execute(
    api.db,
    sql.fragment`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'plosive-listen' and datname = current_database()`,
  );

describe("a database outage", () => {
  it("ends no stream, and events from during and after the outage arrive once", async () => {
    const client = await api.tenant();
    await emit(client.tenantId, "audio_file.failed");
    const proxy = await startProxy(api.pool.configuration.connectionUri);
    const pool = await makeDatabase(
      { PLOSIVE_DATABASE_URL: proxy.url, PLOSIVE_DATABASE_POOL: 3 },
      undefined,
      "plosive_api",
    );
    const deps = { ...testDeps(pool, api.storage), timing: { beatMs: 300 }, log: makeLog("test", "fatal") };
    const direct = makeListener({ url: api.pool.configuration.connectionUri, log: deps.log });
    const losses: null[] = [];
    direct.on("plosive_keys", (payload) => payload === null && losses.push(payload));
    const own = await serveApi({ ...deps, listener: direct });
    try {
      const reader = await readEvents(`${own.url}/api/v1/events/stream`, client.key);
      await emit(client.tenantId, "model.created", { n: 1 });
      await reader.until("model.created");
      proxy.cut();
      // A notification of the key's end may be lost now, and the key cannot be checked.
      losses.length = 0;
      await endListening();
      await poll("the connection again", () => losses.length > 0);
      await emit(client.tenantId, "model.archived", { n: 2 });
      // The stream has survived the outage when it has sent several keep-alive comments without the database.
      const before = reader.text().length;
      await poll("signs of life", () => reader.text().slice(before).split(": still here").length > 2);
      expect(reader.events).toHaveLength(1);
      proxy.heal();
      await reader.until("model.archived");
      await emit(client.tenantId, "audio_file.ready", { n: 3 });
      await reader.until("audio_file.ready");
      expect(reader.events.map(({ data }) => data.n)).toEqual([1, 2, 3]);
      reader.close();
    } finally {
      await own.stop();
      await pool.end();
      await proxy.stop();
    }
  });
});

describe("a failed read", () => {
  it("is repeated soon, not when the next keep-alive comment is due", async () => {
    const client = await api.tenant();
    const proxy = await startProxy(api.pool.configuration.connectionUri);
    const config = { PLOSIVE_DATABASE_URL: proxy.url, PLOSIVE_DATABASE_POOL: 3 };
    const pool = await makeDatabase(config, undefined, "plosive_api");
    const log = makeLog("test", "fatal");
    const direct = makeListener({ url: api.pool.configuration.connectionUri, log });
    const deps = { ...testDeps(pool, api.storage), listener: direct, timing: { beatMs: neverMs }, log };
    const own = await serveApi(deps);
    try {
      const reader = await readEvents(`${own.url}/api/v1/events/stream`, client.key);
      await poll("the listener", async () => {
        await emit(client.tenantId, "model.created");
        return reader.events.some(({ type }) => type === "model.created");
      });
      let reads = 0;
      pool.onWait(() => reads++);
      proxy.cut();
      await emit(client.tenantId, "audio_file.ready");
      await poll("a second read", () => reads > 1);
      proxy.heal();
      await reader.until("audio_file.ready");
      reader.close();
    } finally {
      await own.stop();
      await pool.end();
      await proxy.stop();
    }
  });
});

describe("the LISTEN connection", () => {
  let listener: ReturnType<typeof makeListener>;
  beforeAll(() => {
    listener = makeListener({ url: api.pool.configuration.connectionUri, log: makeLog("test", "fatal") });
  });
  afterAll(() => listener.end());

  it("reconnects by itself and signals that notifications may be lost", async () => {
    const received: (string | null)[] = [];
    listener.on("plosive_jobs", (payload) => received.push(payload));
    await poll("the connection", () => received.includes(null));
    const id = randomUUID();
    await execute(api.db, sql.fragment`select pg_notify('plosive_jobs', ${id})`);
    await poll("the notification", () => received.includes(id));
    received.length = 0;
    await endListening();
    await poll("the connection again", () => received.includes(null));
    await execute(api.db, sql.fragment`select pg_notify('plosive_jobs', ${id})`);
    await poll("the notification again", () => received.includes(id));
  });

  it("can be down while events occur, and the streams catch up", async () => {
    const client = await api.tenant();
    const log = makeLog("test", "fatal");
    const proxy = await startProxy(api.pool.configuration.connectionUri);
    const cuttable = makeListener({ url: proxy.url, log });
    const deps = { ...testDeps(api.pool, api.storage), listener: cuttable, timing: { beatMs: neverMs } };
    const own = await serveApi(deps);
    try {
      const received: (string | null)[] = [];
      cuttable.on("plosive_events", (payload) => received.push(payload));
      await poll("the connection", () => received.includes(null));
      const other = await stream(client);
      const reader = await readEvents(`${own.url}/api/v1/events/stream`, client.key);
      await emit(client.tenantId, "audio_file.ready");
      await reader.until("audio_file.ready");
      await poll("the notification", () => received.includes(client.tenantId));
      await poll("the streams to have read", () => api.pool.state().acquiredConnections === 0);
      proxy.cut();
      await emit(client.tenantId, "model.created");
      await other.until("model.created");
      expect(reader.events.map(({ type }) => type)).toEqual(["audio_file.ready"]);
      proxy.heal();
      await reader.until("model.created");
      reader.close();
    } finally {
      await own.stop();
      await proxy.stop();
    }
  });
});
