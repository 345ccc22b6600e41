// Export of detections to other tools, and drafts from detections: their files, their types, the end of the job as a
// precondition, and idempotency.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { deleteAudioFile } from "../../src/db/audio-file.ts";
import { type Client, execute, useApi } from "../support/api.ts";
import { untilLocked } from "../support/locks.ts";
import { addDetections, addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
const jobs = "/api/v1/inference-jobs";
let client: Client;
let modelId: string;
beforeAll(async () => {
  client = await api.tenant();
  const dataset = await makeDataset(client);
  const set = (await client.post(`/api/v1/datasets/${dataset}/annotation-sets`)).body.id;
  const training = await addTrainingJob(api.db, client.tenantId, dataset, set);
  modelId = await addModel(api.db, client.tenantId, training);
});

interface Job {
  readonly id: string;
  readonly datasetId: string;
  readonly files: { id: string; audio_file_id: string; filename: string }[];
}

/** Inserts a job that has found `count` artifacts in each of two files of a dataset: clicks and hums in turn. */
async function finishedJob(count = 4, types = ["click", "hum"], model_id = modelId): Promise<Job> {
  const datasetId = await makeDataset(client, types);
  for (let i = 0; i < 2; i++)
    await addReadyAudio(api.db, client.tenantId, datasetId, { durationMs: 3_600_000 });
  const job = (await client.post(jobs, { model_id, dataset_id: datasetId })).body;
  const { items } = (await client.get(`${jobs}/${job.id}/files`)).body;
  const files = items.sort((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1));
  for (const file of files) await addDetections(api.db, client.tenantId, job.id, file.id, count);
  await end(job.id);
  return { id: job.id, datasetId, files };
}
const end = (id: string, status = "completed") =>
  execute(api.db, sql.fragment`update inference_jobs set status = ${status} where id = ${id}`);
const exported = (job: Job, query: string) => client.get(`${jobs}/${job.id}/export?${query}`);

describe("an export of detections", () => {
  it("is JSON unless the request asks for another format, and has a file name in each", async () => {
    const job = await finishedJob();
    const answer = await client.get(`${jobs}/${job.id}/export`);
    expect(answer.body).toHaveLength(8);
    const [first] = answer.body;
    const { items } = (await client.get(`${jobs}/${job.id}/detections`)).body;
    expect(answer.body.map((d: { id: string }) => d.id)).toEqual(items.map((d: { id: string }) => d.id));
    expect(first).toEqual({ ...items[0], audio_file_id: job.files[0]!.audio_file_id, filename: "take.wav" });
    expect(answer.headers.get("content-disposition")).toContain(`filename="detections ${job.id}.json"`);
  });

  it("exists in every format, with its content type", async () => {
    const job = await finishedJob();
    const [file] = job.files;
    const forms: [string, string, RegExp][] = [
      [
        "format=csv",
        "text/csv; charset=utf-8; header=present",
        /^id,inference_file_id,audio_file_id,filename,/,
      ],
      ["format=dcase", "text/tab-separated-values; charset=utf-8", /\ntake.wav\t0.100\t0.150\thum\n/],
      [
        `format=audacity&inference_file_id=${file!.id}`,
        "text/plain; charset=utf-8",
        /^0.000000\t0.050000\tclick\n/,
      ],
      [
        `format=webvtt&inference_file_id=${file!.id}`,
        "text/vtt; charset=utf-8",
        /\n00:00:00.000 --> 00:00:00.050\nclick\n/,
      ],
    ];
    for (const [query, type, text] of forms) {
      const answer = await exported(job, query);
      expect([query, answer.status, answer.headers.get("content-type")]).toEqual([query, 200, type]);
      expect(answer.text).toMatch(text);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
    const track = await exported(job, forms[2]![0]);
    expect(track.headers.get("content-disposition")).toContain('filename="take.txt"');
    expect(track.text.trimEnd().split("\n")).toHaveLength(4);
  });

  it("in the label tool's format is a document of predictions", async () => {
    const job = await finishedJob();
    const { tasks } = (await exported(job, "format=annotation-tool")).body;
    expect(tasks).toHaveLength(2);
    expect(tasks[0]).toMatchObject({
      id: 1,
      data: { inference_file_id: job.files[0]!.id },
      annotations: [],
      predictions: [
        {
          model_version: "takes v1",
          result: [{ value: { start: 0, end: 0.05, labels: ["click"] }, score: 0.5 }, {}, {}, {}],
        },
      ],
    });
    expect(tasks[0].data.audio).toContain(`/audio/${client.tenantId}/${job.files[0]!.audio_file_id}?`);
    const keys = (await exported(job, "format=annotation-tool&audio=key")).body.tasks;
    expect(keys[1].data.audio).toBe(job.files[1]!.id);
  });

  it("in the label tool's format names a deleted model by its id", async () => {
    const training = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID());
    const model = await addModel(api.db, client.tenantId, training);
    const job = await finishedJob(1, ["click"], model);
    await client.post(`/api/v1/models/${model}/archive`);
    expect((await client.delete(`/api/v1/models/${model}`)).status).toBe(204);
    const { tasks } = (await exported(job, "format=annotation-tool")).body;
    expect(tasks[0].predictions).toMatchObject([{ model_version: model, result: [{}] }]);
  });

  it("supports the filters of the list, and needs one file in formats whose times belong to one file", async () => {
    const job = await finishedJob();
    const count = async (query: string) => (await exported(job, query)).body.length;
    expect(await count("artifact_type=hum")).toBe(4);
    expect(await count("min_confidence=0.503")).toBe(2);
    expect(await count(`inference_file_id=${job.files[1]!.id}&artifact_type=click`)).toBe(2);
    expect(await count(`inference_file_id=${randomUUID()}`)).toBe(0);
    for (const format of ["audacity", "webvtt"]) {
      expect((await exported(job, `format=${format}`)).body.detail).toEqual([
        {
          loc: ["query", "inference_file_id"],
          msg: `Value error, is required for the format ${format}, whose times belong to one file`,
          type: "value_error",
        },
      ]);
      const unknown = await exported(job, `format=${format}&inference_file_id=${randomUUID()}`);
      expect([unknown.status, unknown.body.code]).toEqual([404, "inference_file_not_found"]);
    }
    expect((await exported(job, "format=xml")).body.detail[0].type).toBe("enum");
  });

  it("of several batches is complete", async () => {
    const job = await finishedJob(2_500);
    expect((await exported(job, "")).body).toHaveLength(5_000);
    expect((await exported(job, "format=csv")).text.split("\r\n")).toHaveLength(5_002);
    const one = await exported(job, `format=audacity&inference_file_id=${job.files[1]!.id}`);
    const lines = one.text.trimEnd().split("\n");
    expect([lines.length, new Set(lines).size]).toEqual([2_500, 2_500]);
  });
});

describe("a draft from detections", () => {
  const draft = (job: Job, more: object = {}, headers = {}) =>
    client.post(`${jobs}/${job.id}/to-annotation-set`, { dataset_id: job.datasetId, ...more }, headers);

  it("has each detection in the dataset's files as an annotation with its confidence", async () => {
    const job = await finishedJob(3_000);
    const answer = await draft(job);
    expect([answer.status, answer.body.status, answer.body.total_annotations]).toEqual([201, "draft", 6_000]);
    const location = answer.headers.get("location")!;
    expect(location).toBe(`/api/v1/datasets/${job.datasetId}/annotation-sets/${answer.body.id}`);
    const set = await client.get(location);
    expect(set.headers.get("etag")).toBe(answer.headers.get("etag"));
    const found = (await exported(job, "")).body;
    const key = (line: Record<string, unknown>) =>
      [line.audio_file_id, line.artifact_type, line.start_ms, line.end_ms, line.confidence].join();
    expect(set.body.annotations.map(key).sort()).toEqual(found.map(key).sort());
    expect(set.body.annotations[0].extra_data).toEqual({ inference_job_id: job.id });
    const sure = await draft(job, { min_confidence: 0.502 });
    expect(sure.body).toMatchObject({ version: answer.body.version + 1, total_annotations: 2 * 6 * 498 });
  });

  it("leaves out files of other datasets, and is refused when no file is left", async () => {
    const [one, two, other] = [
      await makeDataset(client),
      await makeDataset(client),
      await makeDataset(client),
    ];
    const files = [
      await addReadyAudio(api.db, client.tenantId, one),
      await addReadyAudio(api.db, client.tenantId, two),
    ];
    const { id } = (await client.post(jobs, { model_id: modelId, audio_file_ids: files })).body;
    for (const file of (await client.get(`${jobs}/${id}/files`)).body.items)
      await addDetections(api.db, client.tenantId, id, file.id, file.audio_file_id === files[0] ? 3 : 5);
    await end(id);
    const totalOf = async (dataset_id: string) =>
      (await client.post(`${jobs}/${id}/to-annotation-set`, { dataset_id })).body.total_annotations;
    expect([await totalOf(one), await totalOf(two)]).toEqual([3, 5]);
    const none = await client.post(`${jobs}/${id}/to-annotation-set`, { dataset_id: other });
    expect([none.status, none.body.code]).toEqual([409, "no_files"]);
    expect((await client.get(`/api/v1/datasets/${other}/annotation-sets`)).body.total).toBe(0);
  });

  it("leaves out an audio file that is deleted at the same moment", async () => {
    const job = await finishedJob();
    let late: ReturnType<typeof draft> | undefined;
    await api.db.transaction(async (tx) => {
      await deleteAudioFile(tx, client.tenantId, job.datasetId, job.files[0]!.audio_file_id);
      late = draft(job);
      await untilLocked(tx);
    });
    expect(await late).toMatchObject({ status: 201, body: { total_annotations: 4 } });
  });

  it("is refused until the job has ended", async () => {
    const job = await finishedJob();
    await end(job.id, "running");
    const early = await draft(job);
    expect([early.status, early.body.code]).toEqual([409, "job_not_finished"]);
    await end(job.id, "cancelled");
    expect((await draft(job)).status).toBe(201);
  });

  it("creates missing artifact types only on request", async () => {
    const job = await finishedJob(4, ["click"]);
    const refused = await draft(job);
    expect(refused.body).toEqual({
      detail: "The dataset does not have the artifact types hum; add them, or set create_types to true",
      code: "artifact_types_missing",
    });
    const made = await draft(job, { create_types: true });
    expect(made.body.annotations_by_type).toEqual({ click: 4, hum: 4 });
    const { artifact_types } = (await client.get(`/api/v1/datasets/${job.datasetId}`)).body;
    expect(artifact_types).toEqual([
      { name: "click", description: null },
      { name: "hum", description: null },
    ]);
  });

  it("is answered with 404 for jobs and datasets of other tenants", async () => {
    const job = await finishedJob();
    const stranger = await api.tenant();
    const theirs = await makeDataset(stranger);
    const foreign = await stranger.post(`${jobs}/${job.id}/to-annotation-set`, { dataset_id: theirs });
    expect([foreign.status, foreign.body.code]).toEqual([404, "inference_job_not_found"]);
    expect((await stranger.get(`${jobs}/${job.id}/export`)).body.code).toBe("inference_job_not_found");
    for (const dataset_id of [theirs, randomUUID()]) {
      const answer = await draft(job, { dataset_id });
      expect([answer.status, answer.body.code]).toEqual([404, "dataset_not_found"]);
    }
    expect((await draft(job, { dataset_id: "x" })).body.detail[0].loc).toEqual(["body", "dataset_id"]);
  });

  it("is created once per Idempotency-Key", async () => {
    const job = await finishedJob();
    const headers = { "Idempotency-Key": "a-draft" };
    const first = await draft(job, {}, headers);
    const second = await draft(job, {}, headers);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect((await client.get(`/api/v1/datasets/${job.datasetId}/annotation-sets`)).body.total).toBe(1);
  });

  it("can be corrected, published and exported like any other draft", async () => {
    const job = await finishedJob();
    const path = (await draft(job)).headers.get("location")!;
    expect((await client.post(`${path}/publish`)).body.total_annotations).toBe(8);
    expect((await client.get(`${path}/export/csv`)).text.split("\r\n")).toHaveLength(10);
  });
});
