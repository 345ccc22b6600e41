// Changes that people make with kubectl while a job runs: they delete pods, Jobs and resources, and suspend jobs. The test
// takes the place of the kubelet and of the workers.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { maybeOneJob } from "../../src/db/job.ts";
import { ingestDetections } from "../../src/db/operator/ingest.ts";
import { jobs, pods, trainingJobs } from "../../src/kube/kinds.ts";
import { endPod, patchStatus, podOf, put, startPod, Worker } from "../support/operator.ts";
import { detectionsOf, useOperatorAnew } from "../support/operator-anew.ts";
import { poll } from "../support/poll.ts";
import { execute } from "../support/postgres.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTrainingJob } from "../support/rows.ts";

const stage = useOperatorAnew();
const { cluster, database } = stage;

const training = (id: string) => maybeOneJob(database.pool, "training", id);
const inference = (id: string) => maybeOneJob(database.pool, "inference", id);

describe("a training pod that is deleted", () => {
  it("is replaced on the same index; the new pod gets the checkpoint, and the percent does not fall", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    const run = `tj-${id}-1`;
    const first = await podOf(cluster.admin, stage.space.name, run);
    await startPod(cluster.admin, first);
    const worker = new Worker(cluster, () => stage.operator, first);
    const work = await worker.work();
    if (work.kind !== "train") throw new Error("not the work of a training");
    await put(work.outputs.checkpoint, "weights so far");
    await worker.report({ items_done: 2, items_total: 3, fraction: 0.6, message: "Epoch 2 of 3" });
    await poll("the percent", async () => (await training(id))?.progress_percent === 60);

    await cluster.admin.remove(pods, first.metadata);
    // As the kubelet does: the container got SIGTERM and ended.
    await endPod(cluster.admin, first, 143).catch(() => undefined);
    const second = await poll("the new pod", async () => {
      const pod = await podOf(cluster.admin, stage.space.name, run);
      return pod.metadata.uid === first.metadata.uid ? undefined : pod;
    });
    const again = await new Worker(cluster, () => stage.operator, second).work();
    if (again.kind !== "train") throw new Error("not the work of a training");
    expect(again.checkpoint?.size_bytes).toBe("weights so far".length);
    expect(await (await fetch(again.checkpoint!.url)).text()).toBe("weights so far");
    await startPod(cluster.admin, second);
    await new Worker(cluster, () => stage.operator, second).report({
      items_done: 1,
      items_total: 3,
      fraction: 0.4,
      message: "Epoch 1 of 3",
    });
    await poll("the new report", async () => (await training(id))?.status_message === "Epoch 1 of 3");
    expect((await training(id))?.progress_percent).toBe(60);
    expect(await stage.jobNames()).toEqual([run]);
  });
});

describe("a Job whose owner reference is removed by hand", () => {
  it("is deleted, and the job goes on with its next run alone", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    const run = `tj-${id}-1`;
    await podOf(cluster.admin, stage.space.name, run);
    await cluster.admin.patch(jobs, { namespace: stage.space.name, name: run }, {
      metadata: { ownerReferences: null },
    } as never);
    await poll("the next run alone", async () => {
      const names = await stage.jobNames();
      return names.length === 1 && names[0] === `tj-${id}-2`;
    });
  });
});

describe("a Job that is deleted by hand", () => {
  it("is replaced by a new attempt while its job is open, and is not replaced after a cancel", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    await podOf(cluster.admin, stage.space.name, `tj-${id}-1`);
    const ref = { namespace: stage.space.name, name: `tj-${id}` };
    await poll(
      "the run in the status",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.runId === `tj-${id}-1`,
    );
    await cluster.admin.remove(jobs, { namespace: stage.space.name, name: `tj-${id}-1` });
    await podOf(cluster.admin, stage.space.name, `tj-${id}-2`);
    await poll(
      "the row to name the new run",
      async () => (await training(id))?.platform_job_name === `tj-${id}-2`,
    );
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "no longer needed" } } });
    await poll("the row to be cancelled", async () => (await training(id))?.status === "cancelled");
    await poll("the Job to be gone", async () => (await stage.jobNames()).length === 0);
    await stage.operator.stop();
    stage.operator = await stage.start();
    await stage.operator.leading;
    await poll("the new leader to look at it", async () => stage.operator.requests.length > 10);
    expect(await stage.jobNames()).toEqual([]);
  });
});

