// Models and inference jobs: jobs on dataset audio and jobs on their own uploads.
import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Client, execute, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { untilLocked } from "../support/locks.ts";
import { rfc3339 } from "../support/rfc3339.ts";
import { postForm } from "../support/upload.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let modelId: string;
beforeAll(async () => {
  client = await api.tenant();
  modelId = await newModel();
});

async function newModel(): Promise<string> {
  const job = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID());
  return await addModel(api.db, client.tenantId, job);
}
const jobs = "/api/v1/inference-jobs";
const wasSubmitted = async (id: string) => {
  await api.settle();
  return api.submitted.some((job) => job.kind === "inference" && job.id === id);
};

/** The result of the work, and how many bytes this process received from the database meanwhile. */
async function receivedBy<T>(work: () => Promise<T>): Promise<[T, number]> {
  const { port } = new URL(api.db.configuration.connectionUri);
  // Node has no public list of its sockets.
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] };
  const received = () =>
    handles().reduce<number>(
      (sum, one) => sum + (one instanceof Socket && one.remotePort === Number(port) ? one.bytesRead : 0),
      0,
    );
  const before = received();
  const result = await work();
  return [result, received() - before];
}

describe("a model", () => {
  it("can be read, renamed, deactivated, activated, archived and restored", async () => {
    const id = await newModel();
    const path = `/api/v1/models/${id}`;
    const model = (await client.get(path)).body;
    expect(model).toMatchObject({
      description: "",
      is_active: true,
      archived_at: null,
      artifact_types: ["click", "hum"],
    });
    for (const change of [{}, undefined]) expect((await client.patch(path, change)).body).toEqual(model);
    expect(
      (await client.patch(path, { name: "best", description: "d", tenant_id: randomUUID() })).body,
    ).toEqual({
      ...model,
      name: "best",
      description: "d",
    });
    const nulls = await client.patch(path, { name: null, description: null, is_active: null });
    expect(nulls.body.detail.map((item: { type: string }) => item.type)).toEqual([
      "string_type",
      "string_type",
      "bool_type",
    ]);
    expect((await client.patch(path, { name: "" })).body.detail[0].type).toBe("string_too_short");

    const archived = (await client.post(`${path}/archive`)).body;
    expect(archived).toMatchObject({ is_active: false });
    expect(archived.archived_at).toMatch(rfc3339);
    expect((await client.post(`${path}/archive`)).body).toEqual(archived);
    expect((await client.patch(path, { is_active: true })).body.code).toBe("model_archived");
    expect((await client.patch(path, { name: "old" })).body.name).toBe("old");
    expect((await client.post(jobs, { model_id: id })).body.code).toBe("model_inactive");
    expect((await client.post(`${path}/unarchive`)).body).toMatchObject({
      archived_at: null,
      is_active: false,
    });
    expect((await client.patch(path, { is_active: true })).body.is_active).toBe(true);
  });

  it("is not in lists while it is archived, unless the request asks for it", async () => {
    const other = await api.tenant();
    const make = async () =>
      await addModel(
        api.db,
        other.tenantId,
        await addTrainingJob(api.db, other.tenantId, randomUUID(), randomUUID()),
      );
    const [kept, archived] = [await make(), await make()];
    await other.post(`/api/v1/models/${archived}/archive`);
    const list = async (query: string) =>
      (await other.get(`/api/v1/models?${query}`)).body.items.map((model: { id: string }) => model.id);
    expect(await list("")).toEqual([kept]);
    expect(await list("archived=true")).toEqual([archived]);
    expect(await list("archived=all")).toEqual([archived, kept]);
    expect(await list("archived=all&is_active=false")).toEqual([archived]);
    expect((await other.get("/api/v1/models?is_active=maybe")).body.detail).toMatchObject([
      { type: "bool_parsing" },
    ]);
  });

  it("can be downloaded with a signed URL", async () => {
    const { object_store_key, model_size_bytes } = (await client.get(`/api/v1/models/${modelId}`)).body;
    await api.storage.write(object_store_key, "onnx");
    const download = (await client.get(`/api/v1/models/${modelId}/download`)).body;
    expect(download).toMatchObject({ method: "GET", size_bytes: model_size_bytes });
    const answer = await fetch(download.url);
    expect(await answer.text()).toBe("onnx");
    expect(answer.headers.get("content-disposition")).toContain('filename="takes v1.onnx"');
  });
});

