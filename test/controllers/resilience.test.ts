// Restarts and crashes of the operator at the worst moments of a job, and pods that were deleted while no operator ran. The
// test takes the place of the kubelet and of the workers.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { purgeNextBatch } from "../../controllers/purge-queue.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { endJob, ingestDetections } from "../../src/db/operator/ingest.ts";
import { events, inferenceJobs, jobs, pods, trainingJobs } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { makeLog } from "../../src/log.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { keys } from "../../src/schemas/job-kind.ts";
import type { DetectResult } from "../../src/schemas/worker.ts";
import { endPod, patchStatus, podOf, put, runOperator, startPod, Worker } from "../support/operator.ts";
import { detectionsOf, useOperatorAnew } from "../support/operator-anew.ts";
import { poll } from "../support/poll.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTrainingJob } from "../support/rows.ts";

const stage = useOperatorAnew();
const { cluster, database, store } = stage;

const inference = (id: string) => maybeOneJob(database.pool, "inference", id);
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

async function finishDetection(run: string, shard: number, file: string): Promise<void> {
  const pod = await podOf(cluster.admin, stage.space.name, run, shard);
  await startPod(cluster.admin, pod);
  const work = await new Worker(cluster, () => stage.operator, pod).work();
  await put(work.result, JSON.stringify(detectionsOf(run, shard, file)));
  await endPod(cluster.admin, pod, 0);
}

