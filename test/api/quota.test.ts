// Quotas: each is refused at its limit with 429 quota_exceeded and without Retry-After, and GET /usage shows them. The
// accuracy of the counters is tested in usage.test.ts.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Answer,
  type Client,
  clientOf,
  execute,
  type ServedApi,
  serveApi,
  testDeps,
  testSettings,
  useApi,
} from "../support/api.ts";
import { insertInferenceJob, insertModel, insertTrainingJob } from "../support/rows.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
let limited: ServedApi;
/** Quotas of two for everything. */
const limits = {
  PLOSIVE_QUOTA_DATASETS: 2,
  PLOSIVE_QUOTA_AUDIO_FILES: 2,
  PLOSIVE_QUOTA_BYTES: 1000,
  PLOSIVE_QUOTA_ANNOTATIONS: 2,
  PLOSIVE_QUOTA_ANNOTATION_SETS: 3,
  PLOSIVE_QUOTA_ACCOUNT_ANNOTATIONS: 3,
  PLOSIVE_QUOTA_WAITING_TRAININGS: 2,
  PLOSIVE_QUOTA_WAITING_INFERENCES: 2,
  PLOSIVE_QUOTA_INFERENCE_FILES: 3,
  PLOSIVE_QUOTA_API_KEYS: 2,
  PLOSIVE_QUOTA_WEBHOOKS: 2,
};
beforeAll(async () => {
  limited = await serveApi({ ...testDeps(api.pool, api.storage), config: testSettings(limits) });
});
afterAll(() => limited?.stop());

