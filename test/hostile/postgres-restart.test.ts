// A restart of Postgres under load: clients get 503 with Retry-After and no other error, the service works again within
// 5 seconds after its database, and every resource that was answered with 201 exists.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { migrate } from "../../src/db/driver/migrate.ts";
import { type DatabasePool, makeDatabase } from "../../src/db/driver/pool.ts";
import { freePorts, nodeEnv } from "../../tools/process.ts";
import { type Client, makeTenant } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { type RestartablePostgres, startRestartablePostgres } from "../support/restartable-postgres.ts";
import { storageConfig } from "../support/s3.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";
import { unlimited } from "./unlimited.ts";

const clients = 16;
let postgres: RestartablePostgres;
let child: ReturnType<typeof spawn>;
let url: string;
let client: Client;
let annotations: string;
let audio: string;

beforeAll(async () => {
  postgres = await startRestartablePostgres();
  await withDatabase(async (db) => void (await migrate(db)));
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  url = `http://127.0.0.1:${port}`;
  child = spawn(process.execPath, [join(import.meta.dirname, "../../src/main.ts")], {
    env: {
      ...nodeEnv,
      ...Object.fromEntries(Object.entries(storageConfig()).map(([name, value]) => [name, String(value)])),
      PLOSIVE_DATABASE_URL: postgres.url,
      PLOSIVE_HTTP_PORT: String(port),
      PLOSIVE_METRICS_PORT: String(metricsPort),
      PLOSIVE_LOG_LEVEL: "error",
      ...unlimited,
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  await poll("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok);
  await withDatabase(async (db) => {
    client = await makeTenant(db, url);
    const dataset = await makeDataset(client);
    audio = await addReadyAudio(db, client.tenantId, dataset);
    const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
    annotations = `${sets}/${(await client.post(sets)).body.id}/annotations/bulk`;
  });
});
afterAll(async () => {
  if (child.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await postgres.stop();
});

async function withDatabase(work: (db: DatabasePool) => Promise<void>): Promise<void> {
  const db = await makeDatabase({ PLOSIVE_DATABASE_URL: postgres.url, PLOSIVE_DATABASE_POOL: 2 });
  try {
    await work(db);
  } finally {
    await db.end();
  }
}

interface Reply {
  readonly at: number;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  readonly ids: readonly string[];
}

async function ask(i: number): Promise<Reply> {
  const label = { audio_file_id: audio, artifact_type: "click", start_ms: i % 1000, end_ms: (i % 1000) + 5 };
  const [method, path, body] = [
    ["GET", "/api/v1/datasets", undefined],
    ["POST", "/api/v1/datasets", { name: `n${i}` }],
    ["POST", annotations, { annotations: [label, label, label] }],
    ["GET", annotations.replace("/annotations/bulk", ""), undefined],
  ][i % 4] as [string, string, object | undefined];
  const response = await fetch(url + path, {
    method,
    headers: { "X-API-Key": client.key, ...(body ? { "Content-Type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const retryAfter = response.headers.get("retry-after");
  // A list whose head was sent already may be cut off.
  const text = await response.text().catch(() => "cut off");
  const made = response.status === 201 ? JSON.parse(text) : undefined;
  const ids: string[] =
    made === undefined ? [] : (made.items ?? [made]).map((item: { id: string }) => item.id);
  return { at: Date.now(), status: response.status, retryAfter, text, ids };
}

/** A connection that the API cut, which is always an error. */
const noAnswer = (error: unknown): Reply => ({
  at: Date.now(),
  status: 599,
  retryAfter: null,
  text: String(error),
  ids: [],
});

describe("Postgres under load", () => {
  it.each(["fast", "immediate", "kill"] as const)(
    "can go down by %s and come back: clients get 503, and no confirmed write is lost",
    async (how) => {
      const replies: Reply[] = [];
      let isOver = false;
      let next = 0;
      const loops = Array.from({ length: clients }, async () => {
        while (!isOver) replies.push(await ask(next++).catch(noAnswer));
      });
      const successes = () => replies.filter((answer) => answer.status < 300).length;
      await poll("requests to succeed", () => successes() > 200);
      await postgres.down(how);
      await poll(
        "503 for every client",
        () => replies.filter((answer) => answer.status === 503).length > clients,
      );
      await postgres.up();
      const upAt = Date.now();
      const before = successes();
      await poll(
        "200 answers in a row without a refusal",
        () => successes() > before + 200 && replies.slice(-200).every((answer) => answer.status < 300),
      );
      isOver = true;
      await Promise.all(loops);

      const refusals = replies.filter((answer) => answer.status >= 300);
      expect(refusals.filter((answer) => answer.status !== 503).slice(0, 3)).toEqual([]);
      for (const refusal of refusals) {
        expect(Number(refusal.retryAfter)).toBeGreaterThan(0);
        expect(JSON.parse(refusal.text)).toMatchObject({ code: "unavailable" });
      }
      const lastRefusal = Math.max(...refusals.map((answer) => answer.at));
      expect(child.exitCode).toBeNull();

      const confirmed = replies.flatMap((answer) => answer.ids);
      await withDatabase(async (db) => {
        const kept = await db.oneFirst(sql.type(z.object({ count: z.number() }))`
        select count(*)::int as count from unnest(${sql.array(confirmed, "uuid")}) as confirmed (id)
        where exists (select from datasets d where d.id = confirmed.id)
          or exists (select from annotations a where a.id = confirmed.id)`);
        expect(kept).toBe(confirmed.length);
      });
      console.info(
        `${how}: ${successes()} answers, ${confirmed.length} rows confirmed and stored, ${refusals.length} refusals, the last one ${Math.max(0, lastRefusal - upAt)} ms after Postgres was back`,
      );
    },
  );
});
