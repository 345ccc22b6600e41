// kill -9 of the API between any two of its calls to Postgres and S3: it leaves either the earlier state or the result
// of the complete request, and a repeated request to the next process creates nothing twice. The test finds the number
// of calls of a request by killing one call later each time, until the answer arrives.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/process.ts";
import { type Client, makeTenant } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { startVictim, type Victim } from "../support/faults.ts";
import { useDatabase } from "../support/postgres.ts";
import { useStorage } from "../support/s3.ts";
import { isFull, nextPoint } from "../support/trial.ts";
import { postForm, putPart } from "../support/upload.ts";
import { makeWorld, type World } from "../support/world.ts";
import { digestOfTables } from "./digest.ts";
import { unlimited } from "./unlimited.ts";

const database = useDatabase();
const store = useStorage();
let spare: Promise<Victim> | undefined;
let api: Victim;
let client: Client;
let world: World;

beforeAll(async () => {
  api = await startApi();
  client = await makeTenant(database.pool, api.url);
  world = await makeWorld(client, database.pool);
});
afterAll(async () => {
  // The spare process may have failed to start.
  for (const victim of [api, await spare?.catch(() => undefined)]) {
    victim?.child.kill("SIGKILL");
    await victim?.gone();
  }
});

async function startApi(): Promise<Victim> {
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  const servers = {
    databaseUrl: database.urlOf("plosive_api"),
    storeUrl: store.config.PLOSIVE_S3_ENDPOINT,
  };
  const victim = await startVictim(servers, [join(import.meta.dirname, "../../src/main.ts")], (faults) => ({
    PLOSIVE_DATABASE_URL: faults.databaseUrl,
    PLOSIVE_DATABASE_POOL: "5",
    PLOSIVE_S3_ENDPOINT: faults.storeUrl,
    PLOSIVE_S3_PUBLIC_ENDPOINT: store.config.PLOSIVE_S3_ENDPOINT,
    PLOSIVE_S3_BUCKET: store.config.PLOSIVE_S3_BUCKET,
    PLOSIVE_S3_ACCESS_KEY_ID: store.config.PLOSIVE_S3_ACCESS_KEY_ID,
    PLOSIVE_S3_SECRET_ACCESS_KEY: store.config.PLOSIVE_S3_SECRET_ACCESS_KEY,
    PLOSIVE_HTTP_PORT: String(port),
    PLOSIVE_METRICS_PORT: String(metricsPort),
    PLOSIVE_LOG_LEVEL: "error",
    ...unlimited,
  }));
  const url = `http://127.0.0.1:${port}`;
  await victim.until("the API to be ready", async () => (await fetch(`${url}/readyz`)).ok);
  return { ...victim, url };
}

/** Switches to the spare process and starts the next spare. */
async function restart(): Promise<void> {
  api = await (spare ?? startApi());
  spare = startApi();
  spare.catch(() => {});
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
}

