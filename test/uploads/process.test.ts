// Fetches of API processes as the chart starts them: each process is killed during a fetch, at another one of its calls to
// Postgres and S3, and the next process goes on.
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { freePorts } from "../../tools/process.ts";
import { unlimited } from "../hostile/unlimited.ts";
import { clientOf, execute, makeTenant } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { startVictim } from "../support/faults.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { useStorage } from "../support/s3.ts";

const database = useDatabase();
const store = useStorage();
const bytes = wav();
let server: Receiver;
beforeAll(async () => {
  server = await startReceiver((_, response) => void response.writeHead(200).end(bytes));
});
afterAll(() => server.stop());

async function startApi() {
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  const servers = {
    databaseUrl: database.urlOf("plosive_api"),
    storeUrl: store.config.PLOSIVE_S3_ENDPOINT,
  };
  const victim = await startVictim(servers, [join(import.meta.dirname, "../../src/main.ts")], (faults) => ({
    ...Object.fromEntries(Object.entries(store.config).map(([name, value]) => [name, String(value)])),
    PLOSIVE_DATABASE_URL: faults.databaseUrl,
    PLOSIVE_S3_ENDPOINT: faults.storeUrl,
    PLOSIVE_S3_PUBLIC_ENDPOINT: store.config.PLOSIVE_S3_ENDPOINT,
    PLOSIVE_HTTP_PORT: String(port),
    PLOSIVE_METRICS_PORT: String(metricsPort),
    PLOSIVE_LOG_LEVEL: "error",
    PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: server.origin,
    ...unlimited,
  }));
  const url = `http://127.0.0.1:${port}`;
  await victim.until("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok);
  return { ...victim, url };
}

it("a fetch survives the kill of its process at any of its calls", async () => {
  let api = await startApi();
  let client = await makeTenant(database.pool, api.url);
  const files = `/api/v1/datasets/${(await client.post("/api/v1/datasets", { name: "d" })).body.id}/audio`;
  try {
    for (const after of [1, 4, 7, 10, 13, 16, 20, 25]) {
      const { id } = (await client.post(`${files}/from-url`, { url: `${server.origin}/a.wav` })).body;
      const victim = api;
      victim.faults.arm(after, () => victim.child.kill("SIGKILL"));
      await victim.gone();
      // The leases of the killed process last a minute; the test ends them.
      await execute(database.pool, sql.fragment`update url_uploads set leased_until = null`);
      await execute(database.pool, sql.fragment`delete from leases`);
      api = await startApi();
      client = clientOf(api.url, client.key, client.tenantId);
      const read = async () => (await client.get(`${files}/${id}`)).body;
      await poll("the fetch to end", async () => (await read()).status !== "pending_upload");
      expect(await read(), `killed after ${after} calls`).toMatchObject({
        status: "processing",
        size_bytes: bytes.length,
      });
      expect((await store.storage.read(`audio/${client.tenantId}/${id}`)).equals(bytes)).toBe(true);
      const rows = sql.type(z.object({ count: z.number() }))`select count(*) as count from url_uploads`;
      await poll("the queue to be empty", async () => (await database.pool.oneFirst(rows)) === 0);
    }
    const usage = await client.get("/api/v1/usage");
    expect(usage.body.quotas.audio_bytes.used).toBe(8 * bytes.length);
  } finally {
    api.child.kill("SIGKILL");
    await api.gone();
  }
}, 300_000);
