// Starts the REST API and shuts it down in order: configuration, drivers, makeApp, listen. Wiring only. The chart's API
// Deployment runs it; by hand: `node src/main.ts`.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { makeApp } from "./api/app.ts";
import type { ApiDeps } from "./api/deps.ts";
import { listen } from "./api/server.ts";
import { apiConfig } from "./config.ts";
import { makeListener } from "./db/driver/listen.ts";
import { bypassesRowSecurity } from "./db/driver/login.ts";
import { type DatabasePool, makeDatabase, statementTimeoutMs } from "./db/driver/pool.ts";
import { startEvents } from "./events.ts";
import { type Kube, makeKube } from "./kube/client.ts";
import { makeLog } from "./log.ts";
import { makeRegistry, serveMetrics, watchPool } from "./metrics.ts";
import { makeStorage } from "./storage/storage.ts";
import { makeSubmit } from "./submit.ts";
import { makeTracing } from "./tracing.ts";

const config = apiConfig();
const log = makeLog("api", config.PLOSIVE_LOG_LEVEL, { buffered: true });
const ending = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => ending.abort());
process.on("unhandledRejection", (err) =>
  log.error({ err }, "a promise was rejected and nothing handled it"),
);

const db = await connectedDatabase();
if (db !== undefined) {
  const storage = makeStorage(config);
  const kube = connectedKube();
  const registry = makeRegistry();
  watchPool(registry, db);
  const listener = makeListener({ url: db.configuration.connectionUri, role: "plosive_api", log });
  const tracing = await makeTracing({ part: "api", log, config });
  const app = makeApp({
    db,
    listener,
    storage,
    submit: submitTo(db, kube),
    clock: { now: Date.now },
    random: randomBytes,
    log,
    config,
    tracing,
    registry,
  });
  const metrics = await serveMetrics(registry, config.PLOSIVE_METRICS_PORT);
  const events = startEvents({ pool: db, listener, log, registry });
  const server = await listen(app.listener, config.PLOSIVE_HTTP_PORT);
  // Garbage of the start, mostly source text, is half of the heap. Without this collection the heap keeps that size.
  globalThis.gc?.({ execution: "sync", flavor: "last-resort", type: "major" });
  log.info({ port: server.port, metricsPort: metrics.port }, "the API is running");

  if (!ending.signal.aborted)
    await new Promise((resolve) => ending.signal.addEventListener("abort", resolve));
  log.info("the API is shutting down");
  app.drain();
  await server.stop(20_000);
  await app.settle();
  await events.stop();
  await listener.end();
  await metrics.stop();
  await tracing?.stop();
  kube?.close();
  storage.close();
  await db.end();
  log.info("the API has stopped");
}

/**
 * Waits until Postgres can be reached, instead of crashing. Returns undefined if the process gets a signal to end
 * first.
 */
async function connectedDatabase(): Promise<DatabasePool | undefined> {
  while (!ending.signal.aborted) {
    try {
      const isAbove = await bypassesRowSecurity(config.PLOSIVE_DATABASE_URL);
      const pool = await makeDatabase(config, statementTimeoutMs.api, "plosive_api");
      if (isAbove)
        log.warn(
          "the API logs in as the owner of the database or as a superuser, and drops these rights after login; create a separate database user for it (docs/install.md)",
        );
      return pool;
    } catch (error) {
      log.warn({ reason: String(error) }, "the database cannot be used; trying again in 1 s");
      await pause(1_000, undefined, { signal: ending.signal }).catch(() => {});
    }
  }
  return undefined;
}

/** Without a cluster the API still accepts jobs: the operator submits every row that has not been submitted. */
function connectedKube(): Kube | undefined {
  try {
    return makeKube({ kubeconfig: config.PLOSIVE_KUBECONFIG });
  } catch (error) {
    log.warn(
      { reason: String(error) },
      "no Kubernetes cluster is configured; the operator will submit the jobs",
    );
    return undefined;
  }
}

function submitTo(pool: DatabasePool, kube: Kube | undefined): ApiDeps["submit"] {
  if (kube === undefined) return async () => {};
  return ({ tenantId, ...job }) =>
    makeSubmit({
      db: pool.asTenant(tenantId),
      kube,
      installation: config.PLOSIVE_INSTALLATION,
      namespace: config.PLOSIVE_NAMESPACE,
      log,
    })(job);
}
