// The API during outages of its backends: it reports them, keeps running, and recovers.
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DatabasePool, makeDatabase } from "../../src/db/driver/pool.ts";
import { makeStorage, type Storage } from "../../src/storage/storage.ts";
import { type Client, execute, makeTenant, type ServedApi, serveApi, testDeps } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { untilLocked } from "../support/locks.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";
import { useStorage } from "../support/s3.ts";
import { postForm } from "../support/upload.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const database = useDatabase();
const store = useStorage();
let proxies: { database: TestProxy; store: TestProxy };
let db: DatabasePool;
let storage: Storage;
let served: ServedApi;
let client: Client;

beforeAll(async () => {
  proxies = {
    database: await startProxy(database.urlOf("plosive_api")),
    store: await startProxy(store.config.PLOSIVE_S3_ENDPOINT),
  };
  db = await makeDatabase(
    { PLOSIVE_DATABASE_URL: proxies.database.url, PLOSIVE_DATABASE_POOL: 5 },
    undefined,
    "plosive_api",
  );
  storage = makeStorage({
    ...store.config,
    PLOSIVE_S3_ENDPOINT: proxies.store.url,
    PLOSIVE_S3_PUBLIC_ENDPOINT: store.config.PLOSIVE_S3_ENDPOINT,
  });
  const deps = testDeps(db, storage);
  deps.log.level = "silent";
  served = await serveApi(deps);
  client = await makeTenant(database.pool, served.url);
});
afterAll(async () => {
  await served.stop();
  await db.end();
  storage.close();
  await proxies.database.stop();
  await proxies.store.stop();
});

describe("without its database", () => {
  it("the API answers 503 with Retry-After, stays alive, is not ready, and recovers by itself", async () => {
    const dataset = await makeDataset(client);
    proxies.database.cut();
    for (const path of ["/api/v1/datasets", `/api/v1/datasets/${dataset}`, "/api/v1/training-jobs"]) {
      const answer = await client.get(path);
      expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
      expect(answer.headers.get("retry-after")).toBe("2");
      expect(answer.text).not.toContain("127.0.0.1");
    }
    const many = await Promise.all(
      Array.from({ length: 20 }, () => client.post("/api/v1/datasets", { name: "x" })),
    );
    expect(new Set(many.map((answer) => answer.status))).toEqual(new Set([503]));
    expect((await client.get("/healthz")).status).toBe(200);
    const ready = await client.get("/readyz");
    const notReady = (detail: string) => ({ status: 503, body: { detail, code: "unavailable" } });
    expect(ready).toMatchObject(notReady("Not ready: database fail, shutdown ok"));
    expect(ready.headers.get("retry-after")).toBe("2");
    expect(await client.get("/startupz")).toMatchObject(notReady("Not ready: database fail"));

    proxies.database.heal();
    await poll("the API to work again", async () => (await client.get("/readyz")).status === 200);
    expect((await client.get("/api/v1/datasets")).body.total).toBe(1);
  });

  it("the API stays started once it has reached the database", async () => {
    expect((await client.get("/startupz")).status).toBe(200);
    proxies.database.cut();
    expect((await client.get("/startupz")).status).toBe(200);
    proxies.database.heal();
    await poll("the API to work again", async () => (await client.get("/readyz")).status === 200);
  });

  it("the API cuts off a list that it is sending, so that it never looks complete", async () => {
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(database.pool, client.tenantId, dataset);
    const set = (await client.post(`/api/v1/datasets/${dataset}/annotation-sets`)).body.id;
    await execute(
      database.pool,
      sql.fragment`
      insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms, end_ms, extra_data)
      select gen_random_uuid(), ${client.tenantId}, ${dataset}, ${set}, ${audio}, 'click', n, n + 1,
        jsonb_build_object('text', repeat('x', 1000))
      from generate_series(1, 30000) n`,
    );
    const path = `/api/v1/datasets/${dataset}/annotation-sets/${set}/annotations`;
    const response = await fetch(`${served.url}${path}`, {
      headers: { "X-API-Key": client.key },
    });
    expect(response.headers.get("x-total-count")).toBe("30000");
    const reader = response.body!.getReader();
    await reader.read();
    proxies.database.cut();
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow();
    proxies.database.heal();
    await poll("the API to work again", async () => (await client.get("/readyz")).status === 200);
  });
});

describe("without its object store", () => {
  it("the API answers a confirm with 503 and changes nothing, and a later confirm succeeds", async () => {
    const dataset = await makeDataset(client);
    const bytes = wav();
    const ticket = (
      await client.post(`/api/v1/datasets/${dataset}/audio/upload-url`, {
        filename: "x.wav",
        content_type: "audio/wav",
        size_bytes: bytes.length,
      })
    ).body;
    expect(await postForm(ticket.upload, bytes)).toBe(201);
    const path = `/api/v1/datasets/${dataset}/audio/${ticket.audio_file_id}`;
    proxies.store.cut();
    const answer = await client.post(`${path}/confirm`);
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(answer.headers.get("retry-after")).toBe("2");
    expect((await client.get(path)).body.status).toBe("pending_upload");
    expect((await client.get("/readyz")).status).toBe(200);
    proxies.store.heal();
    expect((await client.post(`${path}/confirm`)).body.status).toBe("processing");
  });
});

describe("a draining API process", () => {
  it("is no longer ready, still answers requests, and lets running requests finish", async () => {
    const own = await serveApi(testDeps(database.apiPool, store.storage));
    const { url } = own;
    own.app.drain();
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      detail: "Not ready: database ok, shutdown fail",
      code: "unavailable",
    });
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const lock = database.pool.transaction(async (tx) => {
      await execute(tx, sql.fragment`lock table datasets`);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const running = fetch(`${url}/api/v1/datasets`, { headers: { "X-API-Key": client.key } });
    await untilLocked(database.pool);
    const stopped = own.server.stop(5_000);
    released.resolve();
    await lock;
    const answer = await running;
    expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
    await stopped;
    await own.stop();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});