describe("an inference job on dataset audio", () => {
  it("starts at once, with each file once and the effective configuration", async () => {
    const dataset = await makeDataset(client);
    const files = [
      await addReadyAudio(api.db, client.tenantId, dataset),
      await addReadyAudio(api.db, client.tenantId, dataset),
    ];
    const answer = await client.post(jobs, {
      model_id: modelId,
      audio_file_ids: [...files, files[0], files[1]?.toUpperCase()],
      config: { threshold: 0.7, treshold: 0.1 },
    });
    expect(answer.body).toMatchObject({
      status: "pending",
      total_files: 2,
      processed_files: 0,
      total_detections: 0,
      config: {
        threshold: 0.7,
        thresholds: {},
        artifact_types: null,
        min_duration_ms: null,
        merge_gap_ms: null,
        max_false_alarms_per_hour: null,
      },
    });
    expect(answer.body.config).not.toHaveProperty("treshold");
    expect(await wasSubmitted(answer.body.id)).toBe(true);
    const list = (await client.get(`${jobs}/${answer.body.id}/files`)).body;
    expect(list.items.map((file: { audio_file_id: string }) => file.audio_file_id).sort()).toEqual(
      [...files].sort(),
    );
    expect(list.items[0]).toMatchObject({ status: "queued", filename: "take.wav" });
    const row = await api.db.one(sql.unsafe`
      select f.shard, f.object_key, j.shard_count from inference_files f join inference_jobs j on j.id = f.inference_job_id
      where f.audio_file_id = ${files[0] as string}`);
    expect(row).toEqual({ shard: 0, object_key: `audio/${client.tenantId}/${files[0]}`, shard_count: 1 });
  });

  it("uses the ready files of a dataset and is refused for a dataset that has none", async () => {
    const dataset = await makeDataset(client);
    const body = { model_id: modelId, dataset_id: dataset };
    await addReadyAudio(api.db, client.tenantId, dataset, { status: "processing" });
    expect((await client.post(jobs, body)).body.code).toBe("no_files");
    const processing = (await client.get(`/api/v1/datasets/${dataset}/audio`)).body.items[0].id;
    expect((await client.post(jobs, { model_id: modelId, audio_file_ids: [processing] })).body.code).toBe(
      "audio_not_ready",
    );
    await addReadyAudio(api.db, client.tenantId, dataset);
    expect((await client.post(jobs, body)).body.total_files).toBe(1);
  });

  it("splits many files into shards of 200, in the database", async () => {
    const dataset = await makeDataset(client);
    await execute(
      api.db,
      sql.fragment`
      insert into audio_files (id, tenant_id, dataset_id, filename, content_type, size_bytes, status, upload_expires_at)
      select gen_random_uuid(), ${client.tenantId}, ${dataset}, 'x', 'audio/wav', 1, 'ready', now()
      from generate_series(1, 20001)`,
    );
    const create = async () => (await client.post(jobs, { model_id: modelId, dataset_id: dataset })).body;
    const read = () =>
      api.db.any(
        sql.type(
          z.object({ id: z.string(), filename: z.string(), size_bytes: z.number() }),
        )`select id, filename, size_bytes from audio_files where dataset_id = ${dataset}`,
      );
    // While the process reads 20,000 rows, it answers nobody else.
    const [job, creating] = await receivedBy(create);
    const [, reading] = await receivedBy(read);
    expect(creating).toBeLessThan(reading / 5);
    expect(job.total_files).toBe(20_001);
    const shards = await api.db.any(sql.unsafe`
      select shard, count(*) as files from inference_files where inference_job_id = ${job.id} group by shard order by shard`);
    expect(shards).toEqual(
      Array.from({ length: 101 }, (_, shard) => ({ shard, files: shard === 100 ? 1 : 200 })),
    );
  });

  it("is refused for artifact types that the model cannot detect, and for two sources of audio", async () => {
    const config = { artifact_types: ["click", "pop"], thresholds: { pop: 0.5 } };
    const types = await client.post(jobs, { model_id: modelId, config });
    expect(types.body.detail.map((item: { loc: unknown[] }) => item.loc)).toEqual([
      ["body", "config", "artifact_types", 1],
      ["body", "config", "thresholds", "pop"],
    ]);
    const both = await client.post(jobs, {
      model_id: modelId,
      dataset_id: randomUUID(),
      audio_file_ids: [randomUUID()],
    });
    expect(both.body.detail).toMatchObject([{ loc: ["body", "dataset_id"], type: "value_error" }]);
  });
});

