// Events and background work through processes as the chart starts them: API processes number the events of each other's
// changes, operator processes send them and copy labels, and deliveries of a killed operator are sent by the next.
import { once } from "node:events";
import { sql } from "slonik";
import { afterEach, describe, expect, it } from "vitest";
import { execute, makeTenant } from "../support/api.ts";
import { type ApiProcess, startApiProcess } from "../support/api-process.ts";
import { readEvents } from "../support/events.ts";
import { useOperatorProcesses } from "../support/operator-process.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { useStorage } from "../support/s3.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";

const database = useDatabase();
const store = useStorage();
const startOperator = useOperatorProcesses(database, store);
const apis: ApiProcess[] = [];
let receiver: Receiver | undefined;
afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
  await receiver?.stop();
});

const allowing = (origin: string) => ({ PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: origin });

async function startApi(origin: string): Promise<ApiProcess> {
  const api = await startApiProcess({
    databaseUrl: database.urlOf("plosive_api"),
    storage: store.config,
    env: allowing(origin),
  });
  apis.push(api);
  return api;
}

describe("API and operator processes", () => {
  it("send the events of each other's changes once, to streams and to receivers", async () => {
    receiver = await startReceiver();
    const origin = receiver.origin;
    const [one, two] = [await startApi(origin), await startApi(origin)];
    for (let i = 0; i < 2; i++) await startOperator(allowing(origin));
    const client = await makeTenant(database.pool, one.url);
    const reader = await readEvents(`${two.url}/api/v1/events/stream`, client.key);
    const webhook = await client.post("/api/v1/webhooks", { url: `${origin}/hook` });
    expect(webhook.status).toBe(201);
    const key = (await client.post("/api/v1/auth/api-keys", { name: "x" })).body;
    await client.delete(`/api/v1/auth/api-keys/${key.id}`);
    expect((await reader.until("api_key.revoked")).data).toEqual({ api_key_id: key.id });
    await poll("the delivery", () => receiver?.received.some(({ body }) => body.includes("api_key.revoked")));
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(new Set(ids).size);
    const metrics = await (await fetch(`http://127.0.0.1:${two.metricsPort}/metrics`)).text();
    expect(metrics).toContain('plosive_waiting_requests{what="stream"} 1');
    // Stops cleanly while the stream is open.
    expect(await two.end()).toBe(0);
    expect(await reader.ended).toBe("closed");
  });

  it("go on with events while no operator runs, and with what waits for one as soon as one does", async () => {
    receiver = await startReceiver();
    const api = await startApi(receiver.origin);
    const client = await makeTenant(database.pool, api.url);
    const reader = await readEvents(`${api.url}/api/v1/events/stream`, client.key);
    const hook = (await client.post("/api/v1/webhooks", { url: `${receiver.origin}/hook` })).body.id;
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(database.pool, client.tenantId, dataset, { durationMs: 3_600_000 });
    const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
    const source = (await client.post(sets)).body.id;
    await execute(
      database.pool,
      sql.fragment`
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms)
        select gen_random_uuid(), ${client.tenantId}, ${dataset}, ${source}, ${audio}, 'click', n, n + 50
        from generate_series(1, 12000) n`,
    );
    const copy = (await client.post(sets, { from_annotation_set_id: source })).body.id;
    await client.post("/api/v1/auth/api-keys", { name: "x" });
    await reader.until("api_key.created");
    await poll("the delivery to wait", async () => {
      const { items } = (await client.get(`/api/v1/webhooks/${hook}/deliveries`)).body;
      return items.length > 0;
    });
    const operator = await startOperator(allowing(receiver.origin));
    await poll("the copy", async () => (await client.get(`${sets}/${copy}`)).body.copying === null);
    await poll("the delivery", () => receiver?.received.some(({ body }) => body.includes("api_key.created")));
    expect((await client.get(`${sets}/${copy}`)).body.total_annotations).toBe(12_000);
    await poll("the metrics", async () => {
      const metrics = await (await fetch(operator.metrics)).text();
      return (
        metrics.includes('plosive_background_pieces_total{kind="copy"} 3\n') &&
        metrics.includes("plosive_background_oldest_wait_seconds 0\n")
      );
    });
    operator.child.kill("SIGTERM");
    expect(await once(operator.child, "exit")).toEqual([0, null]);
    reader.close();
  }, 200_000);

  it("repeat the deliveries of a killed operator with the same webhook-id", async () => {
    let hang = true;
    receiver = await startReceiver((_, response) => void (hang || response.writeHead(200).end()));
    const api = await startApi(receiver.origin);
    const first = await startOperator(allowing(receiver.origin));
    const client = await makeTenant(database.pool, api.url);
    const { id } = (await client.post("/api/v1/webhooks", { url: `${receiver.origin}/hook` })).body;
    const sent = (await client.post(`/api/v1/webhooks/${id}/test`)).body;
    const got = () =>
      receiver?.received.filter(({ headers }) => headers["webhook-id"] === sent.message_id) ?? [];
    await poll("the first attempt", () => got().length === 1);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    hang = false;
    const path = `/api/v1/webhooks/${id}/deliveries/${sent.id}`;
    const left = (await client.get(path)).body;
    expect(left).toMatchObject({ status: "pending", attempts: 1, last_status: null });
    expect(Date.parse(left.next_attempt_at)).toBeGreaterThan(Date.now());
    await startOperator(allowing(receiver.origin));
    // The lease lasts a minute; the test ends it early.
    await execute(
      database.pool,
      sql.fragment`update webhook_deliveries set next_attempt_at = now() where id = ${sent.id}`,
    );
    await poll("the delivery", async () => (await client.get(path)).body.status === "delivered");
    expect((await client.get(path)).body).toMatchObject({ attempts: 2, last_status: 200 });
    expect(got()).toHaveLength(2);
  });
});
