// The object store refuses connections, hangs, or disconnects in the middle: requests that need it get 503 with
// Retry-After and change nothing, all others are served as usual, and a hanging store blocks no database connection.
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeStorage, type Storage } from "../../src/storage/storage.ts";
import { type Client, makeTenant, type ServedApi, serveApi, testDeps } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { useStorage } from "../support/s3.ts";
import { postForm } from "../support/upload.ts";
import { addReadyAudio, makeDataset } from "../support/world.ts";
import { digestOfTables } from "./digest.ts";

const database = useDatabase();
const store = useStorage();
let client: Client;
let served: ServedApi;
let storage: Storage;
let broken: Server;
const sockets = new Set<Socket>();
/** The present behaviour of the store on a connection. */
let onConnection: (socket: Socket) => void = () => {};
let dataset: string;

beforeAll(async () => {
  broken = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
  const address = broken.address();
  const port = typeof address === "object" ? address?.port : undefined;
  storage = makeStorage({
    ...store.config,
    PLOSIVE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    PLOSIVE_S3_PUBLIC_ENDPOINT: store.config.PLOSIVE_S3_ENDPOINT,
  });
  const deps = testDeps(database.apiPool, storage);
  deps.log.level = "silent";
  served = await serveApi(deps);
  client = await makeTenant(database.pool, served.url);
  dataset = await makeDataset(client);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await served.stop();
  storage.close();
  await new Promise((resolve) => broken.close(resolve));
});

async function uploaded(): Promise<string> {
  const bytes = wav();
  const path = `/api/v1/datasets/${dataset}/audio`;
  const announced = { filename: "x.wav", content_type: "audio/wav", size_bytes: bytes.length };
  const ticket = (await client.post(`${path}/upload-url`, announced)).body;
  expect(await postForm(ticket.upload, bytes)).toBe(201);
  return `${path}/${ticket.audio_file_id}`;
}

const answerWith = (text: string) => (socket: Socket) =>
  socket.on("data", () => socket.end(`HTTP/1.1 ${text}\r\nConnection: close\r\n\r\n`));

describe("an object store that", () => {
  it.each<[string, (socket: Socket) => void]>([
    ["closes every connection", (socket) => socket.destroy()],
    [
      "closes connections in the middle of an answer",
      (socket) => socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")),
    ],
    ["answers 503", answerWith("503 Slow Down\r\nContent-Length: 0")],
    ["answers 500", answerWith("500 Internal Server Error\r\nContent-Length: 0")],
    ["answers 429", answerWith("429 Too Many Requests\r\nContent-Length: 0")],
    ["is another kind of server", (socket) => socket.on("data", () => socket.end("SSH-2.0-x\r\n"))],
  ])("%s makes a confirm fail with 503, changes nothing, and affects no other request", async (_, how) => {
    const path = await uploaded();
    const before = await digestOfTables(database.pool);
    onConnection = how;
    const answer = await client.post(`${path}/confirm`);
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.text).not.toMatch(/127\.0\.0\.1|plosive|test-/);
    expect((await client.get(path)).body.status).toBe("pending_upload");
    expect(await digestOfTables(database.pool)).toEqual(before);
    expect((await client.get("/readyz")).status).toBe(200);
  });

  it("is unreachable makes a waveform fail with 503, but not a download, which only needs a signature", async () => {
    onConnection = (socket) => socket.destroy();
    const audio = await addReadyAudio(database.pool, client.tenantId, dataset, { peaksKey: "peaks/x" });
    const path = `/api/v1/datasets/${dataset}/audio/${audio}`;
    expect(await client.get(`${path}/waveform`)).toMatchObject({
      status: 503,
      body: { code: "unavailable" },
    });
    expect((await client.get(`${path}/download`)).status).toBe(200);
    expect((await client.delete(path)).status).toBe(204);
  });

  it("hangs delays only the confirms, which get 503 at last", async () => {
    const paths = await Promise.all(Array.from({ length: 4 }, uploaded));
    onConnection = () => {};
    let answered = 0;
    const confirms = paths.map(async (path) => {
      const answer = await client.post(`${path}/confirm`);
      answered += 1;
      return answer;
    });
    await poll("the store to be asked", () => sockets.size > 0);
    for (let i = 0; i < 30; i++) {
      const answer = await client.get("/api/v1/datasets");
      expect(answer.status).toBe(200);
    }
    expect(answered).toBe(0);
    const answers = await Promise.all(confirms);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([503]));
    await poll("the pool to be at rest", () => database.apiPool.state().acquiredConnections === 0);
  });
});
