// The operator and the run endpoint as processes, started as the image starts them, and the operator's metrics. Called by main.ts.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StorageConfig } from "../../../src/storage/storage.ts";
import { repoDir } from "../../../tools/cache.ts";
import { type Daemon, freePorts, startDaemon } from "../../../tools/process.ts";
import { poll } from "../../support/poll.ts";
import type { Backends } from "../servers.ts";
import type { BenchCluster } from "./cluster.ts";
import { heldPool } from "./kwok.ts";

export const audience = "plosive-runs";

export interface OperatorProcess {
  readonly pid: number;
  /** Sums of its counters so far. */
  counters(): Promise<Counters>;
  /** Number of pods in its cache. */
  podsInView(): Promise<number>;
  stop(): Promise<void>;
}

export interface Counters {
  /** Writing requests to the API server, without those for the lease. */
  readonly writes: number;
  readonly reads: number;
  /** Writes of statuses alone. */
  readonly patches: number;
  readonly reconciles: number;
}

export const pod = (pool: Record<string, string>) => ({
  image: "registry.test/worker:1",
  resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "3Gi" } },
  nodeSelector: pool,
});
const profileOf = (pool: Record<string, string>) => ({
  embed: pod(pool),
  train: pod(pool),
  detect: pod(pool),
});

const freePool = { "bench.plosive.dev/pool": "free" };

interface ProcessOptions {
  readonly cluster: BenchCluster;
  readonly backends: Backends;
  readonly databaseUrl: string;
  readonly storage: StorageConfig;
  readonly nodeOptions?: string;
}

const start = (
  name: string,
  main: string,
  { backends, cluster, databaseUrl, storage, nodeOptions = "" }: ProcessOptions,
  env: Record<string, string>,
) =>
  startDaemon({
    name,
    command: process.execPath,
    args: [join(repoDir, main)],
    log: join(backends.dir, `${name}.log`),
    cwd: repoDir,
    env: {
      PATH: process.env.PATH,
      // The environment of images/server/Dockerfile.
      NODE_ENV: "production",
      NODE_OPTIONS: `--expose-gc --max-semi-space-size=8 ${nodeOptions}`,
      MALLOC_ARENA_MAX: "1",
      PLOSIVE_DATABASE_URL: databaseUrl,
      ...storage,
      PLOSIVE_NAMESPACE: cluster.namespace,
      ...env,
    },
  });

export interface RunsProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

export async function startRunsProcess(options: ProcessOptions): Promise<RunsProcess> {
  const { cluster } = options;
  const [port = 0, healthPort = 0, metricsPort = 0] = await freePorts(3);
  const daemon = start("runs", "controllers/runs/main.ts", options, {
    PLOSIVE_KUBECONFIG: cluster.runsKubeconfig,
    PLOSIVE_RUNS_PORT: String(port),
    PLOSIVE_HEALTH_PORT: String(healthPort),
    PLOSIVE_METRICS_PORT: String(metricsPort),
    PLOSIVE_RUNS_TLS_CERT_FILE: cluster.tls.certFile,
    PLOSIVE_RUNS_TLS_KEY_FILE: cluster.tls.keyFile,
  });
  await poll(
    "the run endpoint to be ready",
    async () => {
      if (daemon.isGone()) throw new Error(`the run endpoint ended:\n${daemon.tail()}`);
      return (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok;
    },
    300_000,
  );
  return { pid: daemon.pid, port, stop: () => end(daemon) };
}

export async function startOperatorProcess(options: ProcessOptions): Promise<OperatorProcess> {
  const { cluster, backends } = options;
  const [healthPort = 0, metricsPort = 0] = await freePorts(2);
  const profiles = join(backends.dir, "profiles.json");
  writeFileSync(profiles, JSON.stringify({ default: profileOf(freePool), held: profileOf(heldPool) }));
  const daemon = start("operator", "controllers/main.ts", options, {
    PLOSIVE_KUBECONFIG: cluster.operatorKubeconfig,
    PLOSIVE_HEALTH_PORT: String(healthPort),
    PLOSIVE_METRICS_PORT: String(metricsPort),
    PLOSIVE_RUNS_URL: "https://runs.test:8443",
    PLOSIVE_RUNS_CA_CONFIGMAP: "plosive-runs-ca",
    PLOSIVE_PROFILES_FILE: profiles,
    // The tenant gate runs as usual, with a limit that it never reaches.
    PLOSIVE_QUOTA_RUNNING_INFERENCES: "0",
    PLOSIVE_QUOTA_WAITING_INFERENCES: "0",
  });
  const read = async (path: string, port: number) => {
    if (daemon.isGone()) throw new Error(`the operator ended:\n${daemon.tail()}`);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer.text();
  };
  // Right after the creation of fifty thousand pods, Kubernetes' own controllers still process them too.
  await poll("the operator to be ready", () => read("/readyz", healthPort), 300_000);
  await poll("the operator to lead", async () =>
    /^leader_election_master_status\{.*\} 1$/m.test(await read("/metrics", metricsPort)),
  );
  return {
    pid: daemon.pid,
    counters: async () => countersOf(await read("/metrics", metricsPort)),
    podsInView: async () => sumOf(await read("/metrics", metricsPort), "plosive_informer_objects", /"pods"/),
    stop: () => end(daemon),
  };
}

/** Stops with SIGTERM, so that profiles are written, and with SIGKILL after half a minute. */
async function end(daemon: Daemon): Promise<void> {
  const timer = setTimeout(() => daemon.kill(), 30_000);
  await daemon.kill("SIGTERM");
  clearTimeout(timer);
}

function sumOf(text: string, metric: string, labels: RegExp): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${metric}{`) && labels.test(line))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

function countersOf(text: string): Counters {
  const sum = (metric: string, labels: RegExp) => sumOf(text, metric, labels);
  const requests = "rest_client_requests_total";
  return {
    // PUT is used for the lease only.
    writes: sum(requests, /method="(POST|PATCH|DELETE)"/),
    reads: sum(requests, /method="GET"/),
    patches: sum(requests, /method="PATCH"/),
    reconciles: sum("controller_runtime_reconcile_total", /./),
  };
}
