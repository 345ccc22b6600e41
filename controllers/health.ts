// Serves /healthz and /readyz to the kubelet. Started by main.ts before anything else: a process that waits for
// Postgres, for migrations or for the API server is alive and must not be killed.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Health = { port: number; stop(): Promise<void> };

/** Readiness is independent of leadership: a standby is ready when its caches are synced. */
export async function startHealth(port: number, isReady: () => boolean): Promise<Health> {
  const server = createServer(({ url }, response) => {
    const known = url === "/healthz" || url === "/readyz";
    const fine = url === "/healthz" || (url === "/readyz" && isReady());
    response.writeHead(!known ? 404 : fine ? 200 : 503, { "content-type": "text/plain" });
    response.end(!known ? "not found\n" : fine ? "ok\n" : "not ready\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
