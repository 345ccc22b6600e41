// Jobs that a platform engineer applies with kubectl, under names of their own: checked as the API checks, in the records
// and in REST like any other, cancelled and deleted from both sides. Real API server, Postgres, S3, and REST over HTTP.
import { createHash } from "node:crypto";
import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { adopt } from "../../controllers/job/adopt.ts";
import { trainingJobAdapter } from "../../controllers/training-job/adapter.ts";
import { makeDatabase } from "../../src/db/pool.ts";
import { embeddingJobs, inferenceJobs, trainingJobs } from "../../src/kube/kinds.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { type Client, useApi } from "../support/api.ts";
import { type TestNamespace, useCluster } from "../support/kube.ts";
import {
  endPod,
  jobsOf,
  podOf,
  put,
  runOperator,
  startPod,
  type TestOperator,
  Worker,
} from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { loginOf } from "../support/postgres.ts";
import { insertConfirmedAudio } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";
import { addModel, addReadyAudio, addTrainingJob, makeDataset } from "../support/world.ts";

const cluster = useCluster();
const api = useApi();
const store = useStorage();
let space: TestNamespace;
let operator: TestOperator;
let client: Client;

const start = (options: { maxWaiting?: number; driftMs?: number } = {}) =>
  runOperator({
    cluster,
    namespace: space,
    databaseUrl: api.db.configuration.connectionUri,
    storage: store.config,
    gatherSeconds: 5,
    driftMs: 300,
    ...options,
  });
beforeAll(async () => {
  space = await cluster.namespace();
  operator = await start();
  await operator.leading;
});
afterAll(() => operator?.stop());
beforeEach(async () => {
  client = await api.tenant();
});

type JobObject = KubeObject & { status?: JobStatus };
const kindOf = (type: unknown) => type as ResourceType<JobObject>;
const hex = (text: string) => createHash("sha256").update(text).digest("hex");

async function apply(type: unknown, name: string, spec: object): Promise<JobObject> {
  const object = { metadata: { name, namespace: space.name }, spec: { shards: { count: 1 }, ...spec } };
  return await cluster.admin.create(kindOf(type), object as unknown as JobObject);
}
const find = (type: unknown, name: string) =>
  cluster.admin.find(kindOf(type), { namespace: space.name, name });
const accepted = async (type: unknown, name: string) =>
  (await find(type, name))?.status?.conditions?.find((condition) => condition.type === "Accepted");
const refusal = (type: unknown, name: string) =>
  poll(`the refusal of ${name}`, async () => {
    const said = await accepted(type, name);
    return said?.status === "False" ? said : undefined;
  });
const runs = async () => (await jobsOf(cluster.admin, space.name)).map(({ metadata }) => metadata.name);
const execute = (statement: ReturnType<typeof sql.fragment>) =>
  api.db.query(sql.type(z.object({}))`${statement}`);

/** A dataset of six minutes with a labelled set. */
async function trainable(publish = true, by = client) {
  const datasetId = await makeDataset(by);
  const audio = await addReadyAudio(api.db, by.tenantId, datasetId, { durationMs: 360_000 });
  const sets = `/api/v1/datasets/${datasetId}/annotation-sets`;
  const annotationSetId: string = (await by.post(sets)).body.id;
  const label = { audio_file_id: audio, artifact_type: "click", start_ms: 1, end_ms: 2 };
  await by.post(`${sets}/${annotationSetId}/annotations`, label);
  if (publish) await by.post(`${sets}/${annotationSetId}/publish`);
  return {
    tenantId: by.tenantId,
    datasetId,
    annotationSetId,
    config: { artifact_types: ["click"], epochs: 2 },
  };
}

async function searchable(files: number) {
  const datasetId = await makeDataset(client);
  const ids: string[] = [];
  for (let i = 0; i < files; i++) ids.push(await addReadyAudio(api.db, client.tenantId, datasetId));
  const training = await addTrainingJob(api.db, client.tenantId, datasetId, crypto.randomUUID());
  const modelId = await addModel(api.db, client.tenantId, training);
  return { tenantId: client.tenantId, datasetId, modelId, files: ids };
}