describe("an inference job on uploads", () => {
  async function upload(job: string, bytes: Buffer): Promise<string> {
    const answer = await client.post(`${jobs}/${job}/files/upload-url`, {
      filename: "new.wav",
      content_type: "audio/wav",
      size_bytes: bytes.length,
    });
    const path = `${jobs}/${job}/files/${answer.body.inference_file_id}`;
    expect(answer.headers.get("location")).toBe(path);
    expect(await postForm(answer.body.upload, bytes)).toBe(201);
    return path;
  }

  it("starts on request with its confirmed files and cancels the others", async () => {
    const job = (await client.post(jobs, { model_id: modelId })).body.id;
    expect(await wasSubmitted(job)).toBe(false);
    expect((await client.post(`${jobs}/${job}/start`)).body.code).toBe("no_files");
    const confirmed = await upload(job, wav({ durationMs: 800 }));
    const late = await upload(job, wav({ durationMs: 900 }));
    const file = await client.post(`${confirmed}/confirm`);
    expect(file.body).toMatchObject({ status: "queued", duration_ms: 800, audio_file_id: null });
    expect((await client.post(`${confirmed}/confirm`)).body).toEqual(file.body);
    expect((await client.get(`${jobs}/${job}`)).body.total_files).toBe(1);

    const started = await client.post(`${jobs}/${job}/start`);
    expect(started.body).toMatchObject({ status: "pending", total_files: 1 });
    expect(started.body.start_requested_at).toMatch(rfc3339);
    expect(await wasSubmitted(job)).toBe(true);
    expect((await client.post(`${jobs}/${job}/start`)).body).toEqual(started.body);
    expect((await client.get(late)).body.status).toBe("cancelled");
    const more = await client.post(`${jobs}/${job}/files/upload-url`, {
      filename: "x",
      content_type: "audio/wav",
      size_bytes: 9,
    });
    expect(more.body.code).toBe("job_started");
    const bytes = await api.storage.head(`inference/${client.tenantId}/${file.body.id}`);
    expect(bytes.sizeBytes).toBe(file.body.size_bytes);
  });

  it("refuses the confirm of a file that it was started without, also if it is started meanwhile", async () => {
    const job = (await client.post(jobs, { model_id: modelId })).body.id;
    const [confirmed, late] = [await upload(job, wav()), await upload(job, wav())];
    await client.post(`${confirmed}/confirm`);
    const id = late.split("/").at(-1)!;
    let confirm: ReturnType<Client["post"]> | undefined;
    // The confirm waits for its lease.
    await api.db.transaction(async (tx) => {
      await tx.query(sql.fragment`
        insert into leases (tenant_id, id, holder, expires_at)
        values (${client.tenantId}, ${id}, ${randomUUID()}, now() + interval '1 hour')`);
      confirm = client.post(`${late}/confirm`);
      await untilLocked(tx);
      expect((await client.post(`${jobs}/${job}/start`)).status).toBe(200);
      await tx.query(sql.fragment`delete from leases where id = ${id}`);
    });
    const refused = { status: 409, body: { code: "job_started" } };
    expect(await confirm).toMatchObject(refused);
    expect(await client.post(`${late}/confirm`)).toMatchObject(refused);
    // A file that the job has stays confirmed, whatever becomes of it.
    await execute(
      api.db,
      sql.fragment`update inference_files set status = 'cancelled' where inference_job_id = ${job}`,
    );
    expect((await client.post(`${confirmed}/confirm`)).body.status).toBe("cancelled");
  });

  it("is not started with a model that has been archived or deactivated, and a started job stays started", async () => {
    const model = await newModel();
    const job = (await client.post(jobs, { model_id: model })).body.id;
    await client.post(`${await upload(job, wav())}/confirm`);
    const start = () => client.post(`${jobs}/${job}/start`);
    const refused = { status: 409, body: { code: "model_inactive" } };
    const path = `/api/v1/models/${model}`;
    await client.post(`${path}/archive`);
    expect(await start()).toMatchObject(refused);
    await client.post(`${path}/unarchive`);
    expect(await start()).toMatchObject(refused);
    expect((await client.get(`${jobs}/${job}`)).body.start_requested_at).toBeNull();
    await client.patch(path, { is_active: true });
    const started = await start();
    expect(started.status).toBe(200);
    await client.patch(path, { is_active: false });
    expect((await start()).body).toEqual(started.body);
  });

  it("contains a file that was confirmed during its start, or reports the file as cancelled", async () => {
    const job = (await client.post(jobs, { model_id: modelId })).body.id;
    const first = await upload(job, wav());
    await client.post(`${first}/confirm`);
    const second = await upload(job, wav());
    const [start, confirm] = await Promise.all([
      client.post(`${jobs}/${job}/start`),
      client.post(`${second}/confirm`),
    ]);
    const { status, total_files } = {
      ...(await client.get(second)).body,
      ...start.body,
      status: (await client.get(second)).body.status,
    };
    if (confirm.status === 200 && status === "queued") expect(total_files).toBe(2);
    else expect([total_files, status]).toEqual([1, "cancelled"]);
  });

  it("that is cancelled before its start ends at once", async () => {
    const job = (await client.post(jobs, { model_id: modelId })).body.id;
    const [file, open] = [await upload(job, wav()), await upload(job, wav())];
    await client.post(`${file}/confirm`);
    const cancelled = (await client.post(`${jobs}/${job}/cancel`)).body;
    expect(cancelled.status).toBe("cancelled");
    expect(cancelled.completed_at).toMatch(rfc3339);
    expect((await client.get(file)).body.status).toBe("cancelled");
    expect((await client.post(`${open}/confirm`)).body.code).toBe("job_finished");
    const announced = { filename: "late.wav", content_type: "audio/wav", size_bytes: 9 };
    const late = await client.post(`${jobs}/${job}/files/upload-url`, announced);
    expect(late).toMatchObject({ status: 409, body: { code: "job_finished" } });
    expect((await client.post(`${jobs}/${job}/start`)).body.code).toBe("job_finished");
    expect(await wasSubmitted(job)).toBe(false);
  });

  it("that is cancelled after its start becomes cancelling", async () => {
    const job = (await client.post(jobs, { model_id: modelId })).body.id;
    await client.post(`${await upload(job, wav())}/confirm`);
    await client.post(`${jobs}/${job}/start`);
    expect((await client.post(`${jobs}/${job}/cancel`)).body).toMatchObject({
      status: "cancelling",
      completed_at: null,
    });
  });
});
