// The detections of an inference job as a list: by page, by file, with filters, and by cursor.
import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { listDetections } from "../../src/db/detection.ts";
import { type Client, useApi } from "../support/api.ts";
import { addDetections, addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const api = useApi();
let client: Client;
let job: string;
let files: readonly string[];
beforeAll(async () => {
  client = await api.tenant();
  const training = await addTrainingJob(api.db, client.tenantId, randomUUID(), randomUUID());
  const model_id = await addModel(api.db, client.tenantId, training);
  const dataset_id = await makeDataset(client);
  for (let n = 0; n < 2; n++) await addReadyAudio(api.db, client.tenantId, dataset_id);
  const { id } = (await client.post("/api/v1/inference-jobs", { model_id, dataset_id })).body;
  job = `/api/v1/inference-jobs/${id}`;
  files = (await client.get(`${job}/files`)).body.items.map((file: { id: string }) => file.id);
  for (const file of files) await addDetections(api.db, client.tenantId, id, file, 30);
});
const list = async (path: string) => (await client.get(`${job}/${path}`)).body;

it("are listed per job and per file, with filters, also while the job runs", async () => {
  expect(await list("detections?page_size=25&page=3")).toMatchObject({ total: 60, has_more: false, page: 3 });
  const one = (await list(`files/${files[0]}/detections?page_size=100`)).items;
  expect(one.map((item: { start_ms: number }) => item.start_ms)).toEqual(
    Array.from({ length: 30 }, (_, i) => i * 100),
  );
  expect(new Set(one.map((item: { inference_file_id: string }) => item.inference_file_id))).toEqual(
    new Set([files[0]]),
  );
  expect((await list("detections?artifact_type=hum&min_confidence=0.52")).total).toBe(10);
  expect((await list(`detections?inference_file_id=${files[1]}`)).total).toBe(30);
});

it("are read in full by their cursors, with and without a filter", async () => {
  const lists = ["", "artifact_type=hum", `inference_file_id=${files[1]}`, "min_confidence=0.51"].map(
    (filter) => ["detections", filter] as const,
  );
  for (const [path, filter] of [...lists, [`files/${files[0]}/detections`, ""] as const]) {
    const whole = (await list(`${path}?page_size=100&${filter}`)).items;
    const read: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const from = cursor === "" ? "" : `&cursor=${cursor}`;
      const answer = await client.get(`${job}/${path}?page_size=7&${filter}${from}`);
      cursor = answer.headers.get("X-Next-Cursor");
      expect(answer.body).toMatchObject({ total: whole.length, has_more: cursor !== null });
      read.push(...answer.body.items);
    }
    expect(read).toEqual(whole);
  }
  expect((await client.get(`${job}/detections?cursor=${files[0]}`)).status).toBe(422);
});

it("have a total of 0 if the job is deleted while its list is read", async () => {
  const none = await listDetections(api.db, client.tenantId, randomUUID(), { page: 1, page_size: 20 });
  expect(none).toMatchObject({ items: [], total: 0, hasMore: false });
});
