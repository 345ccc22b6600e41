// Training jobs: the four preconditions, the outbox, cancellation and curves.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Client, execute, useApi } from "../support/api.ts";
import { untilLocked } from "../support/locks.ts";
import { poll } from "../support/poll.ts";
import { addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

let kubernetesIsAway = false;
const api = useApi({
  submit: async (job) => {
    if (kubernetesIsAway) throw new Error("connect ECONNREFUSED");
    submitted.push(job.id);
  },
});
const submitted: string[] = [];
let client: Client;
beforeAll(async () => {
  client = await api.tenant();
});

interface Setup {
  readonly datasetId: string;
  readonly setId: string;
  readonly audioId: string;
}

async function setup(
  options: { durationMs?: number; labelled?: boolean; published?: boolean } = {},
): Promise<Setup> {
  const { durationMs = 300_000, labelled = true, published = true } = options;
  const datasetId = await makeDataset(client);
  const audioId = await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs });
  const setId = (await client.post(`/api/v1/datasets/${datasetId}/annotation-sets`)).body.id;
  const path = `/api/v1/datasets/${datasetId}/annotation-sets/${setId}`;
  if (labelled)
    await client.post(`${path}/annotations`, {
      audio_file_id: audioId,
      artifact_type: "click",
      start_ms: 1,
      end_ms: 2,
    });
  if (published) await client.post(`${path}/publish`);
  return { datasetId, setId, audioId };
}

const create = (from: Setup, config: object = { artifact_types: ["click"] }) =>
  client.post("/api/v1/training-jobs", { dataset_id: from.datasetId, annotation_set_id: from.setId, config });

describe("the creation of a training job", () => {
  it("accepts windows and strides of any length, a seed and a time limit", async () => {
    const config = {
      artifact_types: ["click"],
      chunk_size_ms: Number.MAX_SAFE_INTEGER,
      stride_ms: 2_147_483_648,
      seed: 0,
      max_runtime_seconds: 604_800,
    };
    const answer = await create(await setup(), config);
    expect(answer).toMatchObject({ status: 201, body: { config } });
    expect(answer.body.status_message).toContain("outside 50 to 10000");
  });

  it("waits for a lock on the set without a lock on the dataset, which the holder may need next", async () => {
    const from = await setup();
    const waiting = sql.type(z.object({ n: z.number() }))`
      select count(*) as n from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`;
    const answer = await api.db.transaction(async (tx) => {
      await tx.query(sql.type(z.object({}))`
        select from annotation_sets where id = ${from.setId} for update`);
      const pending = create(from);
      await poll("the job to wait for the set", async () => (await tx.oneFirst(waiting)) === 1);
      await tx.query(sql.type(z.object({}))`
        select from datasets where id = ${from.datasetId} for update nowait`);
      return { pending };
    });
    expect((await answer.pending).status).toBe(201);
  });

  it.each([
    ["chunk_size_ms", 2 ** 53],
    ["chunk_size_ms", 0],
    ["stride_ms", 1.5],
    ["seed", -1],
    ["seed", 2 ** 31],
    ["max_runtime_seconds", 0],
    ["max_runtime_seconds", 604_801],
  ])("refuses %s: %d", async (name, value) => {
    const answer = await create(await setup(), { artifact_types: ["click"], [name]: value });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatchObject([{ loc: ["body", "config", name] }]);
  });

  it("removes duplicate artifact types", async () => {
    const answer = await create(await setup(), { artifact_types: ["click", "click"] });
    expect([answer.status, answer.body.config.artifact_types]).toEqual([201, ["click"]]);
  });

  it("answers with its 15 members and the effective configuration, and submits the row", async () => {
    const answer = await create(await setup());
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toHaveLength(15);
    expect(answer.body).toMatchObject({
      tenant_id: client.tenantId,
      status: "pending",
      progress_percent: 0,
      metrics: null,
      platform_job_name: null,
      queued_at: null,
      config: {
        artifact_types: ["click"],
        epochs: 20,
        validation_split: 0.2,
        learning_rate: 0.001,
        batch_size: 32,
        chunk_size_ms: 500,
        stride_ms: 250,
      },
    });
    expect(answer.headers.get("location")).toBe(`/api/v1/training-jobs/${answer.body.id}`);
    await api.settle();
    expect(submitted).toContain(answer.body.id);
    expect((await client.get(`/api/v1/training-jobs/${answer.body.id}`)).body).toEqual(answer.body);
    const events = (await client.get(`/api/v1/training-jobs/${answer.body.id}/events`)).body;
    expect(events.items).toMatchObject([{ type: "status", message: "The job was created" }]);
  });

  it("succeeds while Kubernetes is unavailable", async () => {
    kubernetesIsAway = true;
    const answer = await create(await setup());
    await api.settle();
    kubernetesIsAway = false;
    expect(answer.status).toBe(201);
    expect((await client.get(`/api/v1/training-jobs/${answer.body.id}`)).body.status).toBe("pending");
  });

  it("fixes the files of the training", async () => {
    const from = await setup();
    const job = (await create(from)).body.id;
    await addReadyAudio(api.db, client.tenantId, from.datasetId);
    const files = await api.db.anyFirst(
      sql.unsafe`select audio_file_id from training_job_files where training_job_id = ${job}`,
    );
    expect(files).toEqual([from.audioId]);
    const removed = await client.delete(`/api/v1/datasets/${from.datasetId}/audio/${from.audioId}`);
    expect(removed.body.code).toBe("audio_in_use");
  });

  it("reports all faults of the configuration at once", async () => {
    const answer = await create(await setup(), {
      artifact_types: [],
      epochs: 101,
      validation_split: 0.05,
      learning_rate: 0.2,
      batch_size: "32",
      chunk_size_ms: 0,
      stride_ms: 1.5,
    });
    expect(
      answer.body.detail.map((item: { loc: string[]; type: string }) => [item.loc[2], item.type]),
    ).toEqual([
      ["artifact_types", "too_short"],
      ["epochs", "less_than_equal"],
      ["validation_split", "greater_than_equal"],
      ["learning_rate", "less_than_equal"],
      ["batch_size", "int_type"],
      ["chunk_size_ms", "greater_than_equal"],
      ["stride_ms", "int_type"],
    ]);
  });

  it("accepts 20.0 as an integer and ignores unknown members", async () => {
    const from = await setup();
    const response = await fetch(`${api.url}/api/v1/training-jobs`, {
      method: "POST",
      headers: { "X-API-Key": client.key, "Content-Type": "application/json" },
      body: `{"dataset_id":"${from.datasetId}","annotation_set_id":"${from.setId}","config":{"artifact_types":["click"],"epochs":20.0,"epoch":3}}`,
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ config: { epochs: 20 } });
  });
});

