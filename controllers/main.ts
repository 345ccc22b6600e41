// Starts the operator: configuration, drivers, startOperator, and a graceful shutdown. Wiring only; run by the chart's
// operator Deployment and by tools.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { operatorConfig } from "../src/config.ts";
import { makeKube } from "../src/kube/client.ts";
import { makeLog } from "../src/log.ts";
import { makeRegistry, watchPool } from "../src/metrics.ts";
import { parseProfiles } from "../src/schemas/profile.ts";
import { makeStorage } from "../src/storage/storage.ts";
import { makeTracing } from "../src/tracing.ts";
import { connectedDatabase } from "./connected-database.ts";
import { startHealth } from "./health.ts";
import { checkProfiles } from "./job/check-profiles.ts";
import { type Operator, podSettings, startOperator } from "./operator.ts";

const config = operatorConfig();
const log = makeLog("operator", config.PLOSIVE_LOG_LEVEL);
const profiles = parseProfiles(readFileSync(config.PLOSIVE_PROFILES_FILE, "utf8"));
const ending = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => ending.abort());
process.on("unhandledRejection", (err) => log.error({ err }, "unhandled promise rejection"));

let operator: Operator | undefined;
const health = await startHealth(config.PLOSIVE_HEALTH_PORT, () => operator?.isReady() ?? false);
const db = await connectedDatabase(config, log, ending.signal);
if (db !== undefined) {
  const kube = makeKube({ kubeconfig: config.PLOSIVE_KUBECONFIG });
  await checkProfiles({
    kube,
    namespace: config.PLOSIVE_NAMESPACE,
    profiles,
    settings: podSettings(config),
    log,
  });
  const storage = makeStorage(config);
  const tracing = await makeTracing({ part: "operator", log, config });
  const identity = `${config.PLOSIVE_POD_NAME}_${randomBytes(4).toString("hex")}`;
  const registry = makeRegistry();
  watchPool(registry, db);
  operator = await startOperator({
    config,
    profiles,
    kube,
    db,
    storage,
    registry,
    log,
    tracing,
    identity,
    now: Date.now,
    random: Math.random,
  });
  log.info({ identity }, "the operator runs");
  operator.lost.then(() => {
    // Another replica may lead already, so this process must not write anything more, not even to finish a reconcile.
    process.exit(1);
  });
  // As on SIGTERM: the lease is released, and the kubelet starts the container again.
  operator.outdated.then(() => ending.abort());
  if (!ending.signal.aborted)
    await new Promise((resolve) => ending.signal.addEventListener("abort", resolve));
  log.info("the operator is shutting down");
  await operator.stop();
  await tracing?.stop();
  kube.close();
  storage.close();
  await db.end();
  log.info("the operator has stopped");
}
await health.stop();
