// Retried requests: a POST with an Idempotency-Key creates its resource once, however often the client sends it.
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

/** Counts the tenant's rows in all tables except the table of the keys themselves. */
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

describe("an Idempotency-Key", () => {
  it("is valid for one path of one tenant", async () => {
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

  it("matches an equal body with its members in another order", async () => {
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

  it("has 1 to 255 characters, and its faults are reported with all others", async () => {
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

  it("is not stored with a failure, so that the corrected or repeated request is executed", async () => {
    const audio = await addReadyAudio(api.db, client.tenantId, world.datasetId, { status: "processing" });
    const body = { model_id: world.modelId, audio_file_ids: [audio] };
    const early = await client.post("/api/v1/inference-jobs", body, withKey("early"));
    expect(early.body.code).toBe("audio_not_ready");
    await execute(api.db, sql.fragment`update audio_files set status = 'ready' where id = ${audio}`);
    expect((await client.post("/api/v1/inference-jobs", body, withKey("early"))).status).toBe(201);
    expect((await client.post("/api/v1/datasets", { name: 1 }, withKey("fixed"))).status).toBe(422);
    expect((await client.post("/api/v1/datasets", { name: "1" }, withKey("fixed"))).status).toBe(201);
  });

  it("is answered with 409 and Retry-After while its first request is running", async () => {
    const send = () => client.post("/api/v1/datasets", { name: "slow" }, withKey("slow"));
    let both: Promise<Answer>[] = [];
    // The insert of the dataset blocks on the lock of the tenant's row.
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

  it("creates one resource however many requests arrive at once", async () => {
    const before = await countRows();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.post("/api/v1/datasets", { name: "race" }, withKey("race"))),
    );
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const ids = answers.filter((answer) => answer.status === 201).map((answer) => answer.body.id);
    expect(new Set(ids).size).toBe(1);
    expect(await countRows()).toBe(before + 1);
  });

  it("expires after 24 hours, even before its row is deleted", async () => {
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
    expect(await purgeRequestKeys(api.db, 10)).toBe(1);
    expect(await purgeRequestKeys(api.db, 10)).toBe(0);
  });

  it("is deleted in batches, but not if a request renews it meanwhile", async () => {
    const change = (created: string) => sql.type(z.object({}))`
      update idempotency_keys set created_at = now() - ${created}::interval
      where tenant_id = ${client.tenantId} and created_ids && ${sql.array(ids, "uuid")}`;
    const ids: string[] = [];
    for (const key of ["first", "second", "third"])
      ids.push((await client.post("/api/v1/datasets", { name: key }, withKey(key))).body.id);
    await api.db.query(change("2 days"));
    expect(await purgeRequestKeys(api.db, 2)).toBe(2);

    const [renewed, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const renewal = api.db.transaction(async (tx) => {
      await tx.query(change("0"));
      renewed.resolve();
      await goOn.promise;
    });
    await renewed.promise;
    const purging = api.db.transaction(async (tx) => {
      // The plan for a large table, which is the dangerous one.
      await tx.query(sql.unsafe`set local enable_seqscan = off`);
      return await purgeRequestKeys(tx, 2);
    });
    await poll("the deletion to wait for the lock", () =>
      api.db.exists(sql.unsafe`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
    );
    goOn.resolve();
    await renewal;
    expect(await purging).toBe(0);
    expect((await api.db.query(change("2 days"))).rowCount).toBe(1);
    expect(await purgeRequestKeys(api.db, 2)).toBe(1);
  });

  it("causes no submission for a transaction that the database rolled back", async () => {
    // A rollback does not reset a sequence: the first commit fails, the second succeeds.
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

  it("is ignored by operations that create nothing", async () => {
    const name = { name: "patched" };
    const path = `/api/v1/datasets/${world.datasetId}`;
    expect((await client.patch(path, name, withKey("k".repeat(300)))).status).toBe(200);
  });
});
