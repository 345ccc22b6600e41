// The connection for notifications ends while it is still being opened: a process that is stopped just after its start must not
// wait for it for ever.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { makeListener } from "../../src/db/driver/listen.ts";
import { makeLog } from "../../src/log.ts";

it("a listener that has not connected yet ends at once", async () => {
  // A server that accepts connections and says nothing.
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`;
  const listener = makeListener({ url, log: makeLog("test", "silent") });
  listener.on("plosive_jobs", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  socket.resume();
  const ended = await Promise.race([
    listener.end().then(() => true),
    new Promise((resolve) => setTimeout(resolve, 10_000, false)),
  ]);
  server.close();
  expect(ended).toBe(true);
});
