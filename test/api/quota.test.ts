// Quotas: each is refused at its limit with 429 quota_exceeded and no word of waiting, the numbers that they are measured
// by stay true whatever comes and goes, and GET /usage shows them (design 2.11).
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type App, makeApp } from "../../src/api/app.ts";
import { type HttpServer, listen } from "../../src/api/server.ts";
import {
  type Answer,
  type Client,
  clientOf,
  execute,
  testDeps,
  testSettings,
  useApi,
} from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
let app: App;
let server: HttpServer;
let end: () => Promise<void>;
/** Nobody may have more than two of anything. */
const limits = {
  PLOSIVE_QUOTA_DATASETS: 2,
  PLOSIVE_QUOTA_AUDIO_FILES: 2,
  PLOSIVE_QUOTA_BYTES: 1000,
  PLOSIVE_QUOTA_ANNOTATIONS: 2,
  PLOSIVE_QUOTA_WAITING_TRAININGS: 2,
  PLOSIVE_QUOTA_WAITING_INFERENCES: 2,
  PLOSIVE_QUOTA_API_KEYS: 2,
  PLOSIVE_QUOTA_WEBHOOKS: 2,
};
beforeAll(async () => {
  const deps = { ...testDeps(api.pool, api.storage), config: testSettings(limits) };
  app = makeApp(deps);
  server = await listen(app.listener, 0, "127.0.0.1");
  end = async () => {
    app.drain();
    await server.stop(1_000);
    await app.settle();
    await deps.listener.end();
  };
});
afterAll(() => end());

/** A tenant, at the API with the small quotas. */
async function tenant(): Promise<Client> {
  const { key, tenantId } = await api.tenant();
  return clientOf(`http://127.0.0.1:${server.port}`, key, tenantId);
}

function expectFull(answer: Answer, what: RegExp): void {
  expect([answer.status, answer.body.code]).toEqual([429, "quota_exceeded"]);
  expect(answer.body.detail).toMatch(what);
  expect(answer.headers.get("retry-after")).toBeNull();
}

const upload = (size_bytes = 100) => ({ filename: "x.wav", content_type: "audio/wav", size_bytes });
const label = (audio_file_id: string, start_ms = 0) => ({
  audio_file_id,
  artifact_type: "click",
  start_ms,
  end_ms: start_ms + 1,
});

async function usage(client: Client): Promise<Record<string, { used: number; limit: number | null }>> {
  return (await client.get("/api/v1/usage")).body.quotas;
}