describe("the preconditions of training", () => {
  it("require that dataset and set exist, in this order", async () => {
    const from = await setup({ published: false });
    expect((await create({ ...from, datasetId: randomUUID() })).body).toEqual({
      detail: "Dataset not found",
      code: "dataset_not_found",
    });
    expect((await create({ ...from, setId: randomUUID() })).body).toEqual({
      detail: "Annotation set not found",
      code: "annotation_set_not_found",
    });
    const other = await setup();
    expect((await create({ ...from, setId: other.setId })).body.code).toBe("annotation_set_not_found");
  });

  it("require that the set is published", async () => {
    const answer = await create(await setup({ published: false }));
    expect([answer.status, answer.body.code]).toEqual([409, "annotation_set_not_published"]);
  });

  it.each(["processing", "failed"] as const)("require embeddings of every audio file: %s", async (status) => {
    const from = await setup();
    await addReadyAudio(api.db, client.tenantId, from.datasetId, { status, embeddingStatus: status });
    const answer = await create(from);
    expect([answer.status, answer.body.code]).toEqual([409, "embeddings_not_ready"]);
    expect(answer.body.detail).toContain("1 of 2 audio files have no embeddings yet");
  });

  it("require embeddings of one model version, and name the command that renews them", async () => {
    const from = await setup();
    const other = await addReadyAudio(api.db, client.tenantId, from.datasetId);
    await execute(
      api.db,
      sql.fragment`update audio_files set embedding_model = 'dsp-mr1', embedding_spec_hash = 'new' where id = ${other}`,
    );
    const answer = await create(from);
    expect([answer.status, answer.body.code]).toEqual([409, "embeddings_not_ready"]);
    expect(answer.body.detail).toContain("plosive-admin embeddings renew");
  });

  it("are checked for a file whose embedding came after the first check", async () => {
    const from = await setup();
    const { answer } = await api.db.transaction(async (tx) => {
      await tx.query(sql.fragment`lock table training_jobs in share mode`);
      const answer = create(from);
      await untilLocked(tx);
      const late = await addReadyAudio(tx, client.tenantId, from.datasetId);
      await tx.query(sql.fragment`update audio_files set embedding_spec_hash = 'new' where id = ${late}`);
      return { answer };
    });
    const { status, body } = await answer;
    expect([status, body.code]).toEqual([409, "embeddings_not_ready"]);
  });

  it.each(["pending_upload", "expired"])("ignore a file whose status is %s", async (status) => {
    const from = await setup();
    await addReadyAudio(api.db, client.tenantId, from.datasetId, { status, embeddingStatus: "pending" });
    expect((await create(from)).status).toBe(201);
  });

  it("require 5 minutes of audio, to the millisecond", async () => {
    const answer = await create(await setup({ durationMs: 299_999 }));
    expect([answer.status, answer.body.code]).toEqual([409, "not_enough_audio"]);
    expect(answer.body.detail).toContain("299999");
    expect((await create(await setup({ durationMs: 300_000 }))).status).toBe(201);
  });

  it("report a type that the dataset does not have as a fault of the request, and a type without annotations as a conflict", async () => {
    const from = await setup();
    const unknown = await create(from, { artifact_types: ["click", "pop"] });
    expect(unknown.status).toBe(422);
    expect(unknown.body.detail).toMatchObject([
      { loc: ["body", "config", "artifact_types", 1], type: "value_error" },
    ]);
    const silent = await create(from, { artifact_types: ["click", "hum"] });
    expect([silent.status, silent.body.code]).toEqual([409, "no_annotations"]);
  });

  it("are reported all at once", async () => {
    const from = await setup({ published: false, durationMs: 1, labelled: false });
    await addReadyAudio(api.db, client.tenantId, from.datasetId, {
      status: "processing",
      embeddingStatus: "pending",
    });
    // Audio without an embedding does not count.
    const decoded = { durationMs: 600_000, embeddingStatus: "pending" };
    await addReadyAudio(api.db, client.tenantId, from.datasetId, decoded);
    const { body, status } = await create(from);
    expect(status).toBe(409);
    expect(body.code).toBe("annotation_set_not_published");
    expect(body.errors.map((error: { code: string }) => error.code)).toEqual([
      "annotation_set_not_published",
      "embeddings_not_ready",
      "not_enough_audio",
      "no_annotations",
    ]);
    expect(body.detail).toBe(body.errors.map((error: { message: string }) => error.message).join("; "));
  });
});

