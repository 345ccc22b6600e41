// Each kind of job from its row to its end against a real control plane, Postgres and S3: the outbox, the Job, the run
// endpoint, progress, results, the row and the custom resource. The test plays the kubelet and the workers.
import { createHash } from "node:crypto";
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { maybeOneJob } from "../../src/db/job.ts";
import { embeddingJobs, events, inferenceJobs, jobs, models, trainingJobs } from "../../src/kube/kinds.ts";
import { untilIdle } from "../support/idle.ts";
import { endPod, put, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { scrape } from "../support/prometheus.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertInferenceJob,
  insertModel,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ driftMs: 200 });
const { cluster, database } = stage;

const hex = (text: string) => createHash("sha256").update(text).digest("hex");
const eventsOf = (id: string) =>
  database.pool.anyFirst(sql.type(z.object({ status: z.string() }))`
    select data ->> 'status' as status from job_events where job_id = ${id} and type = 'status' order by id`);

describe("a training job", () => {
  it("goes from its row to a model, and its percent only rises", async () => {
    const tenant = await insertTenant(database.pool);
    const id = await insertTrainingJob(database.pool, tenant);
    const run = `tj-${id}-1`;
    const pod = await stage.podOf(run);
    const row = () => maybeOneJob(database.pool, "training", id);
    await poll("the row to be queued", async () => (await row())?.status === "queued");
    expect((await row())?.platform_job_name).toBe(run);

    await startPod(cluster.admin, pod);
    const worker = stage.worker(pod);
    const work = await worker.work();
    if (work.kind !== "train") throw new Error("not the work of a training");
    expect(work.config.epochs).toBe(3);
    expect(work.feature_spec).toEqual({ id: "dsp", hash: "h" });
    expect(work.files.map((file) => file.reviewed).sort()).toEqual([false, true]);
    expect(work.files.flatMap((file) => file.annotations)).toEqual([
      { artifact_type: "click", start_ms: 100, end_ms: 150 },
    ]);
    expect(work.checkpoint).toBeNull();
    await poll("the row to be running", async () => (await row())?.status === "running");

    const seen: number[] = [];
    for (const epoch of [1, 2, 3]) {
      const metrics = [{ step: epoch, name: "val.f1", value: epoch / 4 }];
      const message = `Epoch ${epoch} of 3`;
      const done = { items_done: epoch, items_total: 3, fraction: epoch / 3, checkpoint_step: 60 * epoch };
      expect(await worker.report({ ...done, message, metrics })).toBe(204);
      await poll(`epoch ${epoch} in the row`, async () => (await row())?.status_message === message);
      seen.push((await row())!.progress_percent);
    }
    expect(seen).toEqual([33, 66, 99]);
    // The row comes first, the custom resource right after it.
    const cr = await poll("the last epoch in the custom resource", async () => {
      const now = await cluster.admin.get(trainingJobs, stage.ref(`tj-${id}`));
      return now.status?.progress?.itemsDone === 3 && now;
    });
    expect(cr.status?.phase).toBe("Running");
    expect(cr.status?.progress).toMatchObject({
      percent: 99,
      itemsDone: 3,
      itemsTotal: 3,
      message: "Epoch 3 of 3",
    });
    expect(cr.status?.metrics).toEqual([{ name: "val.f1", value: "0.75" }]);
    expect(cr.status?.checkpoint).toMatchObject({ key: `runs/${run}/checkpoint`, step: 180 });
    const reasons = Object.fromEntries(
      cr.status?.conditions?.map(({ type, reason }) => [type, reason]) ?? [],
    );
    expect(reasons).toMatchObject({ Checkpointed: "CheckpointWritten", StoreSynced: "RecordsUpdated" });
    expect(reasons).toMatchObject({ QuotaReserved: "Admitted", Progressing: "Reporting" });
    expect(Date.parse(cr.status?.admittedTime ?? "")).toBeLessThanOrEqual(
      Date.parse(cr.status?.startTime ?? ""),
    );

    const artifacts = {
      "model.onnx": "onnx",
      "weights.safetensors": "weights",
      "card.json": "{}",
      SHA256SUMS: "sums",
    };
    const targets = {
      "model.onnx": work.outputs.model,
      "weights.safetensors": work.outputs.weights,
      "card.json": work.outputs.card,
      SHA256SUMS: work.outputs.sums,
    };
    for (const [name, content] of Object.entries(artifacts))
      await put(targets[name as keyof typeof targets], content);
    const result = {
      version: 1,
      kind: "train",
      run,
      shard: 0,
      artifact_types: ["click"],
      architecture: { family: "tcn" },
      metrics: { overall: { f1: 0.9 } },
      artifacts: Object.entries(artifacts).map(([name, content]) => ({
        name,
        sha256: hex(content),
        size_bytes: content.length,
      })),
    };
    await put(work.result, JSON.stringify(result));
    await endPod(cluster.admin, pod, 0);

    await poll("the row to be completed", async () => (await row())?.status === "completed");
    expect((await row())?.progress_percent).toBe(100);
    const ended = await poll("the custom resource to end", async () => {
      const now = await cluster.admin.get(trainingJobs, stage.ref(`tj-${id}`));
      return now.status?.phase === "Succeeded" ? now : undefined;
    });
    expect(ended.status?.progress?.percent).toBe(100);
    expect(ended.status?.shards).toEqual({ total: 1, active: 0, succeeded: 1, failed: 0 });
    expect(ended.status?.artifacts).toEqual(
      Object.entries(artifacts).map(([name, content]) => ({
        name,
        key: `models/${tenant}/${id}/${run}/${name}`,
        sha256: hex(content),
        sizeBytes: content.length,
      })),
    );
    const modelName = `m-${ended.status?.modelId}`;
    const model = await poll("the Model to be ready", async () => {
      const now = await cluster.admin.get(models, stage.ref(modelName));
      return now.status?.phase === "Ready" ? now : undefined;
    });
    expect(model.spec.objectStoreKey).toBe(`models/${tenant}/${id}/${run}/model.onnx`);
    expect(model.status?.f1).toBe("0.900");
    const stored = await database.pool.one(sql.type(
      z.object({ name: z.string(), checksum_sha256: z.string() }),
    )`
      select name, checksum_sha256 from models where training_job_id = ${id}`);
    expect(stored).toEqual({ name: "voices v1", checksum_sha256: hex("onnx") });
    expect(await eventsOf(id)).toEqual(["queued", "running", "completed"]);
    const told = await poll("the event of the end", async () => {
      const { items } = await cluster.admin.list(events, stage.namespace);
      const reasons = items
        .filter(({ regarding }) => regarding.name === `tj-${id}`)
        .map(({ reason }) => reason);
      return reasons.includes("Succeeded") ? reasons : undefined;
    });
    expect(told.sort()).toEqual(["JobCreated", "Succeeded"]);
    const points = await database.pool.anyFirst(sql.type(z.object({ value: z.number() }))`
      select value from training_metrics where training_job_id = ${id} order by step`);
    expect(points).toEqual([0.25, 0.5, 0.75]);
  });
});

