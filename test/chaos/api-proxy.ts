// A proxy between one operator and the real API server, with the server's own certificate. It reports each write before
// it forwards the request and again before it forwards the answer. Called by replica.ts.
import { readFileSync } from "node:fs";
import { Agent, createServer, request as sendRequest } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Moment } from "./strikes.ts";

export interface ApiProxy {
  readonly url: string;
  /** Requests received, as "GET pods" or "LIST pods" or "WATCH pods". A watch that begins with all objects is a list. */
  readonly seen: string[];
  stop(): Promise<void>;
}

export async function startApiProxy(options: {
  server: string;
  tls: { caFile: string; certFile: string; keyFile: string };
  /** True when the operator is dead; nothing is forwarded any more. */
  due: (label: string, moment: Moment) => boolean;
}): Promise<ApiProxy> {
  const { server, tls, due } = options;
  const ca = readFileSync(tls.caFile);
  const agent = new Agent({ ca, keepAlive: true });
  const sockets = new Set<Socket>();
  const seen: string[] = [];
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy = createServer(
    { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
    (request, response) => {
      const { label, isWrite } = callOf(request.method ?? "", request.url ?? "");
      seen.push(label);
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("error", () => response.destroy());
      request.on("end", () => {
        if (isWrite && due(label, "before")) return cut();
        const { host: _, ...headers } = request.headers;
        const upstream = sendRequest(
          server + request.url,
          { method: request.method, headers, agent },
          (answer) => {
            if (isWrite && due(label, "after")) return cut();
            response.writeHead(answer.statusCode ?? 502, answer.headers);
            response.flushHeaders();
            answer.pipe(response);
            answer.on("error", () => response.destroy());
          },
        );
        upstream.on("error", () => response.destroy());
        response.on("close", () => upstream.destroy());
        upstream.end(Buffer.concat(chunks));
      });
    },
  );
  proxy.requestTimeout = 0;
  proxy.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    seen,
    async stop() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      cut();
      agent.destroy();
      await closed;
    },
  };
}

/** The label of a write, such as "PATCH trainingjobs/status". Leases do not count. */
function callOf(method: string, url: string): { label: string; isWrite: boolean } {
  const { pathname, searchParams } = new URL(url, "https://api");
  const [plural = pathname, name, subresource] = pathname.split("/namespaces/")[1]?.split("/").slice(1) ?? [];
  const isRead = method === "GET";
  const isWatch = searchParams.has("watch") && !searchParams.has("sendInitialEvents");
  const verb = !isRead || name !== undefined ? method : isWatch ? "WATCH" : "LIST";
  const label = `${verb} ${plural}${subresource === undefined ? "" : `/${subresource}`}`;
  return { label, isWrite: !isRead && plural !== "leases" && pathname.includes("/namespaces/") };
}