describe("a Job that is created for a job that has ended", () => {
  it("is deleted, because a frozen leader may create it late", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    const [ref, run] = [
      { namespace: stage.space.name, name: `tj-${id}` },
      { namespace: stage.space.name, name: `tj-${id}-1` },
    ];
    await podOf(cluster.admin, stage.space.name, run.name);
    const { metadata, spec } = await cluster.admin.get(jobs, run);
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "enough" } } });
    await poll(
      "the end",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Cancelled",
    );
    await poll("the Job to be gone", async () => (await stage.jobNames()).length === 0);
    const { ownerReferences, labels } = metadata;
    const late = await cluster.admin.create(jobs, {
      metadata: { ...run, ownerReferences, labels },
      spec: {
        suspend: true,
        template: { spec: spec.template.spec },
      },
    });
    await poll(
      "the late Job to be gone",
      async () => (await cluster.admin.find(jobs, run))?.metadata.uid !== late.metadata.uid,
    );
    expect((await training(id))?.status).toBe("cancelled");
  });
});

describe("a job that is suspended", () => {
  it("runs no pods until it is resumed", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    const run = `tj-${id}-1`;
    await podOf(cluster.admin, stage.space.name, run);
    const ref = { namespace: stage.space.name, name: `tj-${id}` };
    await cluster.admin.patch(trainingJobs, ref, { spec: { suspend: true } });
    await poll(
      "the suspension",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Suspended",
    );
    await poll("no pods", async () => {
      const { items } = await cluster.admin.list(pods, stage.space.name, {
        labelSelector: `job-name=${run}`,
      });
      return items.every(
        ({ metadata, status }) => metadata.deletionTimestamp !== undefined || status?.phase === "Failed",
      );
    });
    expect((await training(id))?.status).toBe("queued");
    await cluster.admin.patch(trainingJobs, ref, { spec: { suspend: false } });
    await podOf(cluster.admin, stage.space.name, run);
    expect(await stage.jobNames()).toEqual([run]);
  });
});

describe("a pod that cannot start", () => {
  it("shows the kubelet's message in the row, and fails the job at its pending deadline", async () => {
    const { id } = await createResource(
      cluster.admin,
      stage.space.name,
      database.pool,
      "training",
      async (tx) => ({ id: await insertTrainingJob(tx, stage.tenant) }),
      { pendingDeadlineSeconds: 15 },
    );
    const ref = { namespace: stage.space.name, name: `tj-${id}` };
    const pod = await podOf(cluster.admin, stage.space.name, `tj-${id}-1`);
    const waiting = { waiting: { reason: "ImagePullBackOff", message: "no such image" } };
    await patchStatus(cluster.admin, pod, "Pending", waiting);
    await poll(
      "the words in the row",
      async () => (await training(id))?.status_message === "ImagePullBackOff: no such image",
    );
    await poll("the row to fail", async () => (await training(id))?.status === "failed");
    const cr = await poll("the custom resource to fail", async () => {
      const now = await cluster.admin.get(trainingJobs, ref);
      return now.status?.phase === "Failed" ? now : undefined;
    });
    expect(cr.status?.failure).toMatchObject({ class: "System", code: "image_unavailable" });
    expect((await training(id))?.error_message).toContain("ImagePullBackOff: no such image");
  });
});

