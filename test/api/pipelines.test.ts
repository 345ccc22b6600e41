// Clients that send many requests without waiting for the responses, with and without a key: few of the requests run, and
// other clients notice nothing.
import { connect } from "node:net";
import { beforeAll, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";
import { poll } from "../support/poll.ts";

const api = useApi();
let client: Client;
beforeAll(async () => {
  client = await api.tenant();
});

async function requestsSoFar(): Promise<number> {
  const { values } = await api.registry.getSingleMetric("plosive_http_requests_total")!.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

it.each(["with a key", "without a key"])(
  "one client's 12,000 pipelined requests %s end its connections after one request each",
  async (how) => {
    const { hostname, port } = new URL(api.url);
    const key = how === "with a key" ? `X-API-Key: ${client.key}\r\n` : "";
    const request = `GET /api/v1/datasets HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
    const before = await requestsSoFar();
    const sockets = Array.from({ length: 10 }, () => connect(Number(port), hostname).on("error", () => {}));
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const socket of sockets) socket.resume().write(request.repeat(1_200));
    await Promise.all(closed);
    expect((await client.get("/api/v1/datasets")).status).toBe(200);
    await poll("the requests to end", async () => (await requestsSoFar()) > before);
    expect((await requestsSoFar()) - before).toBeLessThanOrEqual(3 * sockets.length);
  },
);