async function ask(path: string, body: unknown, key: string): Promise<Reply> {
  const response = await fetch(api.url + path, {
    method: "POST",
    headers: {
      "X-API-Key": client.key,
      "Idempotency-Key": key,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const replayed = response.headers.get("idempotency-replayed") === "true";
  return { status: response.status, text: await response.text(), replayed };
}

interface Scenario {
  readonly path: string;
  readonly body?: unknown;
  /** The possible answer to the second request if the first one was executed. */
  readonly again?: { status: number; code: string };
  /** Checks the state after the second request. */
  readonly check?: () => Promise<void>;
}

/** The number of calls that a request makes when nothing disturbs it. */
async function callsOf({ path, body }: Scenario): Promise<number> {
  api.faults.arm(Number.POSITIVE_INFINITY, () => {});
  expect(await ask(path, body, randomUUID()), path).toMatchObject({ status: expect.toSatisfy(isSuccess) });
  return api.faults.disarm();
}

/** Kills at later and later calls until the request is answered before its kill, and returns how often it killed. */
async function killEverywhere(prepare: () => Promise<Scenario>): Promise<{ kills: number; kept: number }> {
  let kept = 0;
  let kills = 0;
  // A request with fewer calls than the step has one point too, whatever the seed.
  const step = Math.min(10, await callsOf(await prepare()));
  for (let after = nextPoint(step); ; after = nextPoint(step, after)) {
    const { path, body, again, check } = await prepare();
    const before = await digestOfTables(database.pool);
    const key = randomUUID();
    const victim = api;
    victim.faults.arm(after, () => victim.child.kill("SIGKILL"));
    const answer = await ask(path, body, key).catch(() => undefined);
    if (answer !== undefined) expect(answer, path).toMatchObject({ status: expect.toSatisfy(isSuccess) });
    const finished = answer !== undefined && victim.faults.disarm() < after;
    if (!finished) {
      kills += 1;
      await victim.gone();
      await restart();
    }
    const left = await digestOfTables(database.pool);
    const second = await ask(path, body, key);
    const wasDone = JSON.stringify(left) !== JSON.stringify(before);
    if (wasDone && again !== undefined) {
      expect(second.status).toBe(again.status);
      expect(JSON.parse(second.text).code).toBe(again.code);
    } else {
      expect(second, `after ${after} calls of ${path}`).toMatchObject({
        status: expect.toSatisfy(isSuccess),
      });
    }
    // Either nothing had happened, or everything had, and then the second request changes nothing.
    if (wasDone) {
      kept += 1;
      expect(await digestOfTables(database.pool), `left after ${after} calls of ${path}`).toEqual(left);
    }
    await check?.();
    if (finished) {
      expect(wasDone).toBe(true);
      return { kills, kept };
    }
  }
}

const isSuccess = (status: number) => status === 200 || status === 201;
const sets = () => `/api/v1/datasets/${world.datasetId}/annotation-sets`;
const label = (start: number) => ({
  audio_file_id: world.audioFileId,
  artifact_type: "click",
  start_ms: start,
  end_ms: start + 10,
});

async function newDraft(labels: number): Promise<string> {
  const set = JSON.parse((await ask(sets(), undefined, randomUUID())).text).id;
  if (labels > 0)
    await ask(
      `${sets()}/${set}/annotations/bulk`,
      { annotations: Array.from({ length: labels }, (_, i) => label(i)) },
      randomUUID(),
    );
  return set;
}

async function announced() {
  const dataset = JSON.parse((await ask("/api/v1/datasets", { name: "x" }, randomUUID())).text).id;
  const bytes = wav();
  const body = { filename: "x.wav", content_type: "audio/wav", size_bytes: bytes.length };
  const audio = `/api/v1/datasets/${dataset}/audio`;
  const ticket = JSON.parse((await ask(`${audio}/upload-url`, body, randomUUID())).text);
  const key = `audio/${client.tenantId}/${ticket.audio_file_id}`;
  return { path: `${audio}/${ticket.audio_file_id}`, upload: ticket.upload, bytes, key };
}

const scenarios: Readonly<Record<string, () => Promise<Scenario>>> = {
  "creating a dataset": async () => ({ path: "/api/v1/datasets", body: { name: "x" } }),
  "creating 50 annotations": async () => ({
    path: `${sets()}/${await newDraft(0)}/annotations/bulk`,
    body: { annotations: Array.from({ length: 50 }, (_, i) => label(i)) },
  }),
  "copying an annotation set": async () => ({
    path: sets(),
    body: { from_annotation_set_id: await newDraft(3) },
  }),
  "creating a training job": async () => {
    const set = await newDraft(3);
    await ask(`${sets()}/${set}/publish`, undefined, randomUUID());
    const config = { artifact_types: ["click"] };
    return {
      path: "/api/v1/training-jobs",
      body: { dataset_id: world.datasetId, annotation_set_id: set, config },
    };
  },
  "creating an inference job": async () => ({
    path: "/api/v1/inference-jobs",
    body: { model_id: world.modelId, audio_file_ids: [world.audioFileId] },
  }),
  "announcing an upload": async () => ({
    path: `/api/v1/datasets/${world.datasetId}/audio/upload-url`,
    body: { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 },
  }),
  "publishing an annotation set": async () => ({
    path: `${sets()}/${await newDraft(3)}/publish`,
  }),
  "requesting the parts of an upload": async () => {
    const { path } = await announced();
    return { path: `${path}/parts` };
  },
  "confirming an upload in parts": async () => {
    const { path, bytes, key } = await announced();
    const { parts } = JSON.parse((await ask(`${path}/parts`, undefined, randomUUID())).text);
    expect(await putPart(parts[0], bytes)).toBe(200);
    return {
      path: `${path}/confirm`,
      check: async () => expect((await store.storage.read(key)).equals(bytes)).toBe(true),
    };
  },
  "confirming an upload": async () => {
    const { path, bytes, key, upload } = await announced();
    expect(await postForm(upload, bytes)).toBe(201);
    return {
      path: `${path}/confirm`,
      check: async () => expect((await store.storage.read(key)).equals(bytes)).toBe(true),
    };
  },
};

describe("an API process that is killed between any two calls", () => {
  it.each(Object.entries(scenarios))(
    "while %s leaves all or nothing, and a repeated request duplicates nothing",
    async (name, prepare) => {
      const { kills, kept } = await killEverywhere(prepare);
      console.info(`${name}: killed at ${kills} points; at ${kept} of them the request had been executed`);
      expect(kills).toBeGreaterThan(isFull ? 2 : 0);
    },
    300_000,
  );
});
