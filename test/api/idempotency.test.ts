// Retried requests: a POST with an Idempotency-Key makes its resource once, however often it is sent.
import { randomUUID } from "node:crypto";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { routes } from "../../src/api/routes/index.ts";
import { purgeRequestKeys } from "../../src/db/idempotency.ts";
import { type Answer, type Client, execute, useApi } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { addReadyAudio, addTrainingJob, makeDataset, makeWorld, type World } from "../support/world.ts";

const api = useApi();
let client: Client;
let world: World;
let publishedSetId: string;
beforeAll(async () => {
  client = await api.tenant();
  world = await makeWorld(client, api.db);
  const sets = `/api/v1/datasets/${world.datasetId}/annotation-sets`;
  const from = { from_annotation_set_id: world.annotationSetId };
  publishedSetId = (await client.post(sets, from)).body.id;
  await client.post(`${sets}/${publishedSetId}/publish`);
});

const withKey = (key: string) => ({ "Idempotency-Key": key });

/** Rows of the tenant in all tables but the one of the keys themselves. */
async function countRows(): Promise<number> {
  const tables = await api.db.anyFirst(sql.type(z.object({ table_name: z.string() }))`
    select table_name from information_schema.columns
    where table_schema = 'public' and column_name = 'tenant_id'
      and table_name not in ('idempotency_keys', 'rate_limits')`);
  const counts = tables.map(
    (table) =>
      sql.fragment`(select count(*) from ${sql.identifier([table])} where tenant_id = ${client.tenantId})`,
  );
  return await api.db.oneFirst(sql.type(z.object({ sum: z.number() }))`
    select ${sql.join(counts, sql.fragment` + `)} as sum`);
}

const upload = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };

/** For each operation a request that makes something, and one that differs from it. */
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
    const job = { dataset_id: world.datasetId, annotation_set_id: publishedSetId };
    const config = { artifact_types: ["click"] };
    return ["/api/v1/training-jobs", { ...job, config }, { ...job, config: { ...config, epochs: 2 } }];
  },
  retryTrainingJob: async () => {
    const id = await addTrainingJob(api.db, client.tenantId, world.datasetId, publishedSetId, "failed");
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

/** What is the same in both answers: all but signatures and their times, which are made anew. */
function lasting(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body, (name, value) => (name === "upload" ? typeof value : value)));
}

