// Jobs and models after their end: retries, deletion, and which data stay.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Client, execute, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { postForm } from "../support/upload.ts";
import { addDetections, addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let stranger: Client;
beforeAll(async () => {
  client = await api.tenant();
  stranger = await api.tenant();
});

const training = "/api/v1/training-jobs";
const inference = "/api/v1/inference-jobs";
const anonymous = () => api.as(null);

async function trainable() {
  const datasetId = await makeDataset(client);
  const audioId = await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs: 300_000 });
  const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
  const setId: string = (await client.post(sets)).body.id;
  const label = { audio_file_id: audioId, artifact_type: "click", start_ms: 1, end_ms: 2 };
  await client.post(`${sets}/${setId}/annotations`, label);
  await client.post(`${sets}/${setId}/publish`);
  const config = { artifact_types: ["click"], seed: 5, max_runtime_seconds: 600 };
  const job = await client.post(training, { dataset_id: datasetId, annotation_set_id: setId, config });
  return { datasetId, audioId, setId, jobId: job.body.id as string };
}

const setStatus = (table: "training_jobs" | "inference_jobs", id: string, status: string) =>
  execute(api.db, sql.fragment`update ${sql.identifier([table])} set status = ${status} where id = ${id}`);

/** Expects 401 without a key, and for a stranger the same 404 as the owner gets for an unknown id. */
async function expectAuthChecks(
  call: (caller: Client, id: string) => Promise<{ status: number; text: string }>,
  id: string,
) {
  const foreign = await call(stranger, id);
  const unknown = await call(client, randomUUID());
  expect((await call(anonymous(), id)).status).toBe(401);
  expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
}

describe("a failed training job", () => {
  it("is retried as a new job with the same configuration, on the dataset's present files", async () => {
    const { datasetId, jobId } = await trainable();
    await setStatus("training_jobs", jobId, "failed");
    const later = await addReadyAudio(api.db, client.tenantId, datasetId);
    await expectAuthChecks((caller, id) => caller.post(`${training}/${id}/retry`), jobId);
    const answer = await client.post(`${training}/${jobId}/retry`);
    expect(answer.status).toBe(201);
    expect(answer.headers.get("location")).toBe(`${training}/${answer.body.id}`);
    const old = (await client.get(`${training}/${jobId}`)).body;
    expect(answer.body).toMatchObject({
      config: old.config,
      annotation_set_id: old.annotation_set_id,
      status: "pending",
      progress_percent: 0,
    });
    expect(answer.body.id).not.toBe(jobId);
    const files = await api.db.anyFirst(sql.type(z.object({ audio_file_id: z.string() }))`
      select audio_file_id from training_job_files where training_job_id = ${answer.body.id}`);
    expect(files).toContain(later);
    const events = (await client.get(`${training}/${answer.body.id}/events`)).body.items;
    expect(events).toMatchObject([{ data: { retry_of: jobId } }]);
    await api.settle();
    expect(api.submitted.map((job) => job.id)).toContain(answer.body.id);
  });

  it("is validated again on a retry, which reports failed preconditions and creates nothing", async () => {
    const { datasetId, jobId } = await trainable();
    await setStatus("training_jobs", jobId, "cancelled");
    await addReadyAudio(api.db, client.tenantId, datasetId, {
      status: "processing",
      embeddingStatus: "pending",
    });
    const before = (await client.get(training)).body.total;
    expect((await client.post(`${training}/${jobId}/retry`)).body.code).toBe("embeddings_not_ready");
    expect((await client.get(training)).body.total).toBe(before);
  });

  it("cannot be retried after its dataset was deleted", async () => {
    const { datasetId, jobId } = await trainable();
    await setStatus("training_jobs", jobId, "failed");
    expect((await client.delete(`/api/v1/datasets/${datasetId}`)).status).toBe(204);
    expect((await client.post(`${training}/${jobId}/retry`)).body.code).toBe("dataset_not_found");
  });

  it.each([
    ["pending", "job_not_finished"],
    ["running", "job_not_finished"],
    ["cancelling", "job_not_finished"],
    ["completed", "job_finished"],
  ])("cannot be retried as long as it is %s", async (status, code) => {
    const { jobId } = await trainable();
    await setStatus("training_jobs", jobId, status);
    expect(await client.post(`${training}/${jobId}/retry`)).toMatchObject({ status: 409, body: { code } });
  });

  it("creates one new job per Idempotency-Key on a retry", async () => {
    const { jobId } = await trainable();
    await setStatus("training_jobs", jobId, "failed");
    const key = { "Idempotency-Key": randomUUID() };
    const first = await client.post(`${training}/${jobId}/retry`, undefined, key);
    const again = await client.post(`${training}/${jobId}/retry`, undefined, key);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  });
});