describe("a training job of any name", () => {
  it("is in the REST API under its uid and runs; a cancel there reaches it, and so does a deletion", async () => {
    const { metadata } = await apply(trainingJobs, "night-shift.7", {
      ...(await trainable()),
      activeDeadlineSeconds: 3600,
    });
    const id = metadata.uid!;
    const path = `/api/v1/training-jobs/${id}`;
    const pod = await podOf(cluster.admin, space.name, `tj-${id}-1`);
    await startPod(cluster.admin, pod);
    const running = await poll("the job to run in REST", async () => {
      const answer = await client.get(path);
      return answer.status === 200 && answer.body.status === "running" ? answer.body : undefined;
    });
    expect(running).toMatchObject({
      platform_job_name: `tj-${id}-1`,
      config: { artifact_types: ["click"], epochs: 2, batch_size: 32, max_runtime_seconds: 3600 },
    });
    expect(
      (await client.get("/api/v1/training-jobs")).body.items.map((job: { id: string }) => job.id),
    ).toEqual([id]);
    const [first] = (await client.get(`${path}/events?order=asc`)).body.items.slice(-1);
    expect(first).toMatchObject({ message: "The job was created in Kubernetes as night-shift.7" });
    const worker = new Worker(cluster, () => operator, pod);
    const work = await worker.work();
    if (work.kind !== "train") throw new Error("not the work of a training");
    expect(work.config).toMatchObject({ artifact_types: ["click"], epochs: 2 });
    await worker.report({ items_done: 1, items_total: 2, fraction: 0.5, message: "Epoch 1 of 2" });
    await poll("the percent in kubectl", async () => {
      return (await find(trainingJobs, "night-shift.7"))?.status?.progress?.percent === 50;
    });

    const asked = performance.now();
    expect((await client.post(`${path}/cancel`)).status).toBe(200);
    await poll("the cancel in the custom resource", async () => {
      const cr = await find(trainingJobs, "night-shift.7");
      return (cr as unknown as { spec: { cancel?: object } }).spec.cancel !== undefined;
    });
    expect(performance.now() - asked).toBeLessThan(1_500);
    await poll("the end in REST", async () => (await client.get(path)).body.status === "cancelled");
    await poll("the end in kubectl", async () => {
      return (await find(trainingJobs, "night-shift.7"))?.status?.phase === "Cancelled";
    });
    expect((await client.delete(path)).status).toBe(204);
    await poll("the resource to go", async () => (await find(trainingJobs, "night-shift.7")) === undefined);
    expect((await client.get(path)).status).toBe(404);
  });

  it("is refused with all that the API would say, and accepted when that no longer holds", async () => {
    const draft = await trainable(false);
    draft.config.artifact_types.push("hum");
    await apply(trainingJobs, "draft", draft);
    const said = await refusal(trainingJobs, "draft");
    expect(said).toMatchObject({
      reason: "PreconditionFailed",
      message:
        "The annotation set is a draft; publish it first (annotation_set_not_published); " +
        "The annotation set has no annotations of these types: hum (no_annotations).",
    });
    const path = `/api/v1/datasets/${draft.datasetId}/annotation-sets/${draft.annotationSetId}`;
    const audio = await api.db.oneFirst(sql.type(z.object({ id: z.string() }))`
      select id from audio_files where dataset_id = ${draft.datasetId}`);
    await client.post(`${path}/annotations`, {
      audio_file_id: audio,
      artifact_type: "hum",
      start_ms: 1,
      end_ms: 2,
    });
    await client.post(`${path}/publish`);
    // Nobody touches the resource: it is looked at every half minute.
    await poll(
      "its acceptance",
      async () => (await accepted(trainingJobs, "draft"))?.status === "True",
      40_000,
    );
    const id = (await find(trainingJobs, "draft"))!.metadata.uid!;
    expect((await client.get(`/api/v1/training-jobs/${id}`)).status).toBe(200);
  });

  it("is refused for what only a custom resource can get wrong", async () => {
    const other = await trainable(true, await api.tenant());
    const good = await trainable();
    const suspended = await api.tenant();
    const away = await trainable(true, suspended);
    await execute(sql.fragment`update tenants set suspended_at = now() where id = ${suspended.tenantId}`);
    const nobody = "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f00";
    const before = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from training_jobs`);
    const table: [string, object, RegExp][] = [
      ["no-tenant", { ...good, tenantId: nobody }, /^spec\.tenantId: there is no such tenant/],
      ["suspended", away, /^This account is suspended \(tenant_suspended\)\.$/],
      ["not-its-own", { ...other, tenantId: client.tenantId }, /^Dataset not found \(dataset_not_found\)\.$/],
      ["no-set", { ...good, annotationSetId: nobody }, /^Annotation set not found/],
      ["two-shards", { ...good, shards: { count: 2 } }, /^spec\.shards\.count: a training job has one shard/],
      [
        "no-such-type",
        { ...good, config: { artifact_types: ["click", "buzz"] } },
        /^spec\.config\.artifact_types\.1: the dataset has no such artifact type/,
      ],
    ];
    for (const [name, spec] of table) await apply(trainingJobs, name, spec);
    for (const [name, , words] of table) {
      const { message, reason } = await refusal(trainingJobs, name);
      expect([name, reason, message]).toEqual([name, "PreconditionFailed", expect.stringMatching(words)]);
    }
    const after = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from training_jobs`);
    expect(after).toBe(before);
  });

  it("gets one row, also from several at once and from one that died before it could say so", async () => {
    await operator.stop();
    try {
      const made = await apply(trainingJobs, "twice", await trainable());
      const id = made.metadata.uid!;
      const db = await makeDatabase(
        {
          PLOSIVE_DATABASE_URL: loginOf(api.db.configuration.connectionUri, "plosive_operator"),
          PLOSIVE_DATABASE_POOL: 5,
        },
        undefined,
        "plosive_operator",
      );
      const { kube } = operator;
      const deps = { db, kube, storage: store.storage, namespace: space.name, maxWaiting: 20 };
      const adapter = trainingJobAdapter(deps);
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => adopt(db, adapter, made as unknown as JobResource)),
      );
      await db.end();
      expect(outcomes).toEqual(Array.from({ length: 5 }, () => undefined));
      expect((await client.get("/api/v1/training-jobs")).body.total).toBe(1);
      expect(await accepted(trainingJobs, "twice")).toBeUndefined();
      operator = await start();
      await podOf(cluster.admin, space.name, `tj-${id}-1`);
      await poll("its acceptance", async () => (await accepted(trainingJobs, "twice"))?.status === "True");
      const events = (await client.get(`/api/v1/training-jobs/${id}/events`)).body.items;
      expect(
        events.filter(({ message }: { message: string }) => message.startsWith("The job was created")),
      ).toHaveLength(1);
    } finally {
      await operator.stop();
      operator = await start();
    }
  });

  it("that was refused can be cancelled all the same", async () => {
    await apply(trainingJobs, "never-mind", await trainable(false));
    await refusal(trainingJobs, "never-mind");
    const ref = { namespace: space.name, name: "never-mind" };
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "too late" } } });
    await poll(
      "its end",
      async () => (await find(trainingJobs, "never-mind"))?.status?.phase === "Cancelled",
    );
  });

  it("deleted with kubectl ends as cancelled, also when another one takes its name at once", async () => {
    const spec = await trainable();
    const first = (await apply(trainingJobs, "again", spec)).metadata.uid!;
    await podOf(cluster.admin, space.name, `tj-${first}-1`);
    await operator.stop();
    await cluster.admin.remove(trainingJobs, { namespace: space.name, name: "again" });
    const second = (await apply(trainingJobs, "again", spec)).metadata.uid!;
    operator = await start();
    await podOf(cluster.admin, space.name, `tj-${second}-1`);
    await execute(sql.fragment`
      update training_jobs set submitted_at = now() - interval '2 minutes' where id = ${first}`);
    const status = async (id: string) => (await client.get(`/api/v1/training-jobs/${id}`)).body.status;
    await poll("the first one's end", async () => (await status(first)) === "cancelled");
    // A late cancel of the first is not one of the second.
    await poll("the second one in its queue", async () => (await status(second)) === "queued");
    await cluster.admin.remove(trainingJobs, { namespace: space.name, name: "again" });
    await poll("the second one's end", async () => (await status(second)) === "cancelled");
  });

  it("deleted in REST takes its own resource along, and not a later one of the same name", async () => {
    const spec = await trainable();
    const ref = { namespace: space.name, name: "used-again" };
    const first = (await apply(trainingJobs, ref.name, spec)).metadata.uid!;
    const path = `/api/v1/training-jobs/${first}`;
    await poll("the first one in REST", async () => (await client.get(path)).status === 200);
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "not needed" } } });
    await poll("its end", async () => (await client.get(path)).body.status === "cancelled");
    await cluster.admin.remove(trainingJobs, ref);
    const second = (await apply(trainingJobs, ref.name, spec)).metadata.uid!;
    expect((await client.delete(path)).status).toBe(204);
    await poll("an end of what was left behind", async () => {
      const left = await api.db.anyFirst(sql.type(z.object({ target: z.string() }))`
        select target from leftovers where at_once and target like ${`%${first}%`}`);
      return left.length === 0;
    });
    expect((await find(trainingJobs, ref.name))?.metadata.uid).toBe(second);
    await podOf(cluster.admin, space.name, `tj-${second}-1`);
  });

  it("waits while its tenant has as many that wait as it may", async () => {
    await operator.stop();
    operator = await start({ maxWaiting: 1 });
    await operator.leading;
    const spec = await trainable();
    const first = await apply(trainingJobs, "one-of-one", spec);
    await podOf(cluster.admin, space.name, `tj-${first.metadata.uid}-1`);
    await apply(trainingJobs, "two-of-one", spec);
    expect(await refusal(trainingJobs, "two-of-one")).toMatchObject({
      reason: "QuotaExceeded",
      message: expect.stringContaining("at most 1 training jobs that wait"),
    });
    await operator.stop();
    operator = await start();
  });
});