describe("the last place is given, and no more", () => {
  it("for datasets, until one is deleted", async () => {
    const client = await tenant();
    const first = await makeDataset(client);
    await makeDataset(client);
    expectFull(await client.post("/api/v1/datasets", { name: "c" }), /at most 2 datasets/);
    await client.delete(`/api/v1/datasets/${first}`);
    expect((await client.post("/api/v1/datasets", { name: "c" })).status).toBe(201);
  });

  it("for audio files of a dataset, batches as a whole", async () => {
    const client = await tenant();
    const [one, other] = [await makeDataset(client), await makeDataset(client)];
    const path = `/api/v1/datasets/${one}/audio`;
    const first = await client.post(`${path}/upload-url`, upload());
    expectFull(await client.post(`${path}/upload-urls`, { files: [upload(), upload()] }), /at most 2 audio/);
    expect((await client.post(`${path}/upload-url`, upload())).status).toBe(201);
    expectFull(await client.post(`${path}/upload-url`, upload()), /at most 2 audio files; it has 2/);
    expect((await client.post(`/api/v1/datasets/${other}/audio/upload-url`, upload())).status).toBe(201);
    await client.delete(`${path}/${first.body.audio_file_id}`);
    expect((await client.post(`${path}/upload-url`, upload())).status).toBe(201);
  });

  it("for bytes, in datasets and inference jobs together", async () => {
    const client = await tenant();
    const dataset = await makeDataset(client);
    const path = `/api/v1/datasets/${dataset}/audio/upload-url`;
    const first = await client.post(path, upload(600));
    expectFull(await client.post(path, upload(401)), /at most 1000 bytes of audio; it has 600/);
    const model = await addModel(
      api.db,
      client.tenantId,
      await addTrainingJob(api.db, client.tenantId, dataset, randomUUID()),
    );
    const job = (await client.post("/api/v1/inference-jobs", { model_id: model })).body.id;
    const files = `/api/v1/inference-jobs/${job}/files/upload-url`;
    expectFull(await client.post(files, upload(401)), /it has 600, these would be 401 more/);
    expect((await client.post(files, upload(400))).status).toBe(201);
    expectFull(await client.post(path, upload(1)), /it has 1000/);
    await client.delete(`/api/v1/datasets/${dataset}/audio/${first.body.audio_file_id}`);
    expect((await client.post(path, upload(600))).status).toBe(201);
  });

  it("for annotations of a set, one by one and in bulk", async () => {
    const client = await tenant();
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset);
    const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
    const set = (await client.post(sets)).body.id;
    const path = `${sets}/${set}/annotations`;
    const three = { annotations: [label(audio), label(audio, 1), label(audio, 2)] };
    expectFull(await client.post(`${path}/bulk`, three), /at most 2 annotations/);
    const first = await client.post(path, label(audio));
    await client.post(path, label(audio));
    expectFull(await client.post(path, label(audio)), /at most 2 annotations/);
    await client.patch(`${path}/${first.body.id}`, { end_ms: 7 });
    await client.delete(`${path}/${first.body.id}`);
    expect((await client.post(path, label(audio))).status).toBe(201);
    expect((await client.get(path)).body).toHaveLength(2);
  });

  it("for annotations that are imported, of which those that the set has already do not count", async () => {
    const client = await tenant();
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset);
    const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
    const set = `${sets}/${(await client.post(sets)).body.id}`;
    const send = (labels: number, query = "") => {
      const track = Array.from({ length: labels }, (_, i) => `${i}\t${i}\tclick\n`).join("");
      const path = `${set}/import/audacity?audio_file_id=${audio}${query}`;
      return client.post(path, track, { "Content-Type": "text/plain" });
    };
    expectFull(await send(3), /at most 2 annotations/);
    expectFull(await send(3, "&dry_run=true"), /at most 2 annotations/);
    expect((await client.get(set)).body.total_annotations).toBe(0);
    expect((await send(2)).body.imported).toBe(2);
    expect((await send(2)).body).toMatchObject({ imported: 0, skipped: 2 });
    expectFull(await send(3), /at most 2 annotations/);
  });

  it("for training jobs that wait; those that run or have ended do not count", async () => {
    const client = await tenant();
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset, { durationMs: 300_000 });
    const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
    const set = (await client.post(sets)).body.id;
    await client.post(`${sets}/${set}/annotations`, label(audio));
    await client.post(`${sets}/${set}/publish`);
    const body = { dataset_id: dataset, annotation_set_id: set, config: { artifact_types: ["click"] } };
    const first = await client.post("/api/v1/training-jobs", body);
    await client.post("/api/v1/training-jobs", body);
    expectFull(await client.post("/api/v1/training-jobs", body), /at most 2 training jobs that wait/);
    await execute(
      api.db,
      sql.fragment`update training_jobs set status = 'running' where id = ${first.body.id}`,
    );
    expect((await client.post("/api/v1/training-jobs", body)).status).toBe(201);
    await execute(
      api.db,
      sql.fragment`update training_jobs set status = 'failed' where id = ${first.body.id}`,
    );
    expectFull(await client.post(`/api/v1/training-jobs/${first.body.id}/retry`), /at most 2 training jobs/);
    const other = await tenant();
    const nowhere = { ...body, dataset_id: randomUUID() };
    expect((await other.post("/api/v1/training-jobs", nowhere)).status).toBe(404);
  });

  it("for inference jobs that wait", async () => {
    const client = await tenant();
    const training = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID());
    const body = { model_id: await addModel(api.db, client.tenantId, training) };
    const first = await client.post("/api/v1/inference-jobs", body);
    await client.post("/api/v1/inference-jobs", body);
    expectFull(await client.post("/api/v1/inference-jobs", body), /at most 2 inference jobs that wait/);
    await client.post(`/api/v1/inference-jobs/${first.body.id}/cancel`);
    expect((await client.post("/api/v1/inference-jobs", body)).status).toBe(201);
  });

  it("for jobs that are asked for at the same instant", async () => {
    const client = await tenant();
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset, { durationMs: 300_000 });
    const set = `/api/v1/datasets/${dataset}/annotation-sets`;
    const { id } = (await client.post(set)).body;
    await client.post(`${set}/${id}/annotations`, label(audio));
    await client.post(`${set}/${id}/publish`);
    const model = await addModel(
      api.db,
      client.tenantId,
      await addTrainingJob(api.db, client.tenantId, dataset, id),
    );
    const bodies = {
      "training-jobs": { dataset_id: dataset, annotation_set_id: id, config: { artifact_types: ["click"] } },
      "inference-jobs": { model_id: model, dataset_id: dataset },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => client.post(`/api/v1/${path}`, body)),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
      for (const answer of answers.filter(({ status }) => status !== 201))
        expectFull(answer, /at most 2 .* jobs that wait/);
    }
  });

  it("for datasets, keys and webhooks that are asked for at the same instant", async () => {
    const places = { datasets: 2, webhooks: 2, "auth/api-keys": 1 };
    for (const [path, free] of Object.entries(places)) {
      const client = await tenant();
      const body = { name: "x", url: "https://hooks.example.com/x" };
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => client.post(`/api/v1/${path}`, body)),
      );
      expect(
        answers.filter(({ status }) => status === 201),
        path,
      ).toHaveLength(free);
      for (const answer of answers.filter(({ status }) => status !== 201)) expectFull(answer, /at most 2/);
    }
  });

  it("for API keys; a rotation without overlap needs no place", async () => {
    const client = await tenant();
    const keys = "/api/v1/auth/api-keys";
    const second = await client.post(keys, { name: "2" });
    expectFull(await client.post(keys, { name: "3" }), /at most 2 API keys/);
    expectFull(await client.post(`${keys}/${second.body.id}/rotate`, { overlap_seconds: 60 }), /at most 2/);
    const third = await client.post(`${keys}/${second.body.id}/rotate`);
    expect(third.status).toBe(201);
    await client.delete(`${keys}/${third.body.id}`);
    expect((await client.post(keys, { name: "3" })).status).toBe(201);
  });

  it("for webhooks", async () => {
    const client = await tenant();
    const body = { url: "https://hooks.example.com/x" };
    for (let i = 0; i < 2; i++) expect((await client.post("/api/v1/webhooks", body)).status).toBe(201);
    expectFull(await client.post("/api/v1/webhooks", body), /at most 2 webhooks/);
  });

  it("a refused request with an Idempotency-Key may be sent again later", async () => {
    const client = await tenant();
    const first = await makeDataset(client);
    await makeDataset(client);
    const send = () => client.post("/api/v1/datasets", { name: "c" }, { "Idempotency-Key": "later" });
    expectFull(await send(), /at most 2 datasets/);
    await client.delete(`/api/v1/datasets/${first}`);
    expect((await send()).status).toBe(201);
  });
});

