// The API as a process, started as the chart starts it, on free ports. Called by tests that need its metrics port or
// its rights.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { StorageConfig } from "../../src/storage/storage.ts";
import { freePorts, nodeEnv } from "../../tools/process.ts";
import { poll } from "./poll.ts";

export type ApiProcess = {
  url: string;
  metricsPort: number;
  /** Asks it to end, and returns its exit code. */
  end(): Promise<number | null>;
  stop(): Promise<void>;
};

/** Resolves when the API is ready. */
export async function startApiProcess(options: {
  databaseUrl: string;
  storage: StorageConfig;
  env?: Record<string, string>;
}): Promise<ApiProcess> {
  const [port = 0, metricsPort = 0] = await freePorts(2);
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../src/main.ts")], {
    env: {
      ...nodeEnv,
      ...Object.fromEntries(Object.entries(options.storage).map(([name, value]) => [name, String(value)])),
      PLOSIVE_DATABASE_URL: options.databaseUrl,
      PLOSIVE_HTTP_PORT: String(port),
      PLOSIVE_METRICS_PORT: String(metricsPort),
      PLOSIVE_LOG_LEVEL: "warn",
      ...options.env,
    },
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  try {
    await poll("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  const end = async () => {
    child.kill("SIGTERM");
    return (await once(child, "exit"))[0] as number | null;
  };
  return { url, metricsPort, end, stop };
}
