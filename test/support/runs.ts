// A run endpoint in the test's own process, with the rights of its own service account, a free port and short intervals.
import { type RunEndpoint, startRunEndpoint } from "../../controllers/runs/endpoint.ts";
import type { RunsConfig } from "../../src/config.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { makeKube } from "../../src/kube/client.ts";
import { makeLog } from "../../src/log.ts";
import { makeRegistry, watchPool } from "../../src/metrics.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { makeStorage, type StorageConfig } from "../../src/storage/storage.ts";
import type { TestCluster, TestNamespace } from "./kube.ts";
import { loginOf } from "./postgres.ts";

export const audience = "plosive-runs";

/** Its stop() closes its connections too. */
export async function startRuns(options: {
  readonly cluster: Pick<TestCluster, "tls">;
  readonly namespace: Pick<TestNamespace, "name" | "runsKubeconfig">;
  readonly databaseUrl: string;
  readonly storage: StorageConfig;
  readonly installation?: string | undefined;
  readonly config?: Partial<RunsConfig> | undefined;
}): Promise<RunEndpoint> {
  const { cluster, namespace, storage: storageConfig } = options;
  const config: RunsConfig = {
    ...storageConfig,
    PLOSIVE_DATABASE_URL: loginOf(options.databaseUrl, "plosive_operator"),
    PLOSIVE_DATABASE_POOL: 4,
    PLOSIVE_NAMESPACE: namespace.name,
    PLOSIVE_INSTALLATION: options.installation ?? defaultInstallation,
    PLOSIVE_LOG_LEVEL: "info",
    PLOSIVE_METRICS_PORT: 0,
    PLOSIVE_HEALTH_PORT: 0,
    PLOSIVE_RUNS_PORT: 0,
    PLOSIVE_RUNS_TLS_CERT_FILE: cluster.tls.certFile,
    PLOSIVE_RUNS_TLS_KEY_FILE: cluster.tls.keyFile,
    PLOSIVE_RUNS_AUDIENCE: audience,
    PLOSIVE_WORKER_SERVICE_ACCOUNT: "plosive-worker",
    PLOSIVE_ENCODER: "",
    ...options.config,
  };
  const db = await makeDatabase(config, undefined, "plosive_operator");
  const kube = makeKube({ kubeconfig: namespace.runsKubeconfig });
  const storage = makeStorage(storageConfig);
  const registry = makeRegistry();
  watchPool(registry, db);
  const endpoint = await startRunEndpoint({
    config,
    kube,
    db,
    storage,
    registry,
    log: makeLog("runs", process.env.PLOSIVE_TEST_LOG ?? "silent"),
    random: Math.random,
    coalesceMs: 50,
    beatMs: 200,
  });
  return {
    ...endpoint,
    async stop() {
      await endpoint.stop();
      kube.close();
      storage.close();
      await db.end();
    },
  };
}
