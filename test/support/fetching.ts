// Fetches of files from HTTP servers on loopback, for a tenant of its own. Called at the top of test files:
// `const fetching = useFetching(useApi({ config }))`.
import { randomBytes } from "node:crypto";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { afterEach, beforeAll, expect } from "vitest";
import { z } from "zod";
import { makeLog } from "../../src/log.ts";
import { type Fetches, type FetchesDeps, startFetches } from "../../src/uploads/fetches.ts";
import { makeSecretBox } from "../../src/webhooks/secret.ts";
import { sendDefaults } from "../../src/webhooks/send.ts";
import { type Client, execute, type TestApi, testSettings } from "./api.ts";
import { wav } from "./audio.ts";
import { poll } from "./poll.ts";
import { type Answering, type Receiver, startReceiver } from "./receiver.ts";

const allowed = new Set<string>();
const key = randomBytes(32).toString("base64");
/** The settings of the API, which allow the servers that the tests start. */
export const config = testSettings({
  PLOSIVE_WEBHOOK_ALLOWED_ORIGINS: allowed,
  PLOSIVE_WEBHOOK_SECRET_KEY: key,
});

export const bytes = wav();
export const idOf = (path: string) => path.split("/").at(-1) ?? "";

/** Creates a dataset and returns the path of its audio files. */
export const filesOf = async (owner: Client) =>
  `/api/v1/datasets/${(await owner.post("/api/v1/datasets", { name: "d" })).body.id}/audio`;

export const sending =
  (body: Buffer, headers: Record<string, string | number> = {}): Answering =>
  (_, response) =>
    void response.writeHead(200, { "Content-Length": body.length, ...headers }).end(body);
/** Sends the beginning of a file and then nothing. */
export const hanging: Answering = (_, response) => {
  response.writeHead(200, { "Content-Length": bytes.length }).write(bytes.subarray(0, 100));
};

export function useFetching(api: TestApi) {
  // Filled before the first test: test files destructure the result at their top.
  const client = {} as Client;
  let files = "";
  const servers: Receiver[] = [];
  const running: Fetches[] = [];
  beforeAll(async () => {
    Object.assign(client, await api.tenant());
    files = await filesOf(client);
  });
  afterEach(async () => {
    for (const fetches of running.splice(0)) await fetches.stop(0);
    for (const server of servers.splice(0)) await server.stop();
    await execute(api.db, sql.fragment`delete from url_uploads`);
  });

  /** Starts a server and returns its origin. */
  async function serve(answer: Answering): Promise<string> {
    const server = await startReceiver(answer);
    servers.push(server);
    allowed.add(server.origin);
    return server.origin;
  }

  function start(more: Partial<FetchesDeps> = {}): FetchesDeps {
    const deps: FetchesDeps = {
      ...sendDefaults,
      db: api.operatorPool,
      storage: api.storage,
      secrets: makeSecretBox(key, randomBytes),
      allowed,
      log: makeLog("test", "silent"),
      registry: new Registry(),
      maxBytes: 10_000_000,
      quotaBytes: 0,
      ...more,
      timing: { pollMs: 20, retryMs: [1, 1], ...more.timing },
    };
    running.push(startFetches(deps));
    return deps;
  }

  async function request(url: string, more: object = {}, by = client, to = files) {
    const answer = await by.post(`${to}/from-url`, { url, ...more });
    expect(answer.status, answer.text).toBe(201);
    return `${to}/${answer.body.id}`;
  }
  const settled = async (path: string, by = client) => {
    const read = async () => (await by.get(path)).body;
    await poll("the fetch to end", async () => (await read()).status !== "pending_upload");
    return await read();
  };
  const waiting = () =>
    api.db.any(
      sql.type(
        z.object({
          audio_file_id: z.string(),
          attempts: z.number(),
          leased: z.boolean(),
          url: z.instanceof(Buffer),
        }),
      )`select audio_file_id, attempts, coalesce(leased_until > now(), false) as leased, url from url_uploads`,
    );

  return {
    client,
    /** The path of the audio files of the client's dataset. */
    get files() {
      return files;
    },
    /** The fetches that are stopped after the test. */
    running,
    serve,
    start,
    request,
    settled,
    waiting,
  };
}
