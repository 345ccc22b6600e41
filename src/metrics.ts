// Prometheus metrics on a separate port that no ingress exposes. Used by the main files of the API, the operator and the run endpoint.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Makes a registry with the default metrics of the Node process. */
export function makeRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** The part of a connection pool (src/db/driver/pool.ts) that the metrics read. */
export interface WatchedPool {
  readonly configuration: { readonly maxPoolSize: number };
  state(): { acquiredConnections: number; idleConnections: number; waitingClients: number };
  onWait(listener: (seconds: number) => void): void;
}

/** Registers metrics of the pool: open connections, their limit, callers that wait, and wait times in seconds. */
export function watchPool(registry: Registry, pool: WatchedPool): void {
  new Gauge({
    name: "plosive_database_connections",
    help: "Open connections to Postgres: in use (in_use) or not (idle)",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const { acquiredConnections, idleConnections } = pool.state();
      this.set({ state: "in_use" }, acquiredConnections);
      this.set({ state: "idle" }, idleConnections);
    },
  });
  new Gauge({
    name: "plosive_database_connections_limit",
    help: "Maximum number of connections to Postgres that this process opens",
    registers: [registry],
  }).set(pool.configuration.maxPoolSize);
  new Gauge({
    name: "plosive_database_waiting",
    help: "Callers that wait for a connection to Postgres",
    registers: [registry],
    collect() {
      this.set(pool.state().waitingClients);
    },
  });
  const waits = new Histogram({
    name: "plosive_database_wait_seconds",
    help: "How long callers waited for a connection to Postgres",
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  pool.onWait((seconds) => waits.observe(seconds));
}

/** Serves GET /metrics on `port`; 0 picks a free one. Rejects if the port is taken. */
export async function serveMetrics(
  registry: Registry,
  port: number,
): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "Content-Type": registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
