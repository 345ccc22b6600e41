// Tests that an inference job searches all audio files that its client names, or is refused.
import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { type Client, useApi } from "../support/api.ts";
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
