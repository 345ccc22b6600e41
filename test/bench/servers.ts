// The processes of the benchmark: Postgres, S3, the API as the chart starts it, and the peer. Called by main.ts.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { repoDir } from "../../tools/cache.ts";
import { startPostgres } from "../../tools/postgres.ts";
import { type Daemon, freePorts, startDaemon, waitUntil } from "../../tools/process.ts";
import { makeBucket, type S3Server, startS3 } from "../../tools/s3.ts";

export interface Backends {
  readonly dir: string;
  readonly postgresUrl: string;
  readonly postgresPid: number;
  readonly s3: S3Server;
  stop(): Promise<void>;
}

/** `settings`: further settings of Postgres. */
export async function startBackends(settings: Readonly<Record<string, string>> = {}): Promise<Backends> {
  // Not below $TMPDIR: Postgres runs as its own user and must be able to enter every parent directory of its data.
  const dir = mkdtempSync("/tmp/plosive-bench-");
  chmodSync(dir, 0o755);
  const [postgres, s3] = await Promise.all([
    startPostgres({ dir: join(dir, "postgres"), settings }),
    startS3({ dir: join(dir, "s3") }),
  ]);
  return {
    dir,
    postgresUrl: postgres.url,
    postgresPid: postgres.pid,
    s3,
    stop: async () => {
      await Promise.all([postgres.stop(), s3.stop()]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface Server {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Connections to Postgres that each server may open. */
const poolSize = "10";

/** The API with all features: row-level security, metrics, a log line for each request. */
export async function startApi(backends: Backends, databaseUrl: string): Promise<Server> {
  const [port = 0, metricsPort = 0] = await freePorts(2);
  const storage = await makeBucket(backends.s3, "bench");
  const daemon = startDaemon({
    name: "api",
    command: process.execPath,
    args: [join(repoDir, "src/main.ts")],
    log: join(backends.dir, "api.log"),
    cwd: repoDir,
    env: {
      PATH: process.env.PATH,
      // The environment of images/server/Dockerfile.
      NODE_ENV: "production",
      NODE_OPTIONS: "--expose-gc --max-semi-space-size=8",
      MALLOC_ARENA_MAX: "1",
      ...storage,
      PLOSIVE_DATABASE_URL: databaseUrl,
      PLOSIVE_DATABASE_POOL: poolSize,
      PLOSIVE_HTTP_PORT: String(port),
      PLOSIVE_METRICS_PORT: String(metricsPort),
      // The rate limiter's statement runs as usual, with a limit that it never reaches.
      PLOSIVE_RATE_PER_MINUTE: "100000000",
      PLOSIVE_RATE_BURST: "100000000",
      PLOSIVE_RATE_WRITES_PER_MINUTE: "100000000",
    },
  });
  return await ready("plosive", daemon, port, "/readyz");
}

/** FastAPI in one uvicorn process, with its access log. */
export async function startPeer(backends: Backends, databaseUrl: string, python: string): Promise<Server> {
  const [port = 0] = await freePorts(1);
  const daemon = startDaemon({
    name: "peer",
    command: python,
    args: [
      "-m",
      "uvicorn",
      "app:app",
      "--app-dir=test/bench/peer",
      "--loop=uvloop",
      "--http=httptools",
      // The API's keep-alive time.
      "--timeout-keep-alive=75",
      `--port=${port}`,
    ],
    log: join(backends.dir, "peer.log"),
    cwd: repoDir,
    env: {
      PATH: process.env.PATH,
      PYTHONDONTWRITEBYTECODE: "1",
      PEER_DATABASE_URL: databaseUrl,
      PEER_POOL: poolSize,
    },
  });
  return await ready("fastapi", daemon, port, "/openapi.json");
}

async function ready(name: string, daemon: Daemon, port: number, path: string): Promise<Server> {
  const answers = async () => (await fetch(`http://127.0.0.1:${port}${path}`)).ok;
  await waitUntil(`${name} to answer`, answers, { timeoutMs: 30_000, daemons: [daemon] });
  return { name, port, pid: daemon.pid, stop: () => daemon.kill("SIGTERM") };
}

/** Present resident memory of a process. */
export function residentBytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) * 1024;
}

/** CPU seconds that a process has used, user and system. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
