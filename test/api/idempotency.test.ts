// Retried requests: a POST with an Idempotency-Key creates its resource once, however often the client sends it. The table
// has every operation that creates a resource.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { routes } from "../../src/api/routes/index.ts";
import { execute, useApi } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { useRequestKeys, withKey } from "../support/request-keys.ts";
import { addTrainingJob } from "../support/world.ts";

const api = useApi();
const { client, world, trainingJob, countRows } = useRequestKeys(api);

const upload = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };

/** For each operation: a path, a body that creates something, and a different body. */
const creates: Record<string, () => Promise<[path: string, body: object, other: object]>> = {
  createDataset: async () => ["/api/v1/datasets", { name: "a" }, { name: "b" }],
  createAudioUpload: async () => [
    `/api/v1/datasets/${world.datasetId}/audio/upload-url`,
    upload,
    { ...upload, size_bytes: 101 },
  ],
  createAudioUploads: async () => [
    `/api/v1/datasets/${world.datasetId}/audio/upload-urls`,
    { files: [upload, { ...upload, filename: "y.wav" }] },
    { files: [upload] },
  ],
  createAnnotationSet: async () => [
    `/api/v1/datasets/${world.datasetId}/annotation-sets`,
    {},
    { from_annotation_set_id: world.annotationSetId },
  ],
  createAudioFromUrl: async () => {
    const url = `https://files.example.com/${randomUUID()}.wav`;
    return [`/api/v1/datasets/${world.datasetId}/audio/from-url`, { url }, { url, filename: "y.wav" }];
  },
  createAnnotation: async () => {
    const annotation = {
      audio_file_id: world.audioFileId,
      artifact_type: "click",
      start_ms: 30,
      end_ms: 40,
    };
    return [`${draft()}/annotations`, annotation, { ...annotation, end_ms: 41 }];
  },
  createAnnotations: async () => {
    const annotation = { audio_file_id: world.audioFileId, artifact_type: "hum", start_ms: 5, end_ms: 6 };
    const annotations = [annotation, { ...annotation, start_ms: 1 }];
    return [`${draft()}/annotations/bulk`, { annotations }, { annotations: [annotation] }];
  },
  createTrainingJob: async () => {
    const job = trainingJob();
    return ["/api/v1/training-jobs", job, { ...job, config: { ...job.config, epochs: 2 } }];
  },
  retryTrainingJob: async () => {
    const { dataset_id, annotation_set_id } = trainingJob();
    const id = await addTrainingJob(api.db, client.tenantId, dataset_id, annotation_set_id, "failed");
    await execute(
      api.db,
      sql.fragment`update training_jobs set config = (select config from training_jobs
        where tenant_id = ${client.tenantId} and config <> '{}' limit 1) where id = ${id}`,
    );
    return [`/api/v1/training-jobs/${id}/retry`, {}, { unknown: 1 }];
  },
  createInferenceJob: async () => [
    "/api/v1/inference-jobs",
    { model_id: world.modelId, audio_file_ids: [world.audioFileId] },
    { model_id: world.modelId },
  ],
  createInferenceUpload: async () => [
    `/api/v1/inference-jobs/${world.inferenceJobId}/files/upload-url`,
    upload,
    { ...upload, filename: "z.wav" },
  ],
  createInferenceUploads: async () => [
    `/api/v1/inference-jobs/${world.inferenceJobId}/files/upload-urls`,
    { files: [upload, upload] },
    { files: [upload] },
  ],
  createWebhook: async () => {
    const url = `https://hooks.example.com/${randomUUID()}`;
    return ["/api/v1/webhooks", { url }, { url, description: "other" }];
  },
  testWebhook: async () => {
    const webhook = await client.post("/api/v1/webhooks", { url: "https://hooks.example.com/t" });
    return [`${webhook.headers.get("location")}/test`, {}, {}];
  },
};
const draft = () => `/api/v1/datasets/${world.datasetId}/annotation-sets/${world.annotationSetId}`;

/** The part that is equal in both answers: everything except signatures and their times. */
function lasting(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (name, value) => (name === "upload" ? typeof value : value)));
}