/** A new tenant of the API with the small quotas. */
async function tenant(): Promise<Client> {
  const { key, tenantId } = await api.tenant();
  return clientOf(limited.url, key, tenantId);
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

describe("a quota grants its last place and no more", () => {
  it("for datasets, until one is deleted", async () => {
    const client = await tenant();
    const first = await makeDataset(client);
    await makeDataset(client);
    expectFull(await client.post("/api/v1/datasets", { name: "c" }), /at most 2 datasets/);
    await client.delete(`/api/v1/datasets/${first}`);
    expect((await client.post("/api/v1/datasets", { name: "c" })).status).toBe(201);
  });

  it("for the audio files of a dataset, where a batch counts as a whole", async () => {
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

  it("for audio files whose upload is not confirmed, in all datasets and with those that have expired", async () => {
    const client = await api.tenant();
    const [dataset, other] = [await makeDataset(client), await makeDataset(client)];
    await execute(
      api.db,
      sql.fragment`
        insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, upload_expires_at)
        select gen_random_uuid(), ${client.tenantId}, ${other}, 'late.wav', 'audio/wav', 1,
          case when n % 2 = 0 then 'pending_upload' else 'expired' end, now()
        from generate_series(1, 9998) n`,
    );
    const audio = `/api/v1/datasets/${dataset}/audio`;
    const request = (count: number) =>
      client.post(`${audio}/upload-urls`, { files: Array(count).fill(upload(1)) });
    expectFull(await request(3), /at most 10000 audio files whose upload is not confirmed/);
    const { items } = (await request(2)).body;
    expectFull(await client.post(`${audio}/upload-url`, upload(1)), /not confirmed/);
    expect((await client.delete(`${audio}/${items[0].audio_file_id}`)).status).toBe(204);
    expect((await client.post(`${audio}/upload-url`, upload(1))).status).toBe(201);
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
    expectFull(await client.post(files, upload(401)), /it has 600, and these files would add 401/);
    expect((await client.post(files, upload(400))).status).toBe(201);
    expectFull(await client.post(path, upload(1)), /it has 1000/);
    await client.delete(`/api/v1/datasets/${dataset}/audio/${first.body.audio_file_id}`);
    expect((await client.post(path, upload(600))).status).toBe(201);
  });

  it("for the annotations of a set, single and in bulk", async () => {
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

  it("for the annotation sets and the annotations of all sets, copies under way included", async () => {
    const client = await tenant();
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset);
    const sets = `/api/v1/datasets/${dataset}/annotation-sets`;
    const full = (await client.post(sets)).body.id;
    await client.post(`${sets}/${full}/annotations/bulk`, { annotations: [label(audio), label(audio, 1)] });
    const copy = { from_annotation_set_id: full };
    expectFull(await client.post(sets, copy), /An account can have at most 3 annotations/);
    const other = (await client.post(sets)).body.id;
    const path = `${sets}/${other}/annotations`;
    expect((await client.post(path, label(audio))).status).toBe(201);
    expectFull(await client.post(path, label(audio, 1)), /An account can have at most 3 annotations/);
    const track = await client.post(
      `${sets}/${other}/import/audacity?audio_file_id=${audio}`,
      "5\t5\tclick\n",
      { "Content-Type": "text/plain" },
    );
    expectFull(track, /An account can have at most 3 annotations/);
    const { quotas } = (await client.get("/api/v1/usage")).body;
    expect(quotas.annotations).toEqual({ used: 3, limit: 3 });
    expect(quotas.annotation_sets).toEqual({ used: 2, limit: 3 });

    const small = (await client.post(sets)).body.id;
    expectFull(await client.post(sets), /An account can have at most 3 annotation sets/);
    await client.delete(`${sets}/${small}`);
    await client.delete(`${sets}/${other}`);
    // A copy under way counts as if it were complete.
    await execute(
      api.db,
      sql.fragment`update annotation_sets set copying = jsonb_build_object('annotation_set_id', id, 'total', 3, 'after', null)
        where id = ${full}`,
    );
    const next = (await client.post(sets)).body.id;
    expectFull(await client.post(`${sets}/${next}/annotations`, label(audio)), /at most 3 annotations/);
  });

  it("for imported annotations, without those that the set already contains", async () => {
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

  it("for waiting training jobs, without running and finished ones", async () => {
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
    expectFull(await client.post("/api/v1/training-jobs", body), /at most 2 waiting training jobs/);
    await execute(
      api.db,
      sql.fragment`update training_jobs set status = 'running' where id = ${first.body.id}`,
    );
    expect((await client.post("/api/v1/training-jobs", body)).status).toBe(201);
    await execute(
      api.db,
      sql.fragment`update training_jobs set status = 'failed' where id = ${first.body.id}`,
    );
    expectFull(
      await client.post(`/api/v1/training-jobs/${first.body.id}/retry`),
      /at most 2 waiting training jobs/,
    );
    const other = await tenant();
    const nowhere = { ...body, dataset_id: randomUUID() };
    expect((await other.post("/api/v1/training-jobs", nowhere)).status).toBe(404);
  });

  it("for waiting inference jobs", async () => {
    const client = await tenant();
    const training = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID());
    const body = { model_id: await addModel(api.db, client.tenantId, training) };
    const first = await client.post("/api/v1/inference-jobs", body);
    await client.post("/api/v1/inference-jobs", body);
    expectFull(await client.post("/api/v1/inference-jobs", body), /at most 2 waiting inference jobs/);
    // Before it reads any of what may be 100,000 files.
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset);
    await api.db.transaction(async (tx) => {
      await tx.query(sql.unsafe`select from audio_files where id = ${audio} for update`);
      const whole = await client.post("/api/v1/inference-jobs", { ...body, dataset_id: dataset });
      expectFull(whole, /at most 2 waiting inference jobs/);
    });
    await client.post(`/api/v1/inference-jobs/${first.body.id}/cancel`);
    expect((await client.post("/api/v1/inference-jobs", body)).status).toBe(201);
  });

  it("for concurrent requests for jobs", async () => {
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
        expectFull(answer, /at most 2 waiting .* jobs/);
    }
  });

  it("for the files of all inference jobs, until one of the jobs is deleted", async () => {
    const client = await tenant();
    const dataset = await makeDataset(client);
    const audio = await addReadyAudio(api.db, client.tenantId, dataset);
    await addReadyAudio(api.db, client.tenantId, dataset);
    const training = await addTrainingJob(api.db, client.tenantId, dataset, randomUUID());
    const model_id = await addModel(api.db, client.tenantId, training);
    const jobs = "/api/v1/inference-jobs";
    const used = async () => (await client.get("/api/v1/usage")).body.quotas.inference_files.used;
    const failed = (await client.post(jobs, { model_id, dataset_id: dataset })).body.id;
    expect(await used()).toBe(2);
    await execute(
      api.db,
      sql.fragment`update inference_files set status = 'failed' where inference_job_id = ${failed}`,
    );
    await execute(api.db, sql.fragment`update inference_jobs set status = 'failed' where id = ${failed}`);
    expect((await client.post(jobs, { model_id, audio_file_ids: [audio] })).status).toBe(201);
    expect(await used()).toBe(3);
    const full = /The inference jobs of an account have at most 3 files; they have 3\. Delete jobs/;
    expectFull(await client.post(jobs, { model_id, dataset_id: dataset }), full);
    expectFull(await client.post(`${jobs}/${failed}/retry`), full);
    const empty = (await client.post(jobs, { model_id })).body.id;
    expectFull(await client.post(`${jobs}/${empty}/files/upload-url`, upload()), full);
    expect((await client.delete(`${jobs}/${failed}`)).status).toBe(204);
    expect(await used()).toBe(1);
    expect((await client.post(`${jobs}/${empty}/cancel`)).status).toBe(200);
    expect((await client.post(jobs, { model_id, audio_file_ids: [audio] })).status).toBe(201);
    expect(await used()).toBe(2);
  });

  it("for concurrent requests for datasets, keys and webhooks", async () => {
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

  it("for API keys, except for a rotation without overlap", async () => {
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

  it("for a request with an Idempotency-Key, which the client can send again later", async () => {
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
  it("counts the tenant's own waiting jobs", async () => {
    const client = await tenant();
    await insertTrainingJob(api.db, client.tenantId);
    const model = await insertModel(api.db, client.tenantId);
    await insertInferenceJob(api.db, client.tenantId, model, 1);
    const { quotas } = (await client.get("/api/v1/usage")).body;
    expect(quotas.waiting_training_jobs).toEqual({ used: 1, limit: 2 });
    expect(quotas.waiting_inference_jobs).toEqual({ used: 1, limit: 2 });
  });

  it("shows the use and the limit of each quota, with null for no limit", async () => {
    const fresh = await (await tenant()).get("/api/v1/usage");
    expect(fresh.body.quotas).toEqual({
      datasets: { used: 0, limit: 2 },
      audio_bytes: { used: 0, limit: 1000 },
      audio_files_per_dataset: { used: 0, limit: 2 },
      annotations_per_set: { used: 0, limit: 2 },
      annotation_sets: { used: 0, limit: 3 },
      annotations: { used: 0, limit: 3 },
      running_training_jobs: { used: 0, limit: 2 },
      waiting_training_jobs: { used: 0, limit: 2 },
      running_inference_jobs: { used: 0, limit: 10 },
      waiting_inference_jobs: { used: 0, limit: 2 },
      inference_files: { used: 0, limit: 3 },
      api_keys: { used: 1, limit: 2 },
      webhooks: { used: 0, limit: 2 },
    });
    const answer = await (await api.tenant()).get("/api/v1/usage");
    expect(answer.body.rates).toContainEqual({ name: "default", requests_per_minute: null });
    const nothing = { pod_seconds: 0, cpu_seconds: 0, gpu_seconds: 0, audio_seconds: 0 };
    expect(answer.body.compute).toEqual(nothing);
  });
});
