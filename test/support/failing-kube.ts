// A server in the place of the API server that fails on purpose, in ways that a healthy one does not, and the real client for it.
// Called by the tests of the client and of the reflector.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { type Kube, kubeOf } from "../../src/kube/client.ts";
import type { Credentials } from "../../src/kube/config.ts";

/** Returns a function that starts a server for one test and makes its client. Both end after the test. */
export function useFailingKube() {
  let started: { kube: Kube; server: Server } | undefined;
  afterEach(async () => {
    if (started === undefined) return;
    const { kube, server } = started;
    started = undefined;
    kube.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return async (
    handle: RequestListener,
    credentials: () => Promise<Credentials> = async () => ({ headers: {} }),
  ): Promise<{ kube: Kube; server: Server }> => {
    const server = createServer(handle);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    started = { kube: kubeOf({ server: `http://127.0.0.1:${port}`, credentials }), server };
    return started;
  };
}