describe("a repeated request with the same Idempotency-Key", () => {
  it.each(Object.keys(creates))("%s creates nothing more and gets the same answer", async (operation) => {
    const [path, body, other] = await creates[operation]!();
    const key = randomUUID();
    const first = await client.post(path, body, withKey(key));
    expect(first.status, first.text).toBe(201);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    const rows = await countRows();

    const second = await client.post(path, body, withKey(key));
    expect(second.status).toBe(201);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(lasting(second.body)).toEqual(lasting(first.body));

    const bodyIsRead = routes.find((route) => route.operationId === operation)!.body !== undefined;
    const third = await client.post(path, other, withKey(key));
    if (bodyIsRead) {
      expect(third.status).toBe(422);
      expect(third.body.detail).toEqual([
        {
          loc: ["header", "Idempotency-Key"],
          msg: "Value error, the key was used for a different request",
          type: "value_error",
        },
      ]);
    }
    expect(await countRows()).toBe(rows);

    const fresh = await client.post(path, body, withKey(randomUUID()));
    expect(fresh.status, fresh.text).toBe(201);
    expect(await countRows()).toBeGreaterThan(rows);
  });

  it("every operation that creates a resource is in the table above or has its own test", () => {
    const tested = [...Object.keys(creates), "createApiKey"];
    const elsewhere = [
      "createAnnotationSetFromDetections",
      "retryInferenceJob",
      "rotateApiKey",
      "rotateWebhookSecret",
    ];
    // The tests of imports: test/api/imports.test.ts.
    const imports = routes.filter((route) => route.comparesText);
    for (const route of imports) expect(route.idempotent, route.operationId).toBeTypeOf("function");
    const all = routes.filter((route) => route.method === "POST" && route.answer.status === 201);
    for (const route of all) expect(route.idempotent, route.operationId).toBeTypeOf("function");
    const untested = all
      .map((route) => route.operationId)
      .filter((name) => ![...tested, ...elsewhere].includes(name));
    expect(untested).toEqual([]);
  });

  it("a new API key is shown only once, and the repeated request learns its id", async () => {
    const first = await client.post("/api/v1/auth/api-keys", { name: "ci" }, withKey("keys-1"));
    const rows = await countRows();
    const second = await client.post("/api/v1/auth/api-keys", { name: "ci" }, withKey("keys-1"));
    expect(second.status).toBe(409);
    expect(second.body.code).toBe("key_already_created");
    expect(second.body.detail).toContain(first.body.id);
    expect(second.text).not.toContain(first.body.key);
    expect(await countRows()).toBe(rows);
  });

  it("an upload ticket is signed again", async () => {
    const [path, body] = await creates.createAudioUpload!();
    const first = await client.post(path, body, withKey("ticket"));
    const second = await poll("another signature", async () => {
      const answer = await client.post(path, body, withKey("ticket"));
      return answer.body.upload.fields.Policy !== first.body.upload.fields.Policy && answer;
    });
    expect(first.body.upload.fields.Policy).toBeTypeOf("string");
    expect(second.body.upload.fields.key).toBe(first.body.upload.fields.key);
  });

  it("a job is submitted again, because the first attempt may have been interrupted", async () => {
    const [path, body] = await creates.createTrainingJob!();
    const { id } = (await client.post(path, body, withKey("submit"))).body;
    await client.post(path, body, withKey("submit"));
    await api.settle();
    expect(api.submitted.filter((job) => job.id === id)).toHaveLength(2);
  });

  it("a set is published once, and the repeated request gets the set", async () => {
    const sets = `/api/v1/datasets/${world.datasetId}/annotation-sets`;
    const path = `${sets}/${(await client.post(sets)).body.id}/publish`;
    const first = await client.post(path, undefined, withKey("publish"));
    const second = await client.post(path, undefined, withKey("publish"));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect((await client.post(path, undefined, withKey("publish again"))).status).toBe(409);
  });

  it("a delivery is sent again once", async () => {
    const webhook = await client.post("/api/v1/webhooks", { url: "https://hooks.example.com/again" });
    const test = await client.post(`${webhook.headers.get("location")}/test`);
    const path = `${webhook.headers.get("location")}/deliveries/${test.body.id}/redeliver`;
    expect((await client.post(path, undefined, withKey("again"))).body.attempts).toBe(0);
    await execute(
      api.db,
      sql.fragment`update webhook_deliveries set attempts = 1 where id = ${test.body.id}`,
    );
    const second = await client.post(path, undefined, withKey("again"));
    expect([second.status, second.body.attempts]).toEqual([200, 1]);
    expect((await client.post(path)).body.attempts).toBe(0);
  });

  it("the answer is 404 when the resource was deleted meanwhile, and nothing is created", async () => {
    const { id } = (await client.post("/api/v1/datasets", { name: "gone" }, withKey("gone"))).body;
    await client.delete(`/api/v1/datasets/${id}`);
    const rows = await countRows();
    const again = await client.post("/api/v1/datasets", { name: "gone" }, withKey("gone"));
    expect(again.body).toEqual({ detail: "Dataset not found", code: "dataset_not_found" });
    expect(await countRows()).toBe(rows);
  });
});