describe("the deletion of a training job", () => {
  it("deletes its events and keeps its model, which still names the job", async () => {
    const { jobId } = await trainable();
    await setStatus("training_jobs", jobId, "completed");
    const modelId = await addModel(api.db, client.tenantId, jobId);
    await expectAuthChecks((caller, id) => caller.delete(`${training}/${id}`), jobId);
    expect((await client.delete(`${training}/${jobId}`)).status).toBe(204);
    expect((await client.get(`${training}/${jobId}`)).status).toBe(404);
    expect((await client.delete(`${training}/${jobId}`)).status).toBe(404);
    expect((await client.get(`/api/v1/models/${modelId}`)).body.training_job_id).toBe(jobId);
    const events = await api.db.exists(
      sql.type(z.object({}))`select from job_events where job_id = ${jobId}`,
    );
    expect(events).toBe(false);
  });

  it.each(["pending", "queued", "running", "cancelling"])("is refused while it is %s", async (status) => {
    const { jobId } = await trainable();
    await setStatus("training_jobs", jobId, status);
    expect(await client.delete(`${training}/${jobId}`)).toMatchObject({
      status: 409,
      body: { code: "job_not_finished" },
    });
    expect((await client.get(`${training}/${jobId}`)).status).toBe(200);
  });

  it("is refused with a stale If-Match", async () => {
    const { jobId } = await trainable();
    const etag = (await client.get(`${training}/${jobId}`)).headers.get("etag")!;
    await setStatus("training_jobs", jobId, "completed");
    expect((await client.delete(`${training}/${jobId}`, { "If-Match": etag })).status).toBe(412);
    const now = (await client.get(`${training}/${jobId}`)).headers.get("etag")!;
    expect((await client.delete(`${training}/${jobId}`, { "If-Match": now })).status).toBe(204);
  });
});

async function newModel(): Promise<string> {
  const job = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID());
  return await addModel(api.db, client.tenantId, job);
}

/** A job on three files of the dataset, of which two failed. */
async function halfFailed(modelId: string) {
  const datasetId = await makeDataset(client);
  const audio = [];
  for (let i = 0; i < 3; i++) audio.push(await addReadyAudio(api.db, client.tenantId, datasetId));
  const body = { model_id: modelId, audio_file_ids: audio, config: { threshold: 0.7 } };
  const jobId: string = (await client.post(inference, body)).body.id;
  await execute(
    api.db,
    sql.fragment`update inference_files set status = case when audio_file_id = ${audio[0]!} then 'completed' else 'failed' end
      where inference_job_id = ${jobId}`,
  );
  await setStatus("inference_jobs", jobId, "completed");
  return { datasetId, audio, jobId };
}

