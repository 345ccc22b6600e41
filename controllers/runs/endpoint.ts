// The whole run endpoint: caches of Jobs and pods, the HTTPS server, and the writer of reports. Its drivers are arguments, so that
// tests start the same endpoint as main.ts. All replicas are equal: none leads.
import type { Registry } from "prom-client";
import type { RunsConfig } from "../../src/config.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { recordRuns } from "../../src/db/operator/installation.ts";
import type { Kube } from "../../src/kube/client.ts";
import { makePodTokenVerifier } from "../../src/kube/pod-tokens.ts";
import type { Log } from "../../src/log.ts";
import { serveMetrics } from "../../src/metrics.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { startRunCaches } from "../caches.ts";
import { makeClientMetrics } from "../runtime/metrics.ts";
import { pause } from "../runtime/pause.ts";
import { makeAuthorize } from "./authorize.ts";
import { startCoalescer } from "./coalesce.ts";
import { makeRunMetrics } from "./metrics.ts";
import { startRunServer } from "./server.ts";
import { makeWork } from "./work.ts";

/** An operator takes four of these without a sign for an outage (sweep.ts). */
export const runsBeatMs = 5_000;

export interface RunEndpointDeps {
  readonly config: RunsConfig;
  readonly kube: Kube;
  readonly db: DatabasePool;
  readonly storage: Storage;
  readonly registry: Registry;
  readonly log: Log;
  readonly random: () => number;
  /** How often reports are stored. */
  readonly coalesceMs?: number | undefined;
  /** How often it records that it works. */
  readonly beatMs?: number | undefined;
}

export interface RunEndpoint {
  readonly port: number;
  readonly metricsPort: number;
  /** Whether the caches are synced. */
  isReady(): boolean;
  stop(): Promise<void>;
}

export async function startRunEndpoint(deps: RunEndpointDeps): Promise<RunEndpoint> {
  const { config, kube, db, storage, registry, log, random } = deps;
  const { PLOSIVE_NAMESPACE: namespace } = config;
  const metrics = makeClientMetrics(registry);
  kube.onRequest(metrics.request);
  const caches = startRunCaches({ kube, namespace, log, random, metrics });
  const coalescer = startCoalescer({ db, log, everyMs: deps.coalesceMs ?? 1_000 });
  const server = await startRunServer({
    port: config.PLOSIVE_RUNS_PORT,
    certFile: config.PLOSIVE_RUNS_TLS_CERT_FILE,
    keyFile: config.PLOSIVE_RUNS_TLS_KEY_FILE,
    authorize: makeAuthorize({
      kube,
      verify: makePodTokenVerifier({
        kube,
        namespace,
        serviceAccount: config.PLOSIVE_WORKER_SERVICE_ACCOUNT,
        audience: config.PLOSIVE_RUNS_AUDIENCE,
      }),
      namespace,
      jobs: caches.jobs,
      pods: caches.pods,
    }),
    work: makeWork({ db, storage, encoder: config.PLOSIVE_ENCODER }),
    coalescer,
    metrics: makeRunMetrics(registry),
    log,
  });
  const stopping = new AbortController();
  const beat = async () => {
    while (!stopping.signal.aborted) {
      await recordRuns(db, config.PLOSIVE_INSTALLATION).catch((error: unknown) =>
        log.warn({ err: String(error) }, "could not record that the run endpoint works; retrying"),
      );
      await pause(deps.beatMs ?? runsBeatMs, stopping.signal);
    }
  };
  const beating = beat();
  const metricsServer = await serveMetrics(registry, config.PLOSIVE_METRICS_PORT);
  return {
    port: server.port,
    metricsPort: metricsServer.port,
    isReady: caches.isSynced,
    async stop() {
      stopping.abort();
      await beating;
      await server.stop();
      await coalescer.stop();
      await caches.stop();
      await metricsServer.stop();
    },
  };
}