describe("usage", () => {
  it("tells all use and all limits, null where there is none", async () => {
    const fresh = await usage(await tenant());
    expect(fresh).toEqual({
      datasets: { used: 0, limit: 2 },
      audio_bytes: { used: 0, limit: 1000 },
      audio_files_per_dataset: { used: 0, limit: 2 },
      annotations_per_set: { used: 0, limit: 2 },
      running_training_jobs: { used: 0, limit: 2 },
      waiting_training_jobs: { used: 0, limit: 2 },
      running_inference_jobs: { used: 0, limit: 10 },
      waiting_inference_jobs: { used: 0, limit: 2 },
      api_keys: { used: 1, limit: 2 },
      webhooks: { used: 0, limit: 2 },
    });
    const answer = await (await api.tenant()).get("/api/v1/usage");
    expect(answer.body.rates).toContainEqual({ name: "default", requests_per_minute: null });
    const nothing = { pod_seconds: 0, cpu_seconds: 0, gpu_seconds: 0, audio_seconds: 0 };
    expect(answer.body.compute).toEqual(nothing);
  });

  it("is what a count of the rows gives, after anything that rows can do", async () => {
    const client = await api.tenant();
    const { tenantId } = client;
    const [one, two] = [await makeDataset(client), await makeDataset(client)];
    const files = Array.from({ length: 7 }, (_, i) => upload(100 + i));
    const tickets = (await client.post(`/api/v1/datasets/${one}/audio/upload-urls`, { files })).body.items;
    await client.post(`/api/v1/datasets/${two}/audio/upload-url`, upload(10_000));
    const ids: string[] = tickets.map((ticket: { audio_file_id: string }) => ticket.audio_file_id);
    await client.delete(`/api/v1/datasets/${one}/audio/${ids[0]}`);
    // As the operator's sweep does, and then the deletion of what had expired.
    await execute(api.db, sql.fragment`update audio_files set status = 'expired' where id = ${ids[1]!}`);
    await execute(api.db, sql.fragment`delete from audio_files where id = ${ids[1]!}`);
    await execute(api.db, sql.fragment`update audio_files set status = 'expired' where id = ${ids[2]!}`);

    const sets = `/api/v1/datasets/${one}/annotation-sets`;
    const set = (await client.post(sets)).body.id;
    const audio = await addReadyAudio(api.db, tenantId, one);
    const annotations = Array.from({ length: 5 }, (_, i) => label(audio, i));
    await client.post(`${sets}/${set}/annotations/bulk`, { annotations });
    const copy = (await client.post(sets, { from_annotation_set_id: set })).body.id;
    await client.post(`${sets}/${copy}/annotations`, label(audio, 50));
    await client.post(`${sets}/${copy}/publish`);
    expect(await usage(client)).toMatchObject(await counted(tenantId));
    expect(await usage(client)).toMatchObject({
      audio_files_per_dataset: { used: 5 },
      audio_bytes: { used: 103 + 104 + 105 + 106 + 10_000 + 1000 },
      annotations_per_set: { used: 6 },
    });

    const unlabelled = await addReadyAudio(api.db, tenantId, one);
    const draft = (await client.post(sets)).body.id;
    await client.post(`${sets}/${draft}/annotations`, label(unlabelled));
    await client.delete(`/api/v1/datasets/${one}/audio/${unlabelled}`);
    expect(await usage(client)).toMatchObject(await counted(tenantId));
    await client.delete(`/api/v1/datasets/${one}`);
    expect(await usage(client)).toMatchObject(await counted(tenantId));
    expect(await usage(client)).toMatchObject({
      audio_files_per_dataset: { used: 1 },
      audio_bytes: { used: 10_000 },
      annotations_per_set: { used: 0 },
    });
    await execute(api.db, sql.fragment`delete from tenants where id = ${tenantId}`);
  });

  it("stays true while many change it at once", async () => {
    const client = await api.tenant();
    const datasets = await Promise.all([makeDataset(client), makeDataset(client), makeDataset(client)]);
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const path = `/api/v1/datasets/${datasets[i % 3]}/audio`;
        const ticket = await client.post(`${path}/upload-url`, upload(i + 1));
        expect(ticket.status, ticket.text).toBe(201);
        if (i % 2 === 0) await client.delete(`${path}/${ticket.body.audio_file_id}`);
      }),
    );
    expect(await usage(client)).toMatchObject({
      ...(await counted(client.tenantId)),
      audio_bytes: { used: 930 },
    });
  });
});

