// The environment of an operator that a test runs as a process, without fixed ports. Called by tests that start
// controllers/main.ts.
import { writeFileSync } from "node:fs";
import type { StorageConfig } from "../../src/storage/storage.ts";
import { nodeEnv } from "../../tools/process.ts";

export function operatorEnv(options: {
  namespace: string;
  kubeconfig: string;
  databaseUrl: string;
  storage: StorageConfig;
  /** The path of a file that this function writes. */
  profilesFile: string;
}): NodeJS.ProcessEnv {
  const { storage, profilesFile } = options;
  const pod = { image: "registry.test/worker:1" };
  writeFileSync(profilesFile, JSON.stringify({ default: { embed: pod, train: pod, detect: pod } }));
  return {
    ...nodeEnv,
    ...storage,
    PLOSIVE_DATABASE_URL: options.databaseUrl,
    PLOSIVE_NAMESPACE: options.namespace,
    PLOSIVE_KUBECONFIG: options.kubeconfig,
    PLOSIVE_METRICS_PORT: "0",
    PLOSIVE_HEALTH_PORT: "0",
    PLOSIVE_RUNS_URL: "https://operator.test:8443",
    PLOSIVE_RUNS_CA_CONFIGMAP: "plosive-runs-ca",
    PLOSIVE_PROFILES_FILE: profilesFile,
  };
}
