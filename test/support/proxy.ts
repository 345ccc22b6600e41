// A TCP proxy that a test can cut and restore, to simulate the outage of a real server for one client. It does not
// parse the protocol.
import { connect, createServer, type Socket } from "node:net";

export type TestProxy = {
  /** The given address with the proxy's host and port in place of the server's. */
  readonly url: string;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Silently drops all data, like a network without a route. */
  stall(): void;
  /** Does the same, and accepts new connections without forwarding anything. */
  swallow(): void;
  heal(): void;
  stop(): Promise<void>;
};

export async function startProxy(target: string): Promise<TestProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  let swallows = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (isCut) return void client.destroy();
    if (swallows) return;
    const upstream = connect(Number(port), hostname);
    keep(upstream);
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = new URL(target);
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  url.host = `127.0.0.1:${address.port}`;
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const stall = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return {
    url: url.href.replace(/\/$/, ""),
    cut() {
      isCut = true;
      cutAll();
    },
    stall,
    swallow() {
      swallows = true;
      stall();
    },
    heal() {
      isCut = false;
      swallows = false;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      cutAll();
      await closed;
    },
  };
}