it("the list of training jobs tells how many there are, whoever made and deleted them", async () => {
  const client = await api.tenant();
  const total = async (path = "/api/v1/training-jobs") => (await client.get(path)).body.total;
  expect(await total()).toBe(0);
  const jobs = await Promise.all(
    Array.from({ length: 5 }, () => addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID())),
  );
  expect(await total()).toBe(5);
  const [first] = jobs;
  expect((await client.delete(`/api/v1/training-jobs/${first}`)).status).toBe(204);
  await execute(api.db, sql.fragment`delete from training_jobs where id = ${jobs[1]!}`);
  expect(await total()).toBe(3);
  expect(await total("/api/v1/training-jobs?page=2")).toBe(3);
  expect(await total("/api/v1/training-jobs?status=completed")).toBe(3);
  expect(await total("/api/v1/training-jobs?status=failed")).toBe(0);
  await execute(api.db, sql.fragment`delete from tenants where id = ${client.tenantId}`);
});

it("who changes files of several datasets at once waits for others and never for himself", async () => {
  const client = await api.tenant();
  const [one, two] = [await makeDataset(client), await makeDataset(client)];
  const path = (dataset: string) => `/api/v1/datasets/${dataset}/audio/upload-url`;
  const ids: string[] = [];
  for (const dataset of [one, two]) ids.push((await client.post(path(dataset), upload())).body.audio_file_id);
  let late: Promise<Answer> | undefined;
  await api.db.transaction(async (tx) => {
    const expire = (id: string) =>
      tx.query(sql.type(z.object({}))`update audio_files set status = 'expired' where id = ${id}`);
    await expire(ids[0]!);
    late = client.post(path(two), upload());
    await poll("the upload to wait", () =>
      tx.oneFirst(sql.type(z.object({ waits: z.boolean() }))`
        select count(*) > 0 as waits from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`),
    );
    await expire(ids[1]!);
  });
  expect((await late)?.status).toBe(201);
  expect(await usage(client)).toMatchObject({
    audio_bytes: { used: 100 },
    audio_files_per_dataset: { used: 1 },
  });
});

/** What the triggers keep, counted from the rows. */
async function counted(tenantId: string) {
  const row = z.object({ bytes: z.number(), files: z.number(), annotations: z.number() });
  const { bytes, files, annotations } = await api.db.one(sql.type(row)`
    select coalesce((select sum(size_bytes) from audio_files where tenant_id = ${tenantId} and status <> 'expired'), 0)::bigint
        as bytes,
      coalesce((select max(n) from (select count(*) as n from audio_files
        where tenant_id = ${tenantId} and status <> 'expired' group by dataset_id) a), 0) as files,
      coalesce((select max(n) from (select count(*) as n from annotations
        where tenant_id = ${tenantId} group by annotation_set_id) b), 0) as annotations`);
  return {
    audio_bytes: { used: bytes },
    audio_files_per_dataset: { used: files },
    annotations_per_set: { used: annotations },
  };
}