describe("an inference job of any name", () => {
  it("searches a dataset in as many shards as it says, and ends in REST and kubectl", async () => {
    const { files, ...spec } = await searchable(5);
    const config = { thresholds: { click: 0.7 }, artifact_types: ["click"] };
    const { metadata } = await apply(inferenceJobs, "all-takes", {
      ...spec,
      config,
      shards: { count: 2, parallelism: 2 },
    });
    const run = `ij-${metadata.uid}-1`;
    const seen: number[] = [];
    for (const shard of [0, 1]) {
      const pod = await podOf(cluster.admin, space.name, run, shard);
      await startPod(cluster.admin, pod);
      const work = await new Worker(cluster, () => operator, pod).work();
      if (work.kind !== "detect") throw new Error("not the work of an inference");
      expect(work.config).toMatchObject({ ...config, threshold: null });
      seen.push(work.items.length);
      const detections = [{ artifact_type: "click", start_ms: 1, end_ms: 2, confidence: 0.9 }];
      const facts = {
        duration_ms: 60_000,
        sample_rate_hz: 8000,
        channels: 1,
        sha256: hex("x"),
        size_bytes: 9,
      };
      const items = work.items.map(({ id }) => ({ id, status: "completed", ...facts, detections }));
      await put(work.result, JSON.stringify({ version: 1, kind: "detect", run, shard, items }));
      await endPod(cluster.admin, pod, 0);
    }
    expect(seen.sort()).toEqual([2, 3]);
    const path = `/api/v1/inference-jobs/${metadata.uid}`;
    const done = await poll("its end in REST", async () => {
      const { body } = await client.get(path);
      return body.status === "completed" ? body : undefined;
    });
    expect(done).toMatchObject({ total_files: 5, processed_files: 5, failed_files: 0, total_detections: 5 });
    await poll(
      "its end",
      async () => (await find(inferenceJobs, "all-takes"))?.status?.phase === "Succeeded",
    );
  });

  it("searches the files that it names, and is refused with words where the API would refuse it", async () => {
    const { files, datasetId, ...spec } = await searchable(2);
    await execute(sql.fragment`update models set is_active = false where id = ${spec.modelId}`);
    await apply(inferenceJobs, "inactive", { ...spec, audioFileIds: files });
    expect((await refusal(inferenceJobs, "inactive")).message).toBe(
      "The model is not active (model_inactive).",
    );
    await execute(sql.fragment`update models set is_active = true where id = ${spec.modelId}`);
    const table: [string, object, RegExp][] = [
      ["no-files", spec, /^spec\.datasetId: give datasetId or audioFileIds/],
      [
        "too-many-shards",
        { ...spec, datasetId, shards: { count: 3 } },
        /there are only 2 files: give at most 2/,
      ],
      [
        "empty",
        { ...spec, datasetId: await makeDataset(client) },
        /no audio files that are ready \(no_files\)/,
      ],
      [
        "strange-type",
        { ...spec, datasetId, config: { artifact_types: ["buzz"] } },
        /^spec\.config\.artifact_types\.0: the model has no such artifact type/,
      ],
    ];
    for (const [name, own] of table) await apply(inferenceJobs, name, own);
    for (const [name, , words] of table) expect((await refusal(inferenceJobs, name)).message).toMatch(words);
    const { metadata } = await apply(inferenceJobs, "named", { ...spec, audioFileIds: [files[1]] });
    await podOf(cluster.admin, space.name, `ij-${metadata.uid}-1`);
    const listed = (await client.get(`/api/v1/inference-jobs/${metadata.uid}/files`)).body.items;
    expect(listed.map((file: { audio_file_id: string }) => file.audio_file_id)).toEqual([files[1]]);
  });
});

