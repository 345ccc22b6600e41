// `make bench-scale`: a database of 1,000 tenants, migrated by this release's migrations while clients write, read at 200
// requests a second, and with its largest dataset deleted meanwhile. Prints the tables.
// Usage: main.ts [--tenants 1000] [--seconds 60] [--from 0018_embeddings_again.sql].
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { hashApiKey, makeApiKey, prefixOf } from "../../../src/api/api-key-format.ts";
import { insertApiKey } from "../../../src/db/api-key.ts";
import { migrate } from "../../../src/db/driver/migrate.ts";
import { makeDatabase, statementTimeoutMs } from "../../../src/db/driver/pool.ts";
import { doBackgroundWork } from "../../../src/db/operator/background-work.ts";
import { repoDir } from "../../../tools/cache.ts";
import { idOf, numbersKeptByTriggers, type Sizes, seedStatements } from "../../support/seed.ts";
import { makeSend, type Send } from "../fair/traffic.ts";
import { startApi, startBackends } from "../servers.ts";
import { type Endpoint, lineOf, loadAt, type Times, tableHead } from "./load.ts";
import { longestWait } from "./locks.ts";

const { values } = parseArgs({
  options: {
    tenants: { type: "string", default: "1000" },
    seconds: { type: "string", default: "60" },
    from: { type: "string", default: "0018_embeddings_again.sql" },
  },
});
const seconds = Number(values.seconds);
const requestsPerSecond = 200;
/** The caches are cold after the migrations. */
const warmUpSeconds = 30;
const say = (text: string) => void process.stdout.write(`${text}\n`);

/** 1 M audio files, 20 M annotations, 500,000 jobs, 50 M detections and events. */
const sizes: Sizes = {
  tenants: Number(values.tenants),
  datasets: 10,
  filesPerDataset: 100,
  setsPerDataset: 2,
  labelsPerSet: 1_000,
  jobs: 250,
  filesPerInference: 4,
  detectionsPerFile: 45,
  events: 5_000,
  deliveries: 200,
  largest: { files: 100_000, labels: 1_000_000 },
};

const migrations = readdirSync(join(repoDir, "src/db/migrations")).sort();
const older = migrations.filter((name) => name <= values.from);

const backends = await startBackends({ shared_buffers: "1GB", max_wal_size: "8GB", autovacuum: "off" });
const owner = { PLOSIVE_DATABASE_URL: backends.postgresUrl, PLOSIVE_DATABASE_POOL: 2 };
const pool = await makeDatabase(owner, 24 * 3_600_000);
try {
  await migrate(pool, older);
  await insertRows();
  // As autovacuum has done in an installation: index-only scans need the visibility map.
  await maintain("vacuum analyze");
  await migrateWhileClientsWrite();
  await readAndDelete();
} finally {
  await pool.end();
  await backends.stop();
}

async function insertRows(): Promise<void> {
  const client = new Client({ connectionString: backends.postgresUrl });
  await client.connect();
  await client.query("set session_replication_role = replica");
  for (const { what, text } of seedStatements(sizes).filter(({ what }) => what !== numbersKeptByTriggers)) {
    const begin = performance.now();
    await client.query(text);
    say(`bench-scale: inserted ${what} in ${((performance.now() - begin) / 1_000).toFixed(0)} s`);
  }
  const { rows } = await client.query(`
    select relname as name, n_live_tup::bigint as rows, pg_size_pretty(pg_total_relation_size(relid)) as size
    from pg_stat_user_tables where n_live_tup > 10000 order by n_live_tup desc`);
  say("\n| table | rows | with indexes |\n|---|---|---|");
  for (const { name, rows: count, size } of rows)
    say(`| ${name} | ${Number(count).toLocaleString("en")} | ${size} |`);
  await client.end();
}