describe("sent again with its key", () => {
  it.each(Object.keys(creates))("%s makes nothing more and answers the same", async (operation) => {
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

  it("every create with a resource of its own is in the table above, or has a test of its own", () => {
    const tested = [...Object.keys(creates), "createApiKey"];
    const elsewhere = [
      "createAnnotationSetFromDetections",
      "retryInferenceJob",
      "rotateApiKey",
      "rotateWebhookSecret",
    ];
    // The imports: test/api/imports.test.ts.
    const imports = routes.filter((route) => route.semaphore === "imports");
    for (const route of imports) expect(route.idempotent, route.operationId).toBeTypeOf("function");
    const all = routes.filter((route) => route.method === "POST" && route.answer.status === 201);
    for (const route of all) expect(route.idempotent, route.operationId).toBeTypeOf("function");
    const untested = all
      .map((route) => route.operationId)
      .filter((name) => ![...tested, ...elsewhere].includes(name));
    expect(untested).toEqual([]);
  });

  it("a new API key is not shown a second time: the answer says which one it was", async () => {
    const first = await client.post("/api/v1/auth/api-keys", { name: "ci" }, withKey("keys-1"));
    const rows = await countRows();
    const second = await client.post("/api/v1/auth/api-keys", { name: "ci" }, withKey("keys-1"));
    expect(second.status).toBe(409);
    expect(second.body.code).toBe("key_already_created");
    expect(second.body.detail).toContain(first.body.id);
    expect(second.text).not.toContain(first.body.key);
    expect(await countRows()).toBe(rows);
  });

  it("an upload ticket is signed anew", async () => {
    const [path, body] = await creates.createAudioUpload!();
    const first = await client.post(path, body, withKey("ticket"));
    const second = await poll("another signature", async () => {
      const answer = await client.post(path, body, withKey("ticket"));
      return answer.body.upload.fields.Policy !== first.body.upload.fields.Policy && answer;
    });
    expect(first.body.upload.fields.Policy).toBeTypeOf("string");
    expect(second.body.upload.fields.key).toBe(first.body.upload.fields.key);
  });

  it("a job is submitted again, which helps when the first attempt was cut off", async () => {
    const [path, body] = await creates.createTrainingJob!();
    const { id } = (await client.post(path, body, withKey("submit"))).body;
    await client.post(path, body, withKey("submit"));
    await api.settle();
    expect(api.submitted.filter((job) => job.id === id)).toHaveLength(2);
  });

  it("it answers 404 when the resource was deleted meanwhile, and makes it not again", async () => {
    const { id } = (await client.post("/api/v1/datasets", { name: "gone" }, withKey("gone"))).body;
    await client.delete(`/api/v1/datasets/${id}`);
    const rows = await countRows();
    const again = await client.post("/api/v1/datasets", { name: "gone" }, withKey("gone"));
    expect(again.body).toEqual({ detail: "Dataset not found", code: "dataset_not_found" });
    expect(await countRows()).toBe(rows);
  });
});

describe("a key", () => {
  it("holds for one path of one tenant", async () => {
    const other = await api.tenant();
    const mine = await client.post("/api/v1/datasets", { name: "a" }, withKey("shared"));
    const theirs = await other.post("/api/v1/datasets", { name: "a" }, withKey("shared"));
    expect(theirs.body.id).not.toBe(mine.body.id);
    const second = await makeDataset(client);
    const one = await client.post(
      `/api/v1/datasets/${world.datasetId}/annotation-sets`,
      {},
      withKey("shared"),
    );
    const two = await client.post(`/api/v1/datasets/${second}/annotation-sets`, {}, withKey("shared"));
    expect([one.status, two.status]).toEqual([201, 201]);
  });

  it("knows a body again whatever the order of its members", async () => {
    const first = await client.post(
      "/api/v1/datasets",
      { name: "order", artifact_types: [{ name: "a", description: "b" }] },
      withKey("order"),
    );
    const second = await client.post(
      "/api/v1/datasets",
      { artifact_types: [{ description: "b", name: "a" }], name: "order" },
      withKey("order"),
    );
    expect(second.body.id).toBe(first.body.id);
  });

  it("has 1 to 255 characters, and its faults are told with all others", async () => {
    const long = await client.post("/api/v1/datasets", {}, withKey("k".repeat(256)));
    expect(long.body.detail.map((item: { loc: unknown }) => item.loc)).toEqual([
      ["header", "Idempotency-Key"],
      ["body", "name"],
    ]);
    expect(long.body.detail[0].type).toBe("string_too_long");
    const most = await client.post("/api/v1/datasets", { name: "a" }, withKey("k".repeat(255)));
    expect(most.status).toBe(201);
    const none = await client.post("/api/v1/datasets", { name: "a" }, withKey(""));
    expect(none.body.detail[0]).toMatchObject({ type: "string_too_short" });
  });

  it("does not remember failures: the corrected or repeated request is worked on", async () => {
    const audio = await addReadyAudio(api.db, client.tenantId, world.datasetId, { status: "processing" });
    const body = { model_id: world.modelId, audio_file_ids: [audio] };
    const early = await client.post("/api/v1/inference-jobs", body, withKey("early"));
    expect(early.body.code).toBe("audio_not_ready");
    await execute(api.db, sql.fragment`update audio_files set status = 'ready' where id = ${audio}`);
    expect((await client.post("/api/v1/inference-jobs", body, withKey("early"))).status).toBe(201);
    expect((await client.post("/api/v1/datasets", { name: 1 }, withKey("fixed"))).status).toBe(422);
    expect((await client.post("/api/v1/datasets", { name: "1" }, withKey("fixed"))).status).toBe(201);
  });

  it("is told to come again while the first request is at work", async () => {
    const send = () => client.post("/api/v1/datasets", { name: "slow" }, withKey("slow"));
    let both: Promise<Answer>[] = [];
    // The insert of the dataset looks at the tenant's row and waits for it.
    await api.db.transaction(async (tx) => {
      await tx.query(sql.type(z.object({}))`select from tenants where id = ${client.tenantId} for update`);
      both = [send(), send()];
      const early = await Promise.race(both);
      expect([early.status, early.body.code]).toEqual([409, "request_in_progress"]);
      expect(early.headers.get("retry-after")).toBe("1");
    });
    expect((await Promise.all(both)).map((answer) => answer.status).sort()).toEqual([201, 409]);
    expect((await send()).headers.get("idempotency-replayed")).toBe("true");
  });

  it("makes one resource however many send it at once", async () => {
    const before = await countRows();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.post("/api/v1/datasets", { name: "race" }, withKey("race"))),
    );
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const ids = answers.filter((answer) => answer.status === 201).map((answer) => answer.body.id);
    expect(new Set(ids).size).toBe(1);
    expect(await countRows()).toBe(before + 1);
  });

  it("is forgotten after 24 hours, also before it is deleted", async () => {
    const first = await client.post("/api/v1/datasets", { name: "old" }, withKey("old"));
    await execute(
      api.db,
      sql.fragment`update idempotency_keys set created_at = now() - interval '24 hours 1 second'
        where tenant_id = ${client.tenantId} and ${first.body.id} = any(created_ids)`,
    );
    const second = await client.post("/api/v1/datasets", { name: "old" }, withKey("old"));
    expect(second.body.id).not.toBe(first.body.id);
    const third = await client.post("/api/v1/datasets", { name: "old" }, withKey("old"));
    expect(third.body.id).toBe(second.body.id);

    await execute(
      api.db,
      sql.fragment`update idempotency_keys set created_at = now() - interval '2 days'
        where ${second.body.id} = any(created_ids)`,
    );
    expect(await purgeRequestKeys(api.db)).toBe(1);
    expect(await purgeRequestKeys(api.db)).toBe(0);
  });

  it("starts nothing of an attempt that the database undid", async () => {
    // A sequence is not rolled back: the first commit fails, the second does not.
    for (const statement of [
      sql.fragment`create sequence commits`,
      sql.fragment`create function refuse_first_commit() returns trigger language plpgsql security definer as $$
        begin
          if nextval('commits') = 1 then raise exception 'once more' using errcode = '40001'; end if;
          return null;
        end $$`,
      sql.fragment`create constraint trigger refuse_first_commit after insert on training_jobs
        deferrable initially deferred for each row execute function refuse_first_commit()`,
    ])
      await execute(api.db, statement);
    await api.settle();
    const before = api.submitted.length;
    await addReadyAudio(api.db, client.tenantId, world.datasetId, { durationMs: 300_000 });
    const [path, body] = await creates.createTrainingJob!();
    const made = await client.post(path, body, withKey(randomUUID()));
    await api.settle();
    await execute(api.db, sql.fragment`drop trigger refuse_first_commit on training_jobs`);
    expect(made.status).toBe(201);
    expect(api.submitted.slice(before)).toEqual([{ kind: "training", id: made.body.id }]);
  });

  it("is ignored where nothing is created", async () => {
    const name = { name: "patched" };
    const path = `/api/v1/datasets/${world.datasetId}`;
    expect((await client.patch(path, name, withKey("k".repeat(300)))).status).toBe(200);
  });
});
