// Fetches of operator processes: each process is killed during a fetch, at another one of its calls to Postgres and S3, and the
// next process goes on.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { execute, makeTenant, type ServedApi, serveApi, testDeps, testSettings } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { startVictim } from "../support/faults.ts";
import { environmentIn } from "../support/operator-process.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { useStorage } from "../support/s3.ts";

const database = useDatabase();
const store = useStorage();
const bytes = wav();
const dir = mkdtempSync(join(tmpdir(), "plosive-fetches-"));
let server: Receiver;
let api: ServedApi;
beforeAll(async () => {
  server = await startReceiver((_, response) => void response.writeHead(200).end(bytes));
  const config = testSettings({ PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: new Set([server.origin]) });
  api = await serveApi({ ...testDeps(database.apiPool, store.storage), config });
});
afterAll(async () => {
  await api.stop();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

function startOperator() {
  const { config } = store;
  const servers = { databaseUrl: database.urlOf("plosive_operator"), storeUrl: config.PLOSIVE_S3_ENDPOINT };
  return startVictim(servers, [join(import.meta.dirname, "../../controllers/main.ts")], (faults) => ({
    ...environmentIn(dir, faults.databaseUrl, {
      ...config,
      PLOSIVE_S3_ENDPOINT: faults.storeUrl,
      PLOSIVE_S3_PUBLIC_ENDPOINT: config.PLOSIVE_S3_ENDPOINT,
    }),
    PLOSIVE_LOG_LEVEL: "error",
    PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: server.origin,
  }));
}

it("a fetch survives the kill of its process at any of its calls", async () => {
  let operator = await startOperator();
  const client = await makeTenant(database.pool, api.url);
  const files = `/api/v1/datasets/${(await client.post("/api/v1/datasets", { name: "d" })).body.id}/audio`;
  try {
    for (const after of [1, 4, 7, 10, 13, 16, 20, 25]) {
      const { id } = (await client.post(`${files}/from-url`, { url: `${server.origin}/a.wav` })).body;
      const victim = operator;
      victim.faults.arm(after, () => victim.child.kill("SIGKILL"));
      await victim.gone();
      // The leases of the killed process last a minute; the test ends them.
      await execute(database.pool, sql.fragment`update url_uploads set leased_until = null`);
      await execute(database.pool, sql.fragment`delete from leases`);
      operator = await startOperator();
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
    operator.child.kill("SIGKILL");
    await operator.gone();
  }
});