describe("the cancellation of a training job", () => {
  it("is requested once, and a repetition has no effect", async () => {
    const job = (await create(await setup())).body.id;
    const first = await client.post(`/api/v1/training-jobs/${job}/cancel`);
    expect(first.body.status).toBe("cancelling");
    expect((await client.post(`/api/v1/training-jobs/${job}/cancel`)).body).toEqual(first.body);
    await execute(api.db, sql.fragment`update training_jobs set status = 'cancelled' where id = ${job}`);
    expect((await client.post(`/api/v1/training-jobs/${job}/cancel`)).body.status).toBe("cancelled");
  });

  it.each(["completed", "failed"])("is refused after it has %s", async (status) => {
    const job = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID(), status);
    const answer = await client.post(`/api/v1/training-jobs/${job}/cancel`);
    expect([answer.status, answer.body.code]).toEqual([409, "job_finished"]);
  });
});

describe("training jobs", () => {
  it("are listed by status and dataset", async () => {
    const other = await api.tenant();
    const dataset = randomUUID();
    const ids: string[] = [];
    for (const status of ["completed", "failed", "running"])
      ids.push(await addTrainingJob(api.db, other.tenantId, dataset, randomUUID(), status));
    const list = async (query: string) =>
      (await other.get(`/api/v1/training-jobs?${query}`)).body.items.map((job: { id: string }) => job.id);
    expect(await list("")).toEqual([...ids].reverse());
    expect(await list("status=failed&status=running")).toEqual([ids[2], ids[1]]);
    expect(await list(`dataset_id=${randomUUID()}`)).toEqual([]);
    expect(await list(`dataset_id=${dataset}&status=completed`)).toEqual([ids[0]]);
    const wrong = await other.get("/api/v1/training-jobs?status=done");
    expect(wrong.body.detail).toMatchObject([{ loc: ["query", "status", 0], type: "enum" }]);
  });

  it("show their curves by name and step", async () => {
    const job = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID(), "running");
    await execute(
      api.db,
      sql.fragment`
      insert into training_metrics (training_job_id, tenant_id, name, step, value)
      select ${job}, ${client.tenantId}::uuid, v.* from (values ('loss', 2, 0.5), ('loss', 1, 0.75), ('f1', 1, 0.25)) v`,
    );
    expect((await client.get(`/api/v1/training-jobs/${job}/metrics`)).body).toEqual({
      series: [
        { name: "f1", points: [[1, 0.25]] },
        {
          name: "loss",
          points: [
            [1, 0.75],
            [2, 0.5],
          ],
        },
      ],
    });
  });
});
