// Events through API processes as the chart starts them: one process sends the event of another's change, and
// deliveries of a killed process are sent by the next.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sql } from "slonik";
import { afterEach, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/process.ts";
import { clientOf, execute, makeTenant } from "../support/api.ts";
import { readEvents } from "../support/events.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { useStorage } from "../support/s3.ts";

const database = useDatabase();
const store = useStorage();
const children: ChildProcess[] = [];
let receiver: Receiver | undefined;
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  await receiver?.stop();
});

async function startApi(allowed: string): Promise<{ url: string; metrics: string; child: ChildProcess }> {
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../src/main.ts")], {
    env: {
      PATH: process.env.PATH,
      ...Object.fromEntries(Object.entries(store.config).map(([name, value]) => [name, String(value)])),
      PLOSIVE_DATABASE_URL: database.urlOf("plosive_api"),
      PLOSIVE_HTTP_PORT: String(port),
      PLOSIVE_METRICS_PORT: String(metricsPort),
      PLOSIVE_LOG_LEVEL: "warn",
      PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: allowed,
    },
    stdio: "ignore",
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  await poll("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok);
  return { url, metrics: `http://127.0.0.1:${metricsPort}/metrics`, child };
}

describe("API processes", () => {
  it("send the events of each other's changes once, to streams and to receivers", async () => {
    receiver = await startReceiver();
    const [one, two] = [await startApi(receiver.origin), await startApi(receiver.origin)];
    const client = await makeTenant(database.pool, one.url);
    const reader = await readEvents(`${two.url}/api/v1/events/stream`, client.key);
    const webhook = await client.post("/api/v1/webhooks", { url: `${receiver.origin}/hook` });
    expect(webhook.status).toBe(201);
    const key = (await client.post("/api/v1/auth/api-keys", { name: "x" })).body;
    await client.delete(`/api/v1/auth/api-keys/${key.id}`);
    expect((await reader.until("api_key.revoked")).data).toEqual({ api_key_id: key.id });
    await poll("the delivery", () => receiver?.received.some(({ body }) => body.includes("api_key.revoked")));
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(await (await fetch(two.metrics)).text()).toContain('plosive_waiting_requests{what="stream"} 1');
    // Stops cleanly while the stream is open.
    two.child.kill("SIGTERM");
    expect(await once(two.child, "exit")).toEqual([0, null]);
    expect(await reader.ended).toBe("closed");
  });

  it("repeat the deliveries of a killed process with the same webhook-id", async () => {
    let hang = true;
    receiver = await startReceiver((_, response) => void (hang || response.writeHead(200).end()));
    const first = await startApi(receiver.origin);
    const client = await makeTenant(database.pool, first.url);
    const { id } = (await client.post("/api/v1/webhooks", { url: `${receiver.origin}/hook` })).body;
    const sent = (await client.post(`/api/v1/webhooks/${id}/test`)).body;
    const got = () =>
      receiver?.received.filter(({ headers }) => headers["webhook-id"] === sent.message_id) ?? [];
    await poll("the first attempt", () => got().length === 1);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    hang = false;
    const second = await startApi(receiver.origin);
    const again = clientOf(second.url, client.key, client.tenantId);
    const path = `/api/v1/webhooks/${id}/deliveries/${sent.id}`;
    const left = (await again.get(path)).body;
    expect(left).toMatchObject({ status: "pending", attempts: 1, last_status: null });
    expect(Date.parse(left.next_attempt_at)).toBeGreaterThan(Date.now());
    // The lease lasts a minute; the test ends it early.
    await execute(
      database.pool,
      sql.fragment`update webhook_deliveries set next_attempt_at = now() where id = ${sent.id}`,
    );
    await poll("the delivery", async () => (await again.get(path)).body.status === "delivered");
    expect((await again.get(path)).body).toMatchObject({ attempts: 2, last_status: 200 });
    expect(got()).toHaveLength(2);
  });
});
