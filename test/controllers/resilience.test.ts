// What happens when something breaks in the middle: the operator restarts, a pod is deleted, the API server is away,
// results are delivered again, a Job is deleted by hand. No Job exists twice and nothing is taken in twice.
import { createHash } from "node:crypto";
import { sql } from "slonik";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { endJob, ingestDetections } from "../../src/db/ingest.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { inferenceJobs, jobs, pods, trainingJobs } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { keys } from "../../src/schemas/job-kind.ts";
import type { DetectResult } from "../../src/schemas/worker.ts";
import { type TestNamespace, useCluster } from "../support/kube.ts";
import {
  endPod,
  jobsOf,
  patchStatus,
  podOf,
  put,
  runOperator,
  startPod,
  type TestOperator,
  Worker,
} from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
let space: TestNamespace;
let operator: TestOperator;
let tenant: string;
const start = () =>
  runOperator({ cluster, namespace: space, databaseUrl: database.url, storage: store.config });

beforeEach(async () => {
  space = await cluster.namespace();
  tenant = await insertTenant(database.pool);
  operator = await start();
});
afterEach(async () => {
  // Another test's operator must not find this one's rows.
  await operator.stop();
  for (const table of ["detections", "inference_jobs", "models", "training_jobs", "embedding_jobs"])
    await database.execute(sql.fragment`delete from ${sql.identifier([table])}`);
});

const training = (id: string) => maybeOneJob(database.pool, "training", id);
const inference = (id: string) => maybeOneJob(database.pool, "inference", id);
const names = async () => (await jobsOf(cluster.admin, space.name)).map(({ metadata }) => metadata.name);
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const hex = (text: string) => createHash("sha256").update(text).digest("hex");

function detectionsOf(run: string, shard: number, file: string): DetectResult {
  const detections = [{ artifact_type: "click", start_ms: 10, end_ms: 20, confidence: 0.9 }];
  const facts = { duration_ms: 1000, sample_rate_hz: 8000, channels: 1, sha256: hex(file), size_bytes: 10 };
  return {
    version: 1,
    kind: "detect",
    run,
    shard,
    items: [{ id: file, status: "completed", ...facts, detections }],
  };
}

async function finishDetection(run: string, shard: number, file: string): Promise<void> {
  const pod = await podOf(cluster.admin, space.name, run, shard);
  await startPod(cluster.admin, pod);
  const work = await new Worker(cluster, () => operator, pod).work();
  await put(work.result, JSON.stringify(detectionsOf(run, shard, file)));
  await endPod(cluster.admin, pod, 0);
}