describe("an inference job with failed files", () => {
  it("is retried with these files only", async () => {
    const { audio, jobId } = await halfFailed(await newModel());
    await expectAuthChecks((caller, id) => caller.post(`${inference}/${id}/retry`), jobId);
    const answer = await client.post(`${inference}/${jobId}/retry`);
    expect(answer).toMatchObject({
      status: 201,
      body: { status: "pending", total_files: 2, processed_files: 0, config: { threshold: 0.7 } },
    });
    const files = (await client.get(`${inference}/${answer.body.id}/files`)).body.items;
    expect(files.map((file: { audio_file_id: string }) => file.audio_file_id).sort()).toEqual(
      audio.slice(1).sort(),
    );
    expect(files[0]).toMatchObject({ status: "queued", error_message: null, detection_count: 0 });
    await api.settle();
    expect(api.submitted.map((job) => job.id)).toContain(answer.body.id);
  });

  it("creates one new job per Idempotency-Key on a retry", async () => {
    const { jobId } = await halfFailed(await newModel());
    const key = { "Idempotency-Key": randomUUID() };
    const first = await client.post(`${inference}/${jobId}/retry`, undefined, key);
    const again = await client.post(`${inference}/${jobId}/retry`, undefined, key);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  });

  it("cannot be retried before its end, without failed files, without its model or without its audio", async () => {
    const modelId = await newModel();
    const { datasetId, audio, jobId } = await halfFailed(modelId);
    const codeOf = async () => (await client.post(`${inference}/${jobId}/retry`)).body.code;
    await setStatus("inference_jobs", jobId, "running");
    expect(await codeOf()).toBe("job_not_finished");
    await setStatus("inference_jobs", jobId, "completed");
    await client.post(`/api/v1/models/${modelId}/archive`);
    expect(await codeOf()).toBe("model_inactive");
    await client.post(`/api/v1/models/${modelId}/unarchive`);
    await client.patch(`/api/v1/models/${modelId}`, { is_active: true });
    expect((await client.delete(`/api/v1/datasets/${datasetId}/audio/${audio[1]}`)).status).toBe(204);
    expect(await codeOf()).toBe("audio_not_ready");
    await execute(
      api.db,
      sql.fragment`update inference_files set status = 'completed' where inference_job_id = ${jobId}`,
    );
    expect(await codeOf()).toBe("no_files");
  });
});

describe("the deletion of an inference job", () => {
  it("deletes its files and detections", async () => {
    const { jobId } = await halfFailed(await newModel());
    const [file] = (await client.get(`${inference}/${jobId}/files`)).body.items;
    await addDetections(api.db, client.tenantId, jobId, file.id, 3);
    await expectAuthChecks((caller, id) => caller.delete(`${inference}/${id}`), jobId);
    expect((await client.delete(`${inference}/${jobId}`)).status).toBe(204);
    expect((await client.get(`${inference}/${jobId}`)).status).toBe(404);
    const left = await api.db.exists(sql.type(z.object({}))`
      select from detections where inference_job_id = ${jobId}`);
    expect(left).toBe(false);
  });

  it.each(["pending", "running", "cancelling"])("is refused while it is %s", async (status) => {
    const { jobId } = await halfFailed(await newModel());
    await setStatus("inference_jobs", jobId, status);
    expect((await client.delete(`${inference}/${jobId}`)).body.code).toBe("job_not_finished");
  });
});

describe("a file of an inference job", () => {
  const announce = async (jobId: string, bytes: Buffer) => {
    const body = { filename: "x.wav", content_type: "audio/wav", size_bytes: bytes.length };
    return (await client.post(`${inference}/${jobId}/files/upload-url`, body)).body;
  };

  it("can be removed before the start, announced or uploaded, and is no longer counted", async () => {
    const jobId: string = (await client.post(inference, { model_id: await newModel() })).body.id;
    const bytes = wav();
    const [first, second] = [await announce(jobId, bytes), await announce(jobId, bytes)];
    for (const ticket of [first, second]) await postForm(ticket.upload, bytes);
    const path = (ticket: { inference_file_id: string }) =>
      `${inference}/${jobId}/files/${ticket.inference_file_id}`;
    await client.post(`${path(first)}/confirm`);
    expect((await client.get(`${inference}/${jobId}`)).body.total_files).toBe(1);
    await expectAuthChecks(
      (caller, id) => caller.delete(`${inference}/${jobId}/files/${id}`),
      first.inference_file_id,
    );
    for (const ticket of [first, second]) expect((await client.delete(path(ticket))).status).toBe(204);
    expect((await client.get(path(first))).status).toBe(404);
    expect((await client.delete(path(first))).status).toBe(404);
    expect((await client.get(`${inference}/${jobId}`)).body.total_files).toBe(0);
    expect((await client.post(`${inference}/${jobId}/start`)).body.code).toBe("no_files");
  });

  it("cannot be removed once the job was started or cancelled", async () => {
    const modelId = await newModel();
    const { jobId } = await halfFailed(modelId);
    await setStatus("inference_jobs", jobId, "pending");
    const [file] = (await client.get(`${inference}/${jobId}/files`)).body.items;
    expect((await client.delete(`${inference}/${jobId}/files/${file.id}`)).body.code).toBe("job_started");
    const other: string = (await client.post(inference, { model_id: modelId })).body.id;
    const ticket = await announce(other, wav());
    await client.post(`${inference}/${other}/cancel`);
    const path = `${inference}/${other}/files/${ticket.inference_file_id}`;
    expect((await client.delete(path)).body.code).toBe("job_finished");
  });
});

