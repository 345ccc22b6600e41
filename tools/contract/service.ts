// Starts an API for the contract checks: real Postgres and S3, the same API process as in the chart, and a tenant with
// resources of each type. Called by schemathesis.ts.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureLogin } from "../../src/db/driver/login.ts";
import { migrate } from "../../src/db/driver/migrate.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { repoDir } from "../cache.ts";
import { startPostgres } from "../postgres.ts";
import { freePorts, nodeEnv, startDaemon, waitUntil } from "../process.ts";
import { makeBucket, startS3 } from "../s3.ts";
import { type Seed, seed } from "./seed.ts";

export interface Service extends Seed {
  readonly url: string;
  /** The last lines of the API's log. */
  log(): string;
  stop(): Promise<void>;
}

/** Rate limits and quotas that no run reaches. */
const plenty = Object.fromEntries(
  [
    "RATE_PER_MINUTE",
    "RATE_BURST",
    "RATE_WRITES_PER_MINUTE",
    "RATE_UPLOADS_PER_MINUTE",
    "RATE_KEYS_PER_MINUTE",
    "RATE_TRAININGS_PER_MINUTE",
    "FAILED_KEYS_PER_SECOND",
    "FAILED_KEYS_BURST",
    "QUOTA_DATASETS",
    "QUOTA_AUDIO_FILES",
    "QUOTA_ANNOTATIONS",
    "QUOTA_RUNNING_TRAININGS",
    "QUOTA_WAITING_TRAININGS",
    "QUOTA_RUNNING_INFERENCES",
    "QUOTA_WAITING_INFERENCES",
    "QUOTA_API_KEYS",
    "QUOTA_WEBHOOKS",
  ].map((name) => [`PLOSIVE_${name}`, "1000000"]),
);

/** The URL of the webhooks; no server listens there. */
const nowhere = "http://127.0.0.1:9/hook";

export async function startService(): Promise<Service> {
  // Not below $TMPDIR: Postgres runs as its own user and must be able to enter every parent folder of its data.
  const dir = mkdtempSync("/tmp/plosive-contract-");
  chmodSync(dir, 0o755);
  const started: { stop(): Promise<unknown> }[] = [];
  const stop = async () => {
    for (const one of started.reverse()) await one.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    return { ...(await start(dir, started)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(dir: string, started: { stop(): Promise<unknown> }[]): Promise<Omit<Service, "stop">> {
  const postgres = await startPostgres({ dir: join(dir, "postgres") });
  started.push(postgres);
  const s3 = await startS3({ dir: join(dir, "s3") });
  started.push(s3);
  // As in the chart, a database user with only the API's privileges.
  const login = new URL(postgres.url);
  login.username = "contract_api";
  login.password = "contract";
  const bucket = await makeBucket(s3, "contract");
  const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: postgres.url, PLOSIVE_DATABASE_POOL: 2 });
  started.push({ stop: () => pool.end() });
  await migrate(pool);
  await ensureLogin(postgres.url, login.href, ["plosive_api"]);

  const [port = 0, metricsPort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;
  const api = startDaemon({
    name: "the API",
    command: process.execPath,
    args: [join(repoDir, "src/main.ts")],
    log: join(dir, "api.log"),
    env: {
      ...nodeEnv,
      ...bucket,
      PLOSIVE_DATABASE_URL: login.href,
      PLOSIVE_DATABASE_POOL: "20",
      PLOSIVE_HTTP_PORT: String(port),
      PLOSIVE_METRICS_PORT: String(metricsPort),
      PLOSIVE_LOG_LEVEL: "warn",
      // The limit of the description; an installation may set a lower one.
      PLOSIVE_UPLOAD_MAX_BYTES: "5000000000",
      PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: new URL(nowhere).origin,
      ...plenty,
    },
  });
  started.push({ stop: () => api.kill("SIGTERM") });
  await waitUntil("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok, {
    timeoutMs: 30_000,
    daemons: [api],
  });
  return { ...(await seed(pool, url, nowhere)), url, log: () => api.tail() };
}
