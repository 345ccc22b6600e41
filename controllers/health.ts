// /healthz and /readyz on one port, /metrics on another that is never routed to the outside. Started by operator.ts.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";
import { serveMetrics } from "../src/metrics.ts";

export type SideServers = { healthPort: number; metricsPort: number; stop(): Promise<void> };

/** Readiness does not mean leader: a standby is ready when its caches are. */
export async function startSideServers(options: {
  healthPort: number;
  metricsPort: number;
  isReady: () => boolean;
  registry: Registry;
}): Promise<SideServers> {
  const { isReady, registry } = options;
  const health = await listen(options.healthPort, (request, response) => {
    const ready = request.url === "/healthz" || (request.url === "/readyz" && isReady());
    const known = request.url === "/healthz" || request.url === "/readyz";
    response.writeHead(!known ? 404 : ready ? 200 : 503, { "content-type": "text/plain" });
    response.end(!known ? "not found\n" : ready ? "ok\n" : "not ready\n");
  });
  const metrics = await serveMetrics(registry, options.metricsPort);
  return {
    healthPort: health.port,
    metricsPort: metrics.port,
    async stop() {
      await Promise.all([close(health.server), metrics.stop()]);
    },
  };
}

async function listen(port: number, handle: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(handle);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
