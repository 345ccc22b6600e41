// Clients that send many requests without waiting for the responses, with and without a key: the others take turns with them.
import { connect } from "node:net";
import { beforeAll, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";

const api = useApi();
const connections = 10;
const perConnection = 1_200;
let client: Client;
let other: Client;
beforeAll(async () => {
  client = await api.tenant();
  other = await api.tenant();
});

it.each(["with a key", "without a key"])(
  "12,000 pipelined requests %s do not delay another client's until they are answered",
  async (how) => {
    const { hostname, port } = new URL(api.url);
    const key = how === "with a key" ? `X-API-Key: ${client.key}\r\n` : "";
    const request = `GET /api/v1/datasets HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
    let answered = 0;
    const sockets = Array.from({ length: connections }, () =>
      connect(Number(port), hostname, function (this: ReturnType<typeof connect>) {
        this.write(request.repeat(perConnection));
      })
        .setEncoding("latin1")
        .on("data", (text: string) => {
          answered += text.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0;
        }),
    );
    const errors: unknown[] = [];
    for (const socket of sockets) socket.on("error", (error) => errors.push(error));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("data", resolve))));
    for (let n = 0; n < 20; n++) expect((await other.get("/api/v1/datasets")).status).toBe(200);
    expect(answered).toBeLessThan((connections * perConnection) / 4);
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
    for (const socket of sockets) socket.destroy();
    expect(errors).toEqual([]);
  },
);
