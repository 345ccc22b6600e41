// Starts the run endpoint: configuration, drivers, startRunEndpoint, and a graceful shutdown. Wiring only; run by the chart's runs
// Deployment.
import { runsConfig } from "../../src/config.ts";
import { makeKube } from "../../src/kube/client.ts";
import { makeLog } from "../../src/log.ts";
import { makeRegistry, watchPool } from "../../src/metrics.ts";
import { makeStorage } from "../../src/storage/storage.ts";
import { connectedDatabase } from "../connected-database.ts";
import { startHealth } from "../health.ts";
import { type RunEndpoint, startRunEndpoint } from "./endpoint.ts";

const config = runsConfig();
const log = makeLog("runs", config.PLOSIVE_LOG_LEVEL);
const ending = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => ending.abort());
process.on("unhandledRejection", (err) => log.error({ err }, "unhandled promise rejection"));

let endpoint: RunEndpoint | undefined;
const health = await startHealth(config.PLOSIVE_HEALTH_PORT, () => endpoint?.isReady() ?? false);
const db = await connectedDatabase(config, log, ending.signal);
if (db !== undefined) {
  const kube = makeKube({ kubeconfig: config.PLOSIVE_KUBECONFIG });
  const storage = makeStorage(config);
  const registry = makeRegistry();
  watchPool(registry, db);
  endpoint = await startRunEndpoint({ config, kube, db, storage, registry, log, random: Math.random });
  log.info({ port: endpoint.port }, "the run endpoint runs");
  if (!ending.signal.aborted)
    await new Promise((resolve) => ending.signal.addEventListener("abort", resolve));
  log.info("the run endpoint is shutting down");
  await endpoint.stop();
  kube.close();
  storage.close();
  await db.end();
  log.info("the run endpoint has stopped");
}
await health.stop();
