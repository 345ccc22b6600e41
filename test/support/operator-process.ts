// The operator as a process beside an API, without Kubernetes: the API server that it is given does not answer, so only its
// background loops work. Called by tests of deliveries and background work.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { StorageConfig } from "../../src/storage/storage.ts";
import { freePorts } from "../../tools/process.ts";
import { kubeconfigOf } from "./namespace.ts";
import { operatorEnv } from "./operator-env.ts";
import { poll } from "./poll.ts";
import type { TestDatabase } from "./postgres.ts";
import { makeCertificate } from "./receiver.ts";
import type { TestStorage } from "./s3.ts";

export interface OperatorProcess {
  readonly child: ChildProcess;
  /** The URL of its metrics. */
  readonly metrics: string;
}

/** Returns the environment of such an operator, and writes the files that it names into `dir`. */
export function environmentIn(dir: string, databaseUrl: string, storage: StorageConfig): NodeJS.ProcessEnv {
  const write = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const caFile = write("ca.crt", makeCertificate("operator.test").ca);
  return operatorEnv({
    namespace: "none",
    kubeconfig: write("kubeconfig", kubeconfigOf("https://127.0.0.1:9", caFile, "none")),
    databaseUrl,
    storage,
    profilesFile: join(dir, "profiles.json"),
  });
}

/** Returns a function that starts an operator; it runs until the end of the test. */
export function useOperatorProcesses(database: TestDatabase, store: TestStorage) {
  const children: ChildProcess[] = [];
  const dirs: string[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  });
  return async (env: Record<string, string> = {}): Promise<OperatorProcess> => {
    const dir = mkdtempSync(join(tmpdir(), "plosive-operator-"));
    dirs.push(dir);
    const [metricsPort = 0] = await freePorts(1);
    const child = spawn(process.execPath, [join(import.meta.dirname, "../../controllers/main.ts")], {
      env: {
        ...environmentIn(dir, database.urlOf("plosive_operator"), store.config),
        PLOSIVE_METRICS_PORT: String(metricsPort),
        ...env,
      },
      stdio: "ignore",
    });
    children.push(child);
    const metrics = `http://127.0.0.1:${metricsPort}/metrics`;
    await poll("the operator to run", async () => (await fetch(metrics)).ok, 60_000);
    return { child, metrics };
  };
}
