// The API process as the chart starts it: configuration, both ports, SIGTERM.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { suspendTenant } from "../../src/db/tenant.ts";
import { freePorts, nodeEnv } from "../../tools/process.ts";
import { makeTenant } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { useStorage } from "../support/s3.ts";

const database = useDatabase();
const store = useStorage();

function start(env: Record<string, string>) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../src/main.ts")], {
    env: { ...nodeEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  return { child, exited: once(child, "close"), output: () => output };
}

describe("the API process", () => {
  it("names every missing or malformed setting and exits", async () => {
    const { exited, output } = start({ PLOSIVE_S3_ENDPOINT: "not a URL", PLOSIVE_S3_ACCESS_KEY_ID: "id" });
    expect((await exited)[0]).not.toBe(0);
    expect(output()).toContain("PLOSIVE_DATABASE_URL");
    expect(output()).toContain("PLOSIVE_S3_ENDPOINT");
    expect(output()).toContain("PLOSIVE_S3_SECRET_ACCESS_KEY");
  });

  it("serves requests, has its metrics on another port, logs no key, and stops cleanly on SIGTERM", async () => {
    const [port, metricsPort] = (await freePorts(2)) as [number, number];
    const { child, exited, output } = start({
      ...Object.fromEntries(Object.entries(store.config).map(([name, value]) => [name, String(value)])),
      PLOSIVE_DATABASE_URL: database.urlOf("plosive_api"),
      PLOSIVE_HTTP_PORT: String(port),
      PLOSIVE_METRICS_PORT: String(metricsPort),
    });
    try {
      const url = `http://127.0.0.1:${port}`;
      await poll("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok);
      const client = await makeTenant(database.pool, url);
      expect((await client.post("/api/v1/datasets", { name: "x" })).status).toBe(201);
      await fetch(`${url}/api/v1/datasets?name=${client.key}`, { headers: { "X-API-Key": client.key } });
      expect((await fetch(`${url}/metrics`)).status).toBe(404);
      const dataset = (await client.get("/api/v1/datasets")).body.items[0].id;
      const file = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
      const audio = `/api/v1/datasets/${dataset}/audio`;
      const ticket = (await client.post(`${audio}/upload-url`, file)).body;
      await client.post(`${audio}/upload-urls`, { files: [file, file] });
      expect((await client.post(`${audio}/${ticket.audio_file_id}/confirm`)).status).toBe(409);
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      expect(metrics).toContain(
        'plosive_http_requests_total{method="POST",route="/api/v1/datasets",status="201"} 1',
      );
      for (const line of [
        /^plosive_uploads_total{outcome="announced"} 3$/m,
        /^plosive_uploads_total{outcome="upload_not_found"} 1$/m,
        /^plosive_database_connections{state="in_use"} \d+$/m,
        /^plosive_database_connections{state="idle"} [1-9]\d*$/m,
        /^plosive_database_connections_limit 10$/m,
        /^plosive_database_waiting 0$/m,
        /^plosive_database_wait_seconds_count [1-9]\d*$/m,
        /^plosive_http_request_seconds_count{.*route="\/api\/v1\/datasets".*} \d+$/m,
        /^nodejs_eventloop_lag_p99_seconds /m,
        /^process_resident_memory_bytes \d+$/m,
        /^# TYPE plosive_rate_limited_total counter$/m,
      ])
        expect(metrics).toMatch(line);
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
      expect(output()).toContain('"msg":"the API has stopped"');
      expect(output()).not.toContain(client.key);
    } finally {
      child.kill("SIGKILL");
    }
  });
});

describe("two API processes on one database", () => {
  // Tells their connections from those of the test.
  const applicationName = "plosive-test-processes";
  const named = (url: string) => `${url}${url.includes("?") ? "&" : "?"}application_name=${applicationName}`;
  const running: ReturnType<typeof start>[] = [];
  const urls: string[] = [];
  beforeAll(async () => {
    const ports = await freePorts(4);
    for (const index of [0, 1]) {
      running.push(
        start({
          ...Object.fromEntries(Object.entries(store.config).map(([name, value]) => [name, String(value)])),
          PLOSIVE_DATABASE_URL: named(database.urlOf("plosive_api")),
          PLOSIVE_HTTP_PORT: String(ports[2 * index]),
          PLOSIVE_METRICS_PORT: String(ports[2 * index + 1]),
        }),
      );
      urls.push(`http://127.0.0.1:${ports[2 * index]}`);
    }
    for (const url of urls) await poll("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok);
  });
  afterAll(async () => {
    for (const { child } of running) child.kill("SIGTERM");
    await Promise.all(running.map(({ exited }) => exited));
  });

  const list = async (url: string, key: string) => {
    const answer = await fetch(`${url}/api/v1/datasets`, { headers: { "X-API-Key": key } });
    await answer.text();
    return answer.status;
  };

  it("refuse a key from the next request on after the other process revoked it, however often they have accepted it", async () => {
    const [one, other] = urls as [string, string];
    const owner = await makeTenant(database.pool, one);
    for (let round = 0; round < 10; round++) {
      const { id, key } = (await owner.post("/api/v1/auth/api-keys", { name: `round ${round}` })).body;
      expect(await Promise.all([list(other, key), list(other, key), list(one, key)])).toEqual([
        200, 200, 200,
      ]);
      expect((await owner.delete(`/api/v1/auth/api-keys/${id}`)).status).toBe(204);
      expect(await list(other, key)).toBe(401);
    }
  });

  it("refuse a suspended tenant from the next request on, and accept it again after its release", async () => {
    const owner = await makeTenant(database.pool, urls[0]!);
    const both = () => Promise.all(urls.map((url) => list(url, owner.key)));
    expect(await both()).toEqual([200, 200]);
    await suspendTenant(database.pool, owner.tenantId, true);
    expect(await both()).toEqual([403, 403]);
    await suspendTenant(database.pool, owner.tenantId, false);
    expect(await both()).toEqual([200, 200]);
  });

  it("log no warning about row-level security with separate database users, and warn when they connect as the owner", async () => {
    const warning = "create a separate database user for it";
    const [owner, own] = [database.url, database.urlOf("plosive_api")].map((url) => new URL(url).username);
    const usersNow = () =>
      database.pool.anyFirst(sql.type(z.object({ name: z.string() }))`
        select distinct usename as name from pg_stat_activity
        where datname = current_database() and application_name = ${applicationName}
        order by 1`);
    expect(await usersNow()).toEqual([own]);
    for (const { output } of running) expect(output()).not.toContain(warning);
    const [port, metricsPort] = (await freePorts(2)) as [number, number];
    const owners = start({
      ...Object.fromEntries(Object.entries(store.config).map(([name, value]) => [name, String(value)])),
      PLOSIVE_DATABASE_URL: named(database.url),
      PLOSIVE_HTTP_PORT: String(port),
      PLOSIVE_METRICS_PORT: String(metricsPort),
    });
    running.push(owners);
    await poll("the API to be ready", async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
    expect(owners.output()).toContain(warning);
    expect(await usersNow()).toEqual([owner, own].sort());
  });
});