describe("an embedding job of any name", () => {
  it("takes the uploads that wait, and is refused where none does", async () => {
    const dataset = await makeDataset(client);
    await apply(embeddingJobs, "too-early", { tenantId: client.tenantId });
    expect((await refusal(embeddingJobs, "too-early")).message).toMatch(/No uploaded files .*\(no_files\)/);
    for (const _ of [1, 2, 3]) await insertConfirmedAudio(api.db, client.tenantId, dataset);
    const { metadata } = await apply(embeddingJobs, "uploads-now", {
      tenantId: client.tenantId,
      shards: { count: 2 },
    });
    await podOf(cluster.admin, space.name, `ej-${metadata.uid}-1`);
    const shards = await api.db.anyFirst(sql.type(z.object({ shard: z.number() }))`
      select embedding_shard as shard from audio_files where embedding_job_id = ${metadata.uid!} order by 1`);
    expect(shards).toEqual([0, 0, 1]);
  });
});

describe("a custom resource of which the records know nothing", () => {
  it("gets no row under a name of the service's own form", async () => {
    const name = "tj-0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11";
    const { metadata } = await apply(trainingJobs, name, await trainable());
    const said = await refusal(trainingJobs, name);
    expect(said.reason).toBe("RowMissing");
    expect(said.message).toContain("Give the resource any other name");
    expect((await client.get("/api/v1/training-jobs")).body.items).toEqual([]);
    expect((await runs()).filter((run) => run.includes(metadata.uid!) || run.startsWith(name))).toEqual([]);
  });

  it("although it was accepted, says that the database was restored, and is not made anew", async () => {
    const { metadata } = await apply(trainingJobs, "before-the-restore", await trainable());
    const id = metadata.uid!;
    await podOf(cluster.admin, space.name, `tj-${id}-1`);
    await poll("the run in its status", async () => {
      return (await find(trainingJobs, "before-the-restore"))?.status?.runId === `tj-${id}-1`;
    });
    // As in a restored database: no trigger runs, nothing is left behind.
    await api.db.transaction(async (tx) => {
      await tx.query(sql.type(z.object({}))`set local session_replication_role = replica`);
      await tx.query(sql.type(z.object({}))`delete from training_job_files where training_job_id = ${id}`);
      await tx.query(sql.type(z.object({}))`delete from training_jobs where id = ${id}`);
    });
    const said = await refusal(trainingJobs, "before-the-restore");
    expect(said).toMatchObject({ reason: "RowMissing", message: expect.stringContaining("restored") });
    await operator.stop();
    operator = await start();
    await operator.leading;
    const ref = { namespace: space.name, name: "before-the-restore" };
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "gone" } } });
    await poll("its end", async () => (await find(trainingJobs, ref.name))?.status?.phase === "Cancelled");
    await poll("the end of its run", async () => !(await runs()).includes(`tj-${id}-1`));
    expect((await client.get(`/api/v1/training-jobs/${id}`)).status).toBe(404);
  });
});