describe("the deletion of a model", () => {
  it("requires that the model is archived and its jobs have ended, and finished jobs keep its id", async () => {
    const modelId = await newModel();
    const path = `/api/v1/models/${modelId}`;
    const { jobId } = await halfFailed(modelId);
    expect((await client.delete(path)).body.code).toBe("model_not_archived");
    const waiting: string = (await client.post(inference, { model_id: modelId })).body.id;
    await client.post(`${path}/archive`);
    expect((await client.delete(path)).body.code).toBe("model_in_use");
    await client.post(`${inference}/${waiting}/cancel`);
    await expectAuthChecks((caller, id) => caller.delete(`/api/v1/models/${id}`), modelId);
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
    expect((await client.get(`${inference}/${jobId}`)).body.model_id).toBe(modelId);
    expect((await client.get(`${inference}/${jobId}/files`)).body.total).toBe(3);
    expect((await client.post(`${inference}/${jobId}/retry`)).body.code).toBe("model_inactive");
    expect((await client.post(inference, { model_id: modelId })).body.code).toBe("model_not_found");
  });

  it("excludes a concurrent creation of a job: one of the two requests is refused", async () => {
    for (let round = 0; round < 10; round++) {
      const modelId = await newModel();
      const path = `/api/v1/models/${modelId}`;
      await execute(api.db, sql.fragment`update models set archived_at = now() where id = ${modelId}`);
      // An archived model would refuse the job for that reason alone; this test is about the lock.
      await execute(
        api.db,
        sql.fragment`update models set archived_at = null, is_active = true where id = ${modelId}`,
      );
      const [made, archived] = await Promise.all([
        client.post(inference, { model_id: modelId }),
        client.post(`${path}/archive`).then(() => client.delete(path)),
      ]);
      const statuses = [made.status, archived.status];
      expect([
        [201, 409],
        [404, 204],
        [409, 204],
      ]).toContainEqual(statuses);
    }
  });
});

describe("the constraints of the database", () => {
  it("reject a model without a training job, and an inference job without a model, of the same tenant", async () => {
    const foreignJob = await addTrainingJob(api.db, stranger.tenantId, randomUUID(), randomUUID());
    const foreignKey = { code: "23503" };
    await expect(addModel(api.db, client.tenantId, foreignJob)).rejects.toMatchObject(foreignKey);
    const foreignModel = await addModel(api.db, stranger.tenantId, foreignJob);
    const insert = execute(
      api.db,
      sql.fragment`insert into inference_jobs (id, tenant_id, model_id, config)
        values (${randomUUID()}, ${client.tenantId}, ${foreignModel}, '{}')`,
    );
    await expect(insert).rejects.toMatchObject(foreignKey);
  });
});

describe("a dataset that is deleted during the creation of a job on its audio", () => {
  it("is deleted before the job exists or stays", async () => {
    const modelId = await newModel();
    for (let round = 0; round < 15; round++) {
      const datasetId = await makeDataset(client);
      const audio = await addReadyAudio(api.db, client.tenantId, datasetId);
      const source = round % 2 === 0 ? { dataset_id: datasetId } : { audio_file_ids: [audio] };
      const [made, deleted] = await Promise.all([
        client.post(inference, { model_id: modelId, ...source }),
        client.delete(`/api/v1/datasets/${datasetId}`),
      ]);
      expect([
        [201, 409],
        [404, 204],
      ]).toContainEqual([made.status, deleted.status]);
    }
  });
});