async function maintain(statement: string): Promise<void> {
  const client = new Client({ connectionString: backends.postgresUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function migrateWhileClientsWrite(): Promise<void> {
  say("\n| migration | s | longest wait of a client, ms |\n|---|---|---|");
  for (const name of migrations.filter((one) => !older.includes(one))) {
    const begin = performance.now();
    const wait = await longestWait(backends.postgresUrl, idOf(2), () =>
      migrate(pool, [...older, name]).then(() => older.push(name)),
    );
    say(`| ${name} | ${((performance.now() - begin) / 1_000).toFixed(1)} | ${wait.toFixed(0)} |`);
  }
}

async function keyOf(tenant: number): Promise<string> {
  const key = makeApiKey(randomBytes);
  const made = { name: "bench", prefix: prefixOf(key), hash: hashApiKey(key), expiresAt: null };
  await insertApiKey(pool, idOf(tenant), made);
  return key;
}

async function readAndDelete(): Promise<void> {
  const api = await startApi(backends, backends.postgresUrl);
  const url = `http://127.0.0.1:${api.port}`;
  const tenants = [1, ...Array.from({ length: 49 }, (_, i) => 2 + i)].filter((n) => n <= sizes.tenants);
  const clients = new Map<number, { send: Send; end: () => void }>();
  for (const tenant of tenants) clients.set(tenant, makeSend(url, await keyOf(tenant)));
  const random = () => tenants[Math.floor(Math.random() * tenants.length)]!;
  const send = (tenant: number, path: string) => clients.get(tenant)!.send({ method: "GET", path });
  const set = (dataset: number) =>
    `/api/v1/datasets/${idOf(1, dataset)}/annotation-sets/${idOf(1, (dataset - 1) * 2 + 1)}`;
  const of =
    (path: (tenant: number) => string): Endpoint["send"] =>
    () => {
      const tenant = random();
      return send(tenant, path(tenant));
    };
  const one = (tenant: number) => idOf(tenant, 1 + Math.floor(Math.random() * sizes.jobs));
  const endpoints: Endpoint[] = [
    { name: "datasets", send: of(() => "/api/v1/datasets") },
    { name: "a dataset", send: of((t) => `/api/v1/datasets/${idOf(t, 2)}`) },
    { name: "audio files", send: of((t) => `/api/v1/datasets/${idOf(t, 2)}/audio`) },
    {
      name: "audio files of the largest dataset",
      send: () => send(1, `/api/v1/datasets/${idOf(1, 1)}/audio`),
    },
    { name: "annotation sets", send: of((t) => `/api/v1/datasets/${idOf(t, 2)}/annotation-sets`) },
    {
      name: "annotations, a page",
      send: of((t) => `/api/v1/datasets/${idOf(t, 2)}/annotation-sets/${idOf(t, 3)}/annotations?page=2`),
    },
    { name: "annotations of the largest set, a page", send: () => send(1, `${set(1)}/annotations?page=2`) },
    { name: "training jobs", send: of(() => "/api/v1/training-jobs") },
    { name: "a training job", send: of((t) => `/api/v1/training-jobs/${one(t)}`) },
    { name: "models", send: of(() => "/api/v1/models") },
    { name: "inference jobs", send: of(() => "/api/v1/inference-jobs") },
    { name: "inference files", send: of((t) => `/api/v1/inference-jobs/${one(t)}/files`) },
    { name: "detections", send: of((t) => `/api/v1/inference-jobs/${one(t)}/detections`) },
    { name: "job events", send: of((t) => `/api/v1/inference-jobs/${one(t)}/events`) },
    { name: "events", send: of(() => "/api/v1/events") },
    { name: "deliveries", send: of((t) => `/api/v1/webhooks/${idOf(t, 1)}/deliveries`) },
    { name: "usage", send: of(() => "/api/v1/usage") },
  ];
  // Writes what the migrations have changed, so that reads do not wait for it.
  await maintain("checkpoint");
  await loadAt(endpoints, requestsPerSecond, warmUpSeconds);
  const quiet = await loadAt(endpoints, requestsPerSecond, seconds);

  const others = endpoints.filter(({ name }) => !name.includes("largest"));
  const begin = performance.now();
  const path = `/api/v1/datasets/${idOf(1, 1)}`;
  const deletion = clients.get(1)!.send({ method: "DELETE", path });
  let gone = Number.NaN;
  const operator = startBackgroundWork();
  const watch = (async () => {
    const left = new Client({ connectionString: backends.postgresUrl });
    await left.connect();
    const text = "select exists (select from datasets where id = $1) as present";
    while ((await left.query(text, [idOf(1, 1)])).rows[0].present)
      await new Promise((resolve) => setTimeout(resolve, 500));
    gone = (performance.now() - begin) / 1_000;
    await left.end();
  })();
  const during = await loadAt(others, requestsPerSecond, seconds);
  const answer = await deletion;
  say(
    `\nThe deletion of the largest dataset was answered with ${answer.status} after ${answer.ms.toFixed(0)} ms.`,
  );
  await watch;
  await operator.stop();
  say(`All its rows were gone after ${gone.toFixed(0)} s.\n`);
  say(tableHead);
  for (const { name } of endpoints)
    say(lineOf(name, quiet.get(name)!, during.get(name) as Times | undefined));
  for (const client of clients.values()) client.end();
  await api.stop();
}

/** Deletes the rows as the operator does (controllers/background.ts): piece by piece, with pauses. */
function startBackgroundWork(): { stop: () => Promise<void> } {
  let isOver = false;
  const work = (async () => {
    const db = await makeDatabase(owner, statementTimeoutMs.operator, "plosive_operator");
    while (!isOver) {
      const begin = performance.now();
      const kind = await doBackgroundWork(db);
      await pause(kind === null ? 1_000 : performance.now() - begin);
    }
    await db.end();
  })();
  return {
    stop: async () => {
      isOver = true;
      await work;
    },
  };
}