describe("the operator", () => {
  it("restarted in the middle of a job, goes on with the same Job and takes each result in once", async () => {
    const model = await insertModel(database.pool, tenant);
    const { id, files } = await insertInferenceJob(database.pool, tenant, model, 2);
    const run = `ij-${id}-1`;
    await finishDetection(run, 0, files[0]!);
    const second = await podOf(cluster.admin, space.name, run, 1);
    await startPod(cluster.admin, second);
    const work = await new Worker(cluster, () => operator, second).work();
    await operator.stop();
    // While nobody leads the shard ends, and its result waits in the object store.
    await put(work.result, JSON.stringify(detectionsOf(run, 1, files[1]!)));
    await endPod(cluster.admin, second, 0);
    operator = await start();
    await poll("the row to be completed", async () => (await inference(id))?.status === "completed");
    expect(await names()).toEqual([run]);
    const ingests = await database.pool.anyFirst(sql.type(z.object({ shard: z.int() }))`
      select shard from result_ingests where run_id = ${run} order by shard`);
    expect(ingests).toEqual([0, 1]);
    const total = await database.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
      select count(*)::int as count from detections where inference_job_id = ${id}`);
    expect(total).toBe(2);
  });

  it("that has ended the row but not yet written the status, repeats only what is missing", async () => {
    const model = await insertModel(database.pool, tenant);
    const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
    await podOf(cluster.admin, space.name, `ij-${id}-1`);
    await operator.stop();
    await database.execute(sql.fragment`
      update inference_jobs set status = 'failed', error_message = 'The disk is full.', completed_at = now() where id = ${id}`);
    operator = await start();
    const ref = { namespace: space.name, name: `ij-${id}` };
    const cr = await poll("the custom resource to fail too", async () => {
      const now = await cluster.admin.get(inferenceJobs, ref);
      return now.status?.phase === "Failed" ? now : undefined;
    });
    expect(cr.status?.failure?.message).toBe("The disk is full.");
    await poll("the Job to be gone", async () => (await names()).length === 0);
  });

  it("says after a crash, too, that every file had failed", async () => {
    const model = await insertModel(database.pool, tenant);
    const { id, files } = await insertInferenceJob(database.pool, tenant, model, 1);
    const run = `ij-${id}-1`;
    const pod = await podOf(cluster.admin, space.name, run);
    await poll("the row to name the run", async () => (await inference(id))?.platform_job_name === run);
    await operator.stop();
    const error = { code: "corrupt_audio", message: "It is noise." };
    const items: DetectResult["items"] = [{ id: files[0]!, status: "failed", error }];
    const result: DetectResult = { ...detectionsOf(run, 0, files[0]!), items };
    await store.storage.write(keys.result(run, 0), JSON.stringify(result));
    await endPod(cluster.admin, pod, 0);
    await poll("the Job to be complete", async () => {
      const { status } = await cluster.admin.get(jobs, { namespace: space.name, name: run });
      return status?.conditions?.some((condition) => condition.type === "Complete");
    });
    // As far as it came: the result is in and the row has ended.
    const ref = { jobId: id, run, shard: 0 };
    expect(await ingestDetections(database.pool, ref, "d", result)).toBe("ingested");
    await endJob(database.pool, "inference", id, {
      status: "completed",
      statusMessage: null,
      errorMessage: null,
    });
    operator = await start();
    const cr = await poll("the custom resource to fail", async () => {
      const now = await cluster.admin.get(inferenceJobs, { namespace: space.name, name: `ij-${id}` });
      return now.status?.phase === "Failed" ? now : undefined;
    });
    expect(cr.status?.failure).toMatchObject({
      class: "User",
      code: "all_items_failed",
      message: "The file could not be processed.",
      retryable: false,
    });
  });

  it("says the end before it deletes the Job: until then all that led to it can be asked again", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    const ref = { namespace: space.name, name: `tj-${id}` };
    const pod = await podOf(cluster.admin, space.name, `tj-${id}-1`);
    await startPod(cluster.admin, pod);
    await poll(
      "it to run",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Running",
    );
    const before = operator.requests.length;
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "enough" } } });
    const writes = () => operator.requests.slice(before).filter((line) => /^(PATCH|DELETE) /.test(line));
    await poll("the Job to be deleted", () => writes().includes("DELETE 200"));
    expect(writes()).toEqual(["PATCH 200", "DELETE 200"]);
  });

  it("counts pods that were taken away and were gone before it ran", async () => {
    const model = await insertModel(database.pool, tenant);
    const { id } = await insertInferenceJob(database.pool, tenant, model, 1);
    const retries = { perShard: 0, infraPerShard: 1 };
    await createResource(cluster.admin, space.name, database.pool, { kind: "inference", id }, { retries });
    const [run, name] = [`ij-${id}-1`, `ij-${id}`];
    const first = await podOf(cluster.admin, space.name, run);
    await operator.stop();
    const terminated = { exitCode: 143, finishedAt: new Date().toISOString(), startedAt: ago(5) };
    const taken = (pod: Pod, message: string) =>
      patchStatus(cluster.admin, pod, "Failed", { terminated }, [
        { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler", message },
      ]);
    await taken(first, "Preempted.");
    const second = await poll(
      "another pod",
      async () => {
        const pod = await podOf(cluster.admin, space.name, run);
        return pod.metadata.uid === first.metadata.uid ? undefined : pod;
      },
      60_000,
    );
    await cluster.admin.remove(pods, first.metadata);
    await poll("the first one to be gone", async () => {
      return (await cluster.admin.find(pods, first.metadata)) === undefined;
    });
    operator = await start();
    await operator.leading;
    await poll("the second one to be known", async () => {
      const cr = await cluster.admin.get(inferenceJobs, { namespace: space.name, name });
      return cr.status?.runId === run;
    });
    await taken(second, "Its node is gone.");
    const cr = await poll("the job to fail", async () => {
      const now = await cluster.admin.get(inferenceJobs, { namespace: space.name, name });
      return now.status?.phase === "Failed" ? now : undefined;
    });
    expect(cr.status?.failure).toMatchObject({
      code: "disrupted",
      message: "Its node is gone. That happened 2 times to shard 0.",
    });
  }, 120_000);

  it("stops leading when it is told to, and a standby takes over within three seconds", async () => {
    const standby = await runOperator({
      cluster,
      namespace: space,
      databaseUrl: database.url,
      storage: store.config,
      identity: "standby",
    });
    try {
      await operator.leading;
      expect(standby.leads()).toBe(false);
      const began = performance.now();
      await operator.stop();
      await standby.leading;
      expect(performance.now() - began).toBeLessThan(3_000);
      const id = await insertTrainingJob(database.pool, tenant);
      await podOf(cluster.admin, space.name, `tj-${id}-1`);
    } finally {
      operator = standby;
    }
  });
});

describe("a training pod that is deleted", () => {
  it("is replaced on the same index, and the new one is offered the checkpoint", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    const run = `tj-${id}-1`;
    const first = await podOf(cluster.admin, space.name, run);
    await startPod(cluster.admin, first);
    const worker = new Worker(cluster, () => operator, first);
    const work = await worker.work();
    if (work.kind !== "train") throw new Error("not the work of a training");
    await put(work.outputs.checkpoint, "weights so far");
    await worker.report({ items_done: 2, items_total: 3, fraction: 0.6, message: "Epoch 2 of 3" });
    await poll("the percent", async () => (await training(id))?.progress_percent === 60);

    await cluster.admin.remove(pods, first.metadata);
    // The kubelet's part: the container got SIGTERM and ended.
    await endPod(cluster.admin, first, 143).catch(() => undefined);
    const second = await poll("the new pod", async () => {
      const pod = await podOf(cluster.admin, space.name, run);
      return pod.metadata.uid === first.metadata.uid ? undefined : pod;
    });
    const again = await new Worker(cluster, () => operator, second).work();
    if (again.kind !== "train") throw new Error("not the work of a training");
    expect(again.checkpoint?.size_bytes).toBe("weights so far".length);
    expect(await (await fetch(again.checkpoint!.url)).text()).toBe("weights so far");
    await startPod(cluster.admin, second);
    await new Worker(cluster, () => operator, second).report({
      items_done: 1,
      items_total: 3,
      fraction: 0.4,
      message: "Epoch 1 of 3",
    });
    await poll("the new report", async () => (await training(id))?.status_message === "Epoch 1 of 3");
    expect((await training(id))?.progress_percent).toBe(60);
    expect(await names()).toEqual([run]);
  });
});

describe("a Job that is deleted by hand", () => {
  it("becomes a new attempt while its job goes on, and stays away once it was cancelled", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    await podOf(cluster.admin, space.name, `tj-${id}-1`);
    const ref = { namespace: space.name, name: `tj-${id}` };
    await poll(
      "the run in the status",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.runId === `tj-${id}-1`,
    );
    await cluster.admin.remove(jobs, { namespace: space.name, name: `tj-${id}-1` });
    await podOf(cluster.admin, space.name, `tj-${id}-2`);
    await poll(
      "the row to name the new run",
      async () => (await training(id))?.platform_job_name === `tj-${id}-2`,
    );
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "no longer needed" } } });
    await poll("the row to be cancelled", async () => (await training(id))?.status === "cancelled");
    await poll("the Job to be gone", async () => (await names()).length === 0);
    await operator.stop();
    operator = await start();
    await operator.leading;
    await poll("the new leader to look at it", async () => operator.requests.length > 10);
    expect(await names()).toEqual([]);
  });
});

describe("a Job that is made for a job that has ended", () => {
  it("is deleted: a leader that was frozen on its way to create it knew nothing of the end", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    const [ref, run] = [
      { namespace: space.name, name: `tj-${id}` },
      { namespace: space.name, name: `tj-${id}-1` },
    ];
    await podOf(cluster.admin, space.name, run.name);
    const { metadata, spec } = await cluster.admin.get(jobs, run);
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "enough" } } });
    await poll(
      "the end",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Cancelled",
    );
    await poll("the Job to be gone", async () => (await names()).length === 0);
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
    const id = await insertTrainingJob(database.pool, tenant);
    const run = `tj-${id}-1`;
    await podOf(cluster.admin, space.name, run);
    const ref = { namespace: space.name, name: `tj-${id}` };
    await cluster.admin.patch(trainingJobs, ref, { spec: { suspend: true } });
    await poll(
      "the suspension",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Suspended",
    );
    await poll("no pods", async () => {
      const { items } = await cluster.admin.list(pods, space.name, { labelSelector: `job-name=${run}` });
      return items.every(
        ({ metadata, status }) => metadata.deletionTimestamp !== undefined || status?.phase === "Failed",
      );
    });
    expect((await training(id))?.status).toBe("queued");
    await cluster.admin.patch(trainingJobs, ref, { spec: { suspend: false } });
    await podOf(cluster.admin, space.name, run);
    expect(await names()).toEqual([run]);
  });
});

describe("a pod that cannot start", () => {
  it("shows the kubelet's words in the row and the custom resource, and fails the job at its deadline", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    const ref = { namespace: space.name, name: `tj-${id}` };
    const spec = { pendingDeadlineSeconds: 4 };
    await createResource(cluster.admin, space.name, database.pool, { kind: "training", id }, spec);
    const pod = await podOf(cluster.admin, space.name, `tj-${id}-1`);
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
  it("without a row is not accepted and runs nothing", async () => {
    const name = "tj-00000000-0000-4000-8000-000000000000";
    const id = "00000000-0000-4000-8000-000000000001";
    await cluster.admin.create(trainingJobs, {
      metadata: { name, namespace: space.name },
      spec: {
        tenantId: id,
        datasetId: id,
        annotationSetId: id,
        shards: { count: 1 },
        config: { artifact_types: ["click"] },
      },
    } as unknown as Parameters<typeof cluster.admin.create<NonNullable<typeof trainingJobs.object>>>[1]);
    const cr = await poll("the refusal", async () => {
      const now = await cluster.admin.get(trainingJobs, { namespace: space.name, name });
      return now.status?.conditions === undefined ? undefined : now;
    });
    expect(cr.status?.conditions).toMatchObject([
      { type: "Accepted", status: "False", reason: "RowMissing" },
      { type: "Progressing", status: "False", reason: "RowMissing" },
    ]);
    expect(await names()).toEqual([]);
  });

  it("deleted by hand ends its row as cancelled", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    await podOf(cluster.admin, space.name, `tj-${id}-1`);
    await poll("the row to be queued", async () => (await training(id))?.status === "queued");
    await cluster.admin.remove(trainingJobs, { namespace: space.name, name: `tj-${id}` });
    await poll("the row to be cancelled", async () => (await training(id))?.status === "cancelled");
    await poll("the Job to be gone", async () => (await names()).length === 0, 40_000);
  });
});

describe("results that are delivered again", () => {
  it("change nothing, and another result of the same shard is refused", async () => {
    const model = await insertModel(database.pool, tenant);
    const { id, files } = await insertInferenceJob(database.pool, tenant, model, 2);
    const run = `ij-${id}-1`;
    await podOf(cluster.admin, space.name, run);
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
    // A pod cannot speak for the files of another shard.
    const foreign = { ...detectionsOf(run, 1, files[0]!), shard: 1 };
    expect(await ingestDetections(database.pool, { ...ref, shard: 1 }, "d3", foreign)).toBe("ingested");
    const counts = await database.pool.one(sql.type(
      z.object({ processed_files: z.int(), failed_files: z.int(), total_detections: z.number() }),
    )`
      select processed_files, failed_files, total_detections from inference_jobs where id = ${id}`);
    expect(counts).toEqual({ processed_files: 2, failed_files: 1, total_detections: 1 });
  });
});

describe("a row that Kubernetes will never take", () => {
  it("fails with the reason and does not hold up the rows behind it", async () => {
    const refused = await insertTrainingJob(database.pool, tenant);
    await database.execute(sql.fragment`
      update training_jobs set config = config || '{"artifact_types": ["not/allowed"]}' where id = ${refused}`);
    const fine = await insertTrainingJob(database.pool, tenant);
    await poll("the row to fail", async () => (await training(refused))?.status === "failed");
    expect((await training(refused))?.error_message).toMatch(/^Kubernetes refused the job: .*artifact_types/);
    await poll("the other row", async () => (await training(fine))?.status === "queued");
  });
});
