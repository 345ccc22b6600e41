// Clients that exhaust resources: slow senders, pipelines, and readers that disconnect in the middle of a large answer
// or never read. The service keeps answering other clients, and no database connection stays in use.
import { connect, type Socket } from "node:net";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, execute, useApi } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";
import { sendBytes } from "./send.ts";

const api = useApi();
const lines = 30_000;
let client: Client;
let setPath: string;

beforeAll(async () => {
  client = await api.tenant();
  const dataset = await makeDataset(client);
  const audio = await addReadyAudio(api.db, client.tenantId, dataset);
  const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
  const set = (await client.post(sets)).body.id;
  setPath = `${sets}/${set}`;
  for (let from = 1; from < lines; from += 5_000) {
    await execute(
      api.db,
      sql.fragment`
        insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
          end_ms, extra_data)
        select gen_random_uuid(), ${client.tenantId}, ${dataset}, ${set}, ${audio}, 'click', n, n + 1,
          jsonb_build_object('text', repeat('x', 500))
        from generate_series(${from}::int, ${from + 4_999}::int) n`,
    );
  }
});

const head = (path: string, more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\n${more}\r\n`;

async function open(bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(bytes);
  return socket;
}

/** Active connections of the API and open transactions. */
async function busy(): Promise<number> {
  return api.pool.state().acquiredConnections + api.pool.state().waitingClients;
}

async function expectAtRest(): Promise<void> {
  // The buffers of 50 sockets fill before their streams stop, which takes time on a busy machine.
  await poll("the pool to be at rest", async () => (await busy()) === 0);
  expect((await client.get("/api/v1/datasets")).status).toBe(200);
}

async function others(): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.get("/api/v1/datasets")));
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
}

describe("the service keeps answering other clients, and its pool becomes idle again,", () => {
  it("while 200 clients send endless request heads", async () => {
    const sockets = await Promise.all(
      Array.from({ length: 200 }, () => open(`GET /api/v1/datasets HTTP/1.1\r\nHost: x\r\n`)),
    );
    for (const socket of sockets) socket.write("X-Slow: a");
    await others();
    for (const socket of sockets) socket.destroy();
    await expectAtRest();
  });

  it("while 200 clients send endless bodies", async () => {
    const post = `POST /api/v1/datasets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"name":"`;
    const sockets = await Promise.all(Array.from({ length: 200 }, () => open(post)));
    for (const socket of sockets) socket.write("a");
    // A request holds no database connection while its body arrives.
    await expectAtRest();
    await others();
    for (const socket of sockets) socket.destroy();
    await expectAtRest();
  });

  it("when 50 clients disconnect in the middle of a large list, an export and a set", async () => {
    const paths = [
      "/annotations",
      "/export/annotation-tool",
      "",
      "/export/csv",
      "/annotations?artifact_type=click",
    ];
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const socket = await open(head(setPath + paths[i % paths.length]));
        await new Promise((resolve) => socket.once("data", resolve));
        socket.destroy();
      }),
    );
    await others();
    await expectAtRest();
  });

  it("while 50 clients request a large list and do not read it", async () => {
    const sockets = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = await open(head(`${setPath}/annotations`));
        await new Promise((resolve) => socket.once("data", resolve));
        socket.pause();
        return socket;
      }),
    );
    // A stalled reader must not hold a database connection.
    await expectAtRest();
    await others();
    for (const socket of sockets) socket.destroy();
    await expectAtRest();
  });

  it("when one client sends 500 pipelined requests, which are answered in order", async () => {
    const ids = Array.from({ length: 500 }, (_, i) => `pipeline-${i}`);
    const requests = ids.map((id, i) =>
      head(
        "/api/v1/datasets?page_size=1",
        `X-Request-Id: ${id}\r\n${i === 499 ? "Connection: close\r\n" : ""}`,
      ),
    );
    const answer = await sendBytes(api.url, requests.join(""));
    expect(answer.match(/HTTP\/1\.1 200 /g)?.length).toBe(500);
    expect([...answer.matchAll(/x-request-id: (\S+)/gi)].map((match) => match[1])).toEqual(ids);
    await expectAtRest();
  });

  it("when a client disconnects after pipelined writes", async () => {
    const before = (await client.get("/api/v1/datasets")).body.total;
    const body = '{"name":"x"}';
    const post = `POST /api/v1/datasets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const socket = await open(post.repeat(50));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await expectAtRest();
    const after = (await client.get("/api/v1/datasets")).body.total;
    expect(after).toBeGreaterThan(before);
    expect(after).toBeLessThanOrEqual(before + 50);
  });

  it("when 100 clients of event streams disconnect", async () => {
    const sockets = await Promise.all(
      Array.from({ length: 100 }, () => open(head("/api/v1/events/stream", "Accept: text/event-stream\r\n"))),
    );
    await others();
    for (const socket of sockets) socket.destroy();
    await expectAtRest();
    // The tenant's slots for streams are freed too.
    await poll("a stream to be had again", async () => {
      const controller = new AbortController();
      const response = await fetch(`${api.url}/api/v1/events/stream`, {
        headers: { "X-API-Key": client.key },
        signal: controller.signal,
      });
      controller.abort();
      return response.status === 200;
    });
  });
});

describe("a list read to its end", () => {
  it("is complete after all of that", async () => {
    const answer = await client.get(`${setPath}/annotations`);
    expect(answer.body.length).toBe(lines);
  });
});