describe("a custom resource", () => {
  it("without a row is refused and gets no Job", async () => {
    const name = "tj-00000000-0000-4000-8000-000000000000";
    const id = "00000000-0000-4000-8000-000000000001";
    await cluster.admin.create(trainingJobs, {
      metadata: { name, namespace: stage.space.name },
      spec: {
        tenantId: id,
        datasetId: id,
        annotationSetId: id,
        shards: { count: 1 },
        config: { artifact_types: ["click"] },
      },
    } as unknown as Parameters<typeof cluster.admin.create<NonNullable<typeof trainingJobs.object>>>[1]);
    const cr = await poll("the refusal", async () => {
      const now = await cluster.admin.get(trainingJobs, { namespace: stage.space.name, name });
      return now.status?.conditions === undefined ? undefined : now;
    });
    expect(cr.status?.conditions).toMatchObject([
      { type: "Accepted", status: "False", reason: "RowMissing" },
      { type: "Progressing", status: "False", reason: "RowMissing" },
      { type: "Ready", status: "False", reason: "RowMissing" },
    ]);
    expect(await stage.jobNames()).toEqual([]);
  });

  it("that is deleted by hand leaves a cancelled row and no Job", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    await podOf(cluster.admin, stage.space.name, `tj-${id}-1`);
    await poll("the row to be queued", async () => (await training(id))?.status === "queued");
    await cluster.admin.remove(trainingJobs, { namespace: stage.space.name, name: `tj-${id}` });
    await poll("the row to be cancelled", async () => (await training(id))?.status === "cancelled");
    await poll("the Job to be gone", async () => (await stage.jobNames()).length === 0);
  });
});

describe("results that are delivered again", () => {
  it("change nothing; a different result of the same shard, or one of another run, is refused", async () => {
    const model = await insertModel(database.pool, stage.tenant);
    const { id, files } = await insertInferenceJob(database.pool, stage.tenant, model, 2);
    const run = `ij-${id}-1`;
    await podOf(cluster.admin, stage.space.name, run);
    await poll("the row to name its run", async () => (await inference(id))?.platform_job_name === run);
    const ref = { jobId: id, run, shard: 0 };
    const result = detectionsOf(run, 0, files[0]!);
    const deliver = (digest: string, value = result) => ingestDetections(database.pool, ref, digest, value);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => deliver("d1")));
    expect(outcomes.sort()).toEqual([
      "duplicate",
      "duplicate",
      "duplicate",
      "duplicate",
      "duplicate",
      "ingested",
    ]);
    expect(await deliver("d2", { ...result, items: [] })).toBe("differs");
    expect(await ingestDetections(database.pool, { ...ref, run: `ij-${id}-9` }, "d1", result)).toBe("fenced");
    // A pod cannot report results for the files of another shard.
    const foreign = { ...detectionsOf(run, 1, files[0]!), shard: 1 };
    expect(await ingestDetections(database.pool, { ...ref, shard: 1 }, "d3", foreign)).toBe("ingested");
    const counts = await database.pool.one(sql.type(
      z.object({ processed_files: z.int(), failed_files: z.int(), total_detections: z.number() }),
    )`
      select processed_files, failed_files, total_detections from inference_jobs where id = ${id}`);
    expect(counts).toEqual({ processed_files: 2, failed_files: 1, total_detections: 1 });
  });
});

describe("a row that Kubernetes rejects permanently", () => {
  it("fails with the reason and does not block the rows behind it", async () => {
    // In one transaction, so that the sweep does not submit the row before it is wrong.
    const refused = await database.pool.transaction(async (tx) => {
      const job = await insertTrainingJob(tx, stage.tenant);
      await execute(
        tx,
        sql.fragment`
          update training_jobs set config = config || '{"artifact_types": ["not/allowed"]}' where id = ${job}`,
      );
      return job;
    });
    const fine = await insertTrainingJob(database.pool, stage.tenant);
    await poll("the row to fail", async () => (await training(refused))?.status === "failed");
    expect((await training(refused))?.error_message).toMatch(/^Kubernetes refused the job: .*artifact_types/);
    await poll("the other row", async () => (await training(fine))?.status === "queued");
  });
});