describe("uploads", () => {
  it("are gathered into one embedding job; a corrupt file fails alone", async () => {
    const tenant = await insertTenant(database.pool);
    const dataset = await insertDataset(database.pool, tenant);
    const files: string[] = [];
    // In one transaction, so that the operator gathers them together.
    await database.pool.transaction(async (tx) => {
      for (let n = 0; n < 3; n++) files.push(await insertConfirmedAudio(tx, tenant, dataset));
    });
    const jobId = await poll("an embedding job", () =>
      database.pool.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
        select id from embedding_jobs where tenant_id = ${tenant} limit 1`),
    );
    const mine = await database.pool.anyFirst(sql.type(z.object({ id: z.string() }))`
      select id from audio_files where embedding_job_id = ${jobId} order by uploaded_at, id`);
    const run = `ej-${jobId}-1`;
    const pod = await stage.podOf(run);
    await startPod(cluster.admin, pod);
    const worker = stage.worker(pod);
    const work = await worker.work();
    if (work.kind !== "embed") throw new Error("not the work of an embedding");
    expect(work.items.map((item) => item.id).sort()).toEqual([...mine].sort());
    const items = work.items.map((item, index) =>
      index === 0
        ? {
            id: item.id,
            status: "failed",
            error: { code: "corrupt", message: "The file ends in the middle of a frame." },
          }
        : {
            id: item.id,
            status: "completed",
            duration_ms: 1000,
            sample_rate_hz: 48000,
            channels: 1,
            sha256: hex(item.id),
            size_bytes: 10,
            codec: "pcm_s16le",
            frames: 100,
            embedding: { sha256: hex("e"), size_bytes: 4 },
          },
    );
    const feature_spec = { id: "dsp-mr1", hash: "abc", dims: 8, hop_ms: 10 };
    await put(work.result, JSON.stringify({ version: 1, kind: "embed", run, shard: 0, feature_spec, items }));
    await endPod(cluster.admin, pod, 0);
    await poll(
      "the row to be completed",
      async () => (await maybeOneJob(database.pool, "embedding", jobId))?.status === "completed",
    );
    const shape = z.object({
      id: z.string(),
      status: z.string(),
      error_message: z.string().nullable(),
      embedding_key: z.string().nullable(),
    });
    const rows = await database.pool.any(sql.type(shape)`
      select id, status, error_message, embedding_key from audio_files where embedding_job_id = ${jobId}`);
    for (const row of rows) {
      if (row.id === work.items[0]?.id)
        expect(row).toMatchObject({
          status: "failed",
          error_message: "The file ends in the middle of a frame.",
        });
      else
        expect(row).toMatchObject({
          status: "ready",
          embedding_key: `embeddings/${tenant}/${row.id}/${run}.safetensors`,
        });
    }
    await poll("the custom resource to succeed", async () => {
      const cr = await cluster.admin.get(embeddingJobs, stage.ref(`ej-${jobId}`));
      return cr.status?.phase === "Succeeded" && cr.status.progress?.percent === 100;
    });
  });
});

describe("an inference job", () => {
  it("ingests the detections of each shard while the others run; a failed shard fails only its files", async () => {
    const tenant = await insertTenant(database.pool);
    const model = await insertModel(database.pool, tenant);
    const { id, files } = await insertInferenceJob(database.pool, tenant, model, 2);
    const run = `ij-${id}-1`;
    const counts = () =>
      database.pool.one(sql.type(
        z.object({
          status: z.string(),
          processed_files: z.int(),
          failed_files: z.int(),
          total_detections: z.number(),
        }),
      )`
        select status, processed_files, failed_files, total_detections from inference_jobs where id = ${id}`);

    const first = await stage.podOf(run, 0);
    await startPod(cluster.admin, first);
    const work = await stage.worker(first).work();
    if (work.kind !== "detect") throw new Error("not the work of a detection");
    expect(work.items.map((item) => item.id)).toEqual([files[0]]);
    const detections = [
      { artifact_type: "click", start_ms: 10, end_ms: 20, confidence: 0.9 },
      { artifact_type: "click", start_ms: 30, end_ms: 30, confidence: 0.5 },
    ];
    const facts = { duration_ms: 1000, sample_rate_hz: 8000, channels: 1, sha256: hex("x"), size_bytes: 10 };
    const items = [{ id: files[0], status: "completed", ...facts, detections }];
    await put(work.result, JSON.stringify({ version: 1, kind: "detect", run, shard: 0, items }));
    await endPod(cluster.admin, first, 0);
    await poll("the first shard's detections", async () => (await counts()).total_detections === 2);
    await poll("the row to be running", async () => (await counts()).status === "running");

    const second = await stage.podOf(run, 1);
    const said = {
      code: "input_missing",
      message: "The audio is gone.",
      hint: null,
      shard: 1,
      item: null,
      items_done: 0,
      items_total: 1,
      items_failed: 0,
    };
    await startPod(cluster.admin, second);
    await endPod(cluster.admin, second, 66, JSON.stringify(said));
    await poll("the row to end", async () => (await counts()).status === "completed");
    expect(await counts()).toEqual({
      status: "completed",
      processed_files: 2,
      failed_files: 1,
      total_detections: 2,
    });
    const reason = await database.pool.oneFirst(sql.type(z.object({ error_message: z.string() }))`
      select error_message from inference_files where id = ${files[1]!}`);
    expect(reason).toBe("The audio is gone.");
    const cr = await poll("the custom resource to succeed", async () => {
      const now = await cluster.admin.get(inferenceJobs, stage.ref(`ij-${id}`));
      return now.status?.phase === "Succeeded" ? now : undefined;
    });
    expect(cr.status?.shards).toEqual({ total: 2, active: 0, succeeded: 1, failed: 1 });
  });
});

describe("a worker's pod", () => {
  it("passes Pod Security restricted and holds no credential", async () => {
    const tenant = await insertTenant(database.pool);
    const id = await insertTrainingJob(database.pool, tenant);
    const pod = await stage.podOf(`tj-${id}-1`);
    // The namespace enforces "restricted", so the existence of the pod proves the first half.
    const spec = JSON.stringify(pod.spec);
    expect(spec).not.toMatch(/secretKeyRef|secretName|access_?key|password/i);
    const sources = (pod.spec as { volumes: { name: string; projected?: { sources: object[] } }[] }).volumes;
    expect(sources.map(({ name }) => name)).toEqual(["token", "ca", "scratch"]);
    expect(sources[0]?.projected?.sources).toEqual([
      { serviceAccountToken: { audience: "plosive-runs", expirationSeconds: 3600, path: "token" } },
    ]);
    const job = await cluster.admin.get(jobs, stage.ref(`tj-${id}-1`));
    expect(job.spec).toMatchObject({
      completionMode: "Indexed",
      podReplacementPolicy: "Failed",
      backoffLimitPerIndex: 2,
    });
  });
});

describe("the settled operator", () => {
  it("sends no request for jobs that have ended", async () => {
    const tenant = await insertTenant(database.pool);
    const model = await insertModel(database.pool, tenant);
    const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
    await stage.podOf(`ij-${id}-1`);
    const ref = stage.ref(`ij-${id}`);
    await cluster.admin.patch(inferenceJobs, ref, { spec: { cancel: { reason: "enough" } } });
    await poll(
      "the job to be cancelled",
      async () => (await cluster.admin.get(inferenceJobs, ref)).status?.phase === "Cancelled",
    );
    await poll(
      "the Job to be gone",
      async () => (await cluster.admin.find(jobs, stage.ref(`ij-${id}-1`))) === undefined,
    );
    // Renewals of the lease are the only other requests (PUT).
    const asked = () => stage.operator.requests.filter((line) => !line.startsWith("PUT")).length;
    const looks = async () =>
      (await scrape(stage.operator.metricsPort)).value("controller_runtime_reconcile_total", {
        controller: "inferencejobs",
      }) ?? 0;
    // The events about the end may still be in flight: the test measures only what follows them.
    await untilIdle(stage.operator);
    const before = { asked: asked(), looks: await looks() };
    await cluster.admin.patch(inferenceJobs, ref, { metadata: { labels: { touched: "yes" } } });
    await poll("the operator to have looked at the change", async () => (await looks()) > before.looks);
    await untilIdle(stage.operator);
    expect(asked()).toBe(before.asked);
  });
});