describe("the operator", () => {
  it("restarted in the middle of a job, continues with the same Job and ingests each result once", async () => {
    const model = await insertModel(database.pool, stage.tenant);
    const { id, files } = await insertInferenceJob(database.pool, stage.tenant, model, 2);
    const run = `ij-${id}-1`;
    await finishDetection(run, 0, files[0]!);
    const second = await podOf(cluster.admin, stage.space.name, run, 1);
    await startPod(cluster.admin, second);
    const work = await new Worker(cluster, () => stage.operator, second).work();
    await stage.operator.stop();
    // The shard ends while there is no leader, and its result waits in the object store.
    await put(work.result, JSON.stringify(detectionsOf(run, 1, files[1]!)));
    await endPod(cluster.admin, second, 0);
    stage.operator = await stage.start();
    await poll("the row to be completed", async () => (await inference(id))?.status === "completed");
    expect(await stage.jobNames()).toEqual([run]);
    const ingests = await database.pool.anyFirst(sql.type(z.object({ shard: z.int() }))`
      select shard from result_ingests where run_id = ${run} order by shard`);
    expect(ingests).toEqual([0, 1]);
    const total = await database.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
      select count(*)::int as count from detections where inference_job_id = ${id}`);
    expect(total).toBe(2);
  });

  it("that got no response to the last status, emits the event of the end", async () => {
    const { id } = await createResource(
      cluster.admin,
      stage.space.name,
      database.pool,
      "training",
      async (tx) => ({ id: await insertTrainingJob(tx, stage.tenant) }),
      { suspend: true },
    );
    const ref = { namespace: stage.space.name, name: `tj-${id}` };
    await poll("the resource to be suspended", async () => {
      return (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Suspended";
    });
    // As the operator writes it.
    const at = new Date().toISOString();
    const end = { type: "Failed", status: "True", reason: "SystemError", message: "The disk is full." };
    const conditions = [{ ...end, observedGeneration: 1, lastTransitionTime: at }];
    const status = { phase: "Failed", completionTime: at, conditions };
    await cluster.admin.apply(trainingJobs, { metadata: ref, status } as never, {
      fieldManager: "plosive-operator",
      subresource: "status",
    });
    const event = await poll("the event of the end", async () =>
      (await cluster.admin.list(events, stage.space.name)).items.find(
        ({ regarding, reason }) => regarding.name === ref.name && reason === "SystemError",
      ),
    );
    expect(event).toMatchObject({ type: "Warning", note: "The disk is full." });
  });

  it("that is stopped while it writes the end of a job, emits the event of the end", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    const ref = { namespace: stage.space.name, name: `tj-${id}` };
    await podOf(cluster.admin, stage.space.name, `tj-${id}-1`);
    const { kube } = stage.operator;
    const { apply } = kube;
    let stopped: Promise<void> | undefined;
    const stopping: typeof apply = async (type, object, options) => {
      const written = await apply(type, object, options);
      if (JSON.stringify(object).includes('"phase":"Cancelled"')) stopped ??= stage.operator.stop();
      return written;
    };
    Object.assign(kube, { apply: stopping });
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "enough" } } });
    await poll("the operator to be told to stop", () => stopped !== undefined);
    await stopped;
    stage.operator = await stage.start();
    const told = (await cluster.admin.list(events, stage.space.name)).items.filter(
      ({ regarding, reason }) => regarding.name === ref.name && reason === "Cancelled",
    );
    expect(told.map(({ note }) => note)).toEqual(["enough"]);
  });

  it("that crashed before a job without a run showed its end, keeps the resource until it does", async () => {
    await stage.operator.stop();
    const model = await insertModel(database.pool, stage.tenant);
    const { id } = await createResource(
      cluster.admin,
      stage.space.name,
      database.pool,
      "inference",
      (tx) => insertInferenceJob(tx, stage.tenant, model, 1),
      {},
    );
    const how = { status: "cancelled", statusMessage: null, errorMessage: null } as const;
    await endJob(database.pool, "inference", id, how);
    const namespace = stage.space.name;
    const clients = { db: database.pool, kube: cluster.admin, storage: store.storage };
    const installation = defaultInstallation;
    const deps = { ...clients, installation, namespace, graceSeconds: 0, log: makeLog("test", "silent") };
    await purgeNextBatch(deps);
    const ref = { namespace, name: `ij-${id}` };
    // The operator must not purge the resource before this test looks.
    await database.execute(
      sql.fragment`update leftovers set try_at = now() + interval '1 hour' where target = ${ref.name}`,
    );
    expect(await cluster.admin.find(inferenceJobs, ref)).toBeDefined();
    stage.operator = await stage.start();
    await poll("the end in the resource", async () => {
      return (await cluster.admin.get(inferenceJobs, ref)).status?.phase === "Cancelled";
    });
    await database.execute(sql.fragment`update leftovers set try_at = now() where target = ${ref.name}`);
    await purgeNextBatch(deps);
    expect(await cluster.admin.find(inferenceJobs, ref)).toBeUndefined();
  });

  it("that crashed after the end of the row and before the status, writes the status and deletes the Job", async () => {
    const model = await insertModel(database.pool, stage.tenant);
    const { id } = await insertInferenceJob(database.pool, stage.tenant, model, 1);
    await podOf(cluster.admin, stage.space.name, `ij-${id}-1`);
    await stage.operator.stop();
    await database.execute(sql.fragment`
      update inference_jobs set status = 'failed', error_message = 'The disk is full.', completed_at = now() where id = ${id}`);
    stage.operator = await stage.start();
    const ref = { namespace: stage.space.name, name: `ij-${id}` };
    const cr = await poll("the custom resource to fail too", async () => {
      const now = await cluster.admin.get(inferenceJobs, ref);
      return now.status?.phase === "Failed" ? now : undefined;
    });
    expect(cr.status?.failure?.message).toBe("The disk is full.");
    await poll("the Job to be gone", async () => (await stage.jobNames()).length === 0);
  });

  it("reports after a crash, too, that every file failed", async () => {
    const model = await insertModel(database.pool, stage.tenant);
    const { id, files } = await insertInferenceJob(database.pool, stage.tenant, model, 1);
    const run = `ij-${id}-1`;
    const pod = await podOf(cluster.admin, stage.space.name, run);
    await poll("the row to name the run", async () => (await inference(id))?.platform_job_name === run);
    await stage.operator.stop();
    const error = { code: "corrupt_audio", message: "It is noise." };
    const items: DetectResult["items"] = [{ id: files[0]!, status: "failed", error }];
    const result: DetectResult = { ...detectionsOf(run, 0, files[0]!), items };
    await store.storage.write(keys.result(run, 0), JSON.stringify(result));
    await endPod(cluster.admin, pod, 0);
    await poll("the Job to be complete", async () => {
      const { status } = await cluster.admin.get(jobs, { namespace: stage.space.name, name: run });
      return status?.conditions?.some((condition) => condition.type === "Complete");
    });
    // The state at the crash: the result is ingested and the row has ended.
    const ref = { jobId: id, run, shard: 0 };
    expect(await ingestDetections(database.pool, ref, "d", result)).toBe("ingested");
    await endJob(database.pool, "inference", id, {
      status: "completed",
      statusMessage: null,
      errorMessage: null,
    });
    stage.operator = await stage.start();
    const cr = await poll("the custom resource to fail", async () => {
      const now = await cluster.admin.get(inferenceJobs, { namespace: stage.space.name, name: `ij-${id}` });
      return now.status?.phase === "Failed" ? now : undefined;
    });
    expect(cr.status?.failure).toMatchObject({
      class: "User",
      code: "all_items_failed",
      message: "The file could not be processed.",
      retryable: false,
    });
  });

  it("writes the end into the status before it deletes the Job, from which it could gather the facts again", async () => {
    const id = await insertTrainingJob(database.pool, stage.tenant);
    const ref = { namespace: stage.space.name, name: `tj-${id}` };
    const pod = await podOf(cluster.admin, stage.space.name, `tj-${id}-1`);
    await startPod(cluster.admin, pod);
    await poll(
      "it to run",
      async () => (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Running",
    );
    const { kube } = stage.operator;
    const { remove } = kube;
    const phases: unknown[] = [];
    const recorded: typeof remove = async (type, ...args) => {
      if (type.plural === jobs.plural)
        phases.push((await cluster.admin.get(trainingJobs, ref)).status?.phase);
      return await remove(type, ...args);
    };
    Object.assign(kube, { remove: recorded });
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "enough" } } });
    await poll("the Job to be deleted", () => phases.length > 0);
    expect(phases).toEqual(["Cancelled"]);
  });

  it("counts disrupted pods that were deleted before it started", async () => {
    const model = await insertModel(database.pool, stage.tenant);
    const retries = { perShard: 0, infraPerShard: 1 };
    const { id } = await createResource(
      cluster.admin,
      stage.space.name,
      database.pool,
      "inference",
      (tx) => insertInferenceJob(tx, stage.tenant, model, 1),
      { retries },
    );
    const [run, name] = [`ij-${id}-1`, `ij-${id}`];
    const first = await podOf(cluster.admin, stage.space.name, run);
    await stage.operator.stop();
    const terminated = { exitCode: 143, finishedAt: new Date().toISOString(), startedAt: ago(5) };
    const taken = (pod: Pod, message: string) =>
      patchStatus(cluster.admin, pod, "Failed", { terminated }, [
        { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler", message },
      ]);
    await taken(first, "Preempted.");
    const second = await poll("another pod", async () => {
      const pod = await podOf(cluster.admin, stage.space.name, run);
      return pod.metadata.uid === first.metadata.uid ? undefined : pod;
    });
    await cluster.admin.remove(pods, first.metadata);
    await poll("the first one to be gone", async () => {
      return (await cluster.admin.find(pods, first.metadata)) === undefined;
    });
    stage.operator = await stage.start();
    await stage.operator.leading;
    await poll("the second one to be known", async () => {
      const cr = await cluster.admin.get(inferenceJobs, { namespace: stage.space.name, name });
      return cr.status?.runId === run;
    });
    await taken(second, "Its node is gone.");
    const cr = await poll("the job to fail", async () => {
      const now = await cluster.admin.get(inferenceJobs, { namespace: stage.space.name, name });
      return now.status?.phase === "Failed" ? now : undefined;
    });
    expect(cr.status?.failure).toMatchObject({
      code: "disrupted",
      message: "Its node is gone. That happened 2 times to shard 0.",
    });
  });

  it("releases its lease when it stops, so that a standby does not wait for the lease to expire", async () => {
    // Otherwise the standby may take the lease first.
    await stage.operator.leading;
    const standby = await runOperator({
      cluster,
      namespace: stage.space,
      databaseUrl: database.url,
      storage: store.config,
      identity: "standby",
      // A standby uses its own lease duration: with an hour it leads in this test only if the lease is released.
      leaseMs: { durationMs: 3_600_000, deadlineMs: 60_000, periodMs: 200 },
    });
    try {
      expect(standby.leads()).toBe(false);
      await stage.operator.stop();
      await standby.leading;
      const id = await insertTrainingJob(database.pool, stage.tenant);
      await podOf(cluster.admin, stage.space.name, `tj-${id}-1`);
    } finally {
      stage.operator = standby;
    }
  });
});
