// Tests that an inference job searches all audio files that its client names, or is refused; and where its files come from.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, expect, it } from "vitest";
import { type Client, execute, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { postForm } from "../support/upload.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
const jobs = "/api/v1/inference-jobs";
let client: Client;
let modelId: string;
let audio: string;
beforeAll(async () => {
  client = await api.tenant();
  const job = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID());
  modelId = await addModel(api.db, client.tenantId, job);
  audio = await addReadyAudio(api.db, client.tenantId, await makeDataset(client));
});

it("a list with one unknown file is refused as a whole, and no job is left", async () => {
  const answer = await client.post(jobs, { model_id: modelId, audio_file_ids: [audio, randomUUID()] });
  expect(answer.status).toBe(404);
  expect(answer.body.code).toBe("audio_file_not_found");
  expect((await client.get(jobs)).body.items).toEqual([]);
});

it("a file names the dataset of its audio and gives its bytes, until the audio file is deleted", async () => {
  const dataset = await makeDataset(client);
  const own = await addReadyAudio(api.db, client.tenantId, dataset);
  await api.storage.write(`audio/${client.tenantId}/${own}`, "bytes");
  const job = (await client.post(jobs, { model_id: modelId, audio_file_ids: [own] })).body.id;
  const [file] = (await client.get(`${jobs}/${job}/files`)).body.items;
  expect(file).toMatchObject({ audio_file_id: own, dataset_id: dataset });
  const path = `${jobs}/${job}/files/${file.id}`;
  expect(await bytesOf(`${path}/download`)).toBe("bytes");
  await execute(api.db, sql.fragment`update inference_jobs set status = 'completed' where id = ${job}`);
  await client.delete(`/api/v1/datasets/${dataset}`);
  expect((await client.get(path)).body).toMatchObject({ audio_file_id: own, dataset_id: null });
  expect(await client.get(`${path}/download`)).toMatchObject({
    status: 404,
    body: { code: "audio_file_not_found" },
  });
});

it("a file that was uploaded to the job has no dataset, and gives its bytes once they are confirmed", async () => {
  const job = (await client.post(jobs, { model_id: modelId })).body.id;
  const bytes = wav();
  const announced = { filename: "new.wav", content_type: "audio/wav", size_bytes: bytes.length };
  const ticket = (await client.post(`${jobs}/${job}/files/upload-url`, announced)).body;
  expect(ticket.inference_file.dataset_id).toBeNull();
  const path = `${jobs}/${job}/files/${ticket.inference_file_id}`;
  expect((await client.get(`${path}/download`)).body.code).toBe("audio_not_ready");
  expect(await postForm(ticket.upload, bytes)).toBe(201);
  await client.post(`${path}/confirm`);
  expect(await bytesOf(`${path}/download`)).toBe(bytes.toString("latin1"));
});

async function bytesOf(path: string): Promise<string> {
  const answer = await fetch((await client.get(path)).body.url);
  return Buffer.from(await answer.arrayBuffer()).toString("latin1");
}
