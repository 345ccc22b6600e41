// Adoption of jobs that a platform engineer applies with kubectl under other names than the service's: the operator
// creates their rows, and REST and kubectl can cancel and delete them. Real API server, Postgres, S3, and REST over
// HTTP.
import { createHash } from "node:crypto";
import { sql } from "slonik";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { JobResource } from "../../controllers/job/adapter.ts";
import { adopt } from "../../controllers/job/adopt.ts";
import { trainingJobAdapter } from "../../controllers/training-job/adapter.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { embeddingJobs, inferenceJobs, trainingJobs } from "../../src/kube/kinds.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { searchable, trainable, useAdoption } from "../support/adoption.ts";
import { type Client, execute } from "../support/api.ts";
import { endPod, jobsOf, put, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { loginOf } from "../support/postgres.ts";
import { insertConfirmedAudio } from "../support/rows.ts";
import { makeDataset } from "../support/world.ts";

const stage = useAdoption();
const { cluster, api, store, apply, find, accepted, refusal } = stage;
let client: Client;
beforeEach(async () => {
  client = await api.tenant();
});

const hex = (text: string) => createHash("sha256").update(text).digest("hex");
const runs = async () => (await jobsOf(cluster.admin, stage.namespace)).map(({ metadata }) => metadata.name);

describe("a training job applied with kubectl", () => {
  it("appears in REST under its uid and runs; REST can cancel and delete it", async () => {
    const { metadata } = await apply(trainingJobs, "night-shift.7", {
      ...(await trainable(api.db, client)),
      activeDeadlineSeconds: 3600,
    });
    const id = metadata.uid!;
    const path = `/api/v1/training-jobs/${id}`;
    const pod = await stage.podOf(`tj-${id}-1`);
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
    const worker = stage.worker(pod);
    const work = await worker.work();
    if (work.kind !== "train") throw new Error("not the work of a training");
    expect(work.config).toMatchObject({ artifact_types: ["click"], epochs: 2 });
    await worker.report({ items_done: 1, items_total: 2, fraction: 0.5, message: "Epoch 1 of 2" });
    await poll("the percent in kubectl", async () => {
      return (await find(trainingJobs, "night-shift.7"))?.status?.progress?.percent === 50;
    });

    expect((await client.post(`${path}/cancel`)).status).toBe(200);
    await poll("the cancel in the custom resource", async () => {
      const cr = await find(trainingJobs, "night-shift.7");
      return (cr as unknown as { spec: { cancel?: object } }).spec.cancel !== undefined;
    });
    await poll("the end in REST", async () => (await client.get(path)).body.status === "cancelled");
    await poll("the end in kubectl", async () => {
      return (await find(trainingJobs, "night-shift.7"))?.status?.phase === "Cancelled";
    });
    expect((await client.delete(path)).status).toBe(204);
    await poll("the resource to go", async () => (await find(trainingJobs, "night-shift.7")) === undefined);
    expect((await client.get(path)).status).toBe(404);
  });

  it("gets one row and one event from concurrent adoptions that crashed before they wrote the condition", async () => {
    await stage.operator.stop();
    try {
      const made = await apply(trainingJobs, "twice", await trainable(api.db, client));
      const id = made.metadata.uid!;
      const db = await makeDatabase(
        {
          PLOSIVE_DATABASE_URL: loginOf(api.db.configuration.connectionUri, "plosive_operator"),
          PLOSIVE_DATABASE_POOL: 5,
        },
        undefined,
        "plosive_operator",
      );
      const { kube } = stage.operator;
      const adapter = trainingJobAdapter({
        db,
        kube,
        storage: store.storage,
        installation: defaultInstallation,
        namespace: stage.namespace,
        maxWaiting: 20,
      });
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => adopt(db, adapter, made as unknown as JobResource)),
      );
      await db.end();
      expect(outcomes).toEqual(Array.from({ length: 5 }, () => undefined));
      expect((await client.get("/api/v1/training-jobs")).body.total).toBe(1);
      expect(await accepted(trainingJobs, "twice")).toBeUndefined();
      await stage.start();
      await stage.podOf(`tj-${id}-1`);
      await poll("its acceptance", async () => (await accepted(trainingJobs, "twice"))?.status === "True");
      const events = (await client.get(`/api/v1/training-jobs/${id}/events`)).body.items;
      expect(
        events.filter(({ message }: { message: string }) => message.startsWith("The job was created")),
      ).toHaveLength(1);
    } finally {
      await stage.operator.stop();
      await stage.start();
    }
  });

  it("stays refused as RowMissing after its row was deleted, and gets no second row", async () => {
    const made = (await apply(trainingJobs, "deleted-elsewhere", {
      ...(await trainable(api.db, client)),
      cancel: { reason: "so that only this test adopts it" },
    })) as unknown as JobResource;
    const { cancel: _, ...spec } = made.spec;
    const target = `tj-${made.metadata.uid}/${made.metadata.name}`;
    await execute(
      api.db,
      sql.fragment`insert into leftovers (tenant_id, kind, target, at_once, try_at)
        values (${client.tenantId}, 'resource', ${target}, true, now() + interval '1 hour')`,
    );
    const adapter = trainingJobAdapter({
      db: api.db,
      kube: cluster.admin,
      storage: store.storage,
      installation: defaultInstallation,
      namespace: stage.namespace,
      maxWaiting: 20,
    });
    const first = await adopt(api.db, adapter, { ...made, spec });
    expect(first).toMatchObject({ reason: "RowMissing", message: expect.stringContaining("was deleted") });
    await execute(api.db, sql.fragment`delete from leftovers where target = ${target}`);
    const said = {
      type: "Accepted",
      status: "False",
      observedGeneration: 1,
      lastTransitionTime: "",
    } as const;
    const status: JobStatus = { conditions: [{ ...said, ...first! }] };
    expect(await adopt(api.db, adapter, { ...made, spec, status })).toEqual(first);
    expect((await client.get("/api/v1/training-jobs")).body.items).toEqual([]);
  });

  it("becomes cancelled when kubectl deletes it, even if another resource takes its name at once", async () => {
    const spec = await trainable(api.db, client);
    const first = (await apply(trainingJobs, "again", spec)).metadata.uid!;
    await stage.podOf(`tj-${first}-1`);
    await stage.operator.stop();
    await cluster.admin.remove(trainingJobs, stage.ref("again"));
    const second = (await apply(trainingJobs, "again", spec)).metadata.uid!;
    await stage.start();
    await stage.podOf(`tj-${second}-1`);
    await execute(
      api.db,
      sql.fragment`
      update training_jobs set submitted_at = now() - interval '2 minutes' where id = ${first}`,
    );
    const status = async (id: string) => (await client.get(`/api/v1/training-jobs/${id}`)).body.status;
    await poll("the first one's end", async () => (await status(first)) === "cancelled");
    // A late cancel of the first row must not cancel the second.
    await poll("the second one in its queue", async () => (await status(second)) === "queued");
    await cluster.admin.remove(trainingJobs, stage.ref("again"));
    await poll("the second one's end", async () => (await status(second)) === "cancelled");
  });

  it("does not delete a later resource of the same name when REST deletes its row", async () => {
    const spec = await trainable(api.db, client);
    const ref = stage.ref("used-again");
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
    await stage.podOf(`tj-${second}-1`);
  });
});

describe("an inference job applied with kubectl", () => {
  it("runs over a dataset in the number of shards that its spec sets, and succeeds in REST and kubectl", async () => {
    const { files, ...spec } = await searchable(api.db, client, 5);
    const config = { thresholds: { click: 0.7 }, artifact_types: ["click"] };
    const { metadata } = await apply(inferenceJobs, "all-takes", {
      ...spec,
      config,
      shards: { count: 2, parallelism: 2 },
    });
    const run = `ij-${metadata.uid}-1`;
    const seen: number[] = [];
    for (const shard of [0, 1]) {
      const pod = await stage.podOf(run, shard);
      await startPod(cluster.admin, pod);
      const work = await stage.worker(pod).work();
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
});

describe("an embedding job applied with kubectl", () => {
  it("takes the confirmed uploads of its tenant, and is refused when there are none", async () => {
    // Of another tenant: the operator may check a refused job again at any time, and would give it the uploads.
    await apply(embeddingJobs, "too-early", { tenantId: (await api.tenant()).tenantId });
    expect((await refusal(embeddingJobs, "too-early")).message).toMatch(
      /no confirmed audio files .*\(no_files\)/,
    );
    const dataset = await makeDataset(client);
    for (const _ of [1, 2, 3]) await insertConfirmedAudio(api.db, client.tenantId, dataset);
    // On a busy machine, the operator would give those that have waited for ten seconds to a job of its own.
    await execute(
      api.db,
      sql.fragment`update audio_files set uploaded_at = now() + interval '1 hour' where dataset_id = ${dataset}`,
    );
    const { metadata } = await apply(embeddingJobs, "uploads-now", {
      tenantId: client.tenantId,
      shards: { count: 2 },
    });
    const decision = await poll("the decision", () => accepted(embeddingJobs, "uploads-now"));
    expect(decision.status, decision.message).toBe("True");
    await stage.podOf(`ej-${metadata.uid}-1`);
    const shards = await api.db.anyFirst(sql.type(z.object({ shard: z.number() }))`
      select embedding_shard as shard from audio_files where embedding_job_id = ${metadata.uid!} order by 1`);
    expect(shards).toEqual([0, 0, 1]);
  });
});

describe("a custom resource without a row", () => {
  it("is refused and gets no row when its name has the form that the service uses", async () => {
    const name = "tj-0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11";
    const { metadata } = await apply(trainingJobs, name, await trainable(api.db, client));
    const said = await refusal(trainingJobs, name);
    expect(said.reason).toBe("RowMissing");
    expect(said.message).toContain("under another name");
    expect((await client.get("/api/v1/training-jobs")).body.items).toEqual([]);
    expect((await runs()).filter((run) => run.includes(metadata.uid!) || run.startsWith(name))).toEqual([]);
  });

  it('that was accepted before is refused with "restored", gets no new row, and can still be cancelled', async () => {
    const { metadata } = await apply(trainingJobs, "before-the-restore", await trainable(api.db, client));
    const id = metadata.uid!;
    await stage.podOf(`tj-${id}-1`);
    await poll("the run in its status", async () => {
      return (await find(trainingJobs, "before-the-restore"))?.status?.runId === `tj-${id}-1`;
    });
    // As in a restored database: no trigger runs, so the purge queue gets no entry.
    await api.db.transaction(async (tx) => {
      await execute(tx, sql.fragment`set local session_replication_role = replica`);
      await execute(tx, sql.fragment`delete from training_job_files where training_job_id = ${id}`);
      await execute(tx, sql.fragment`delete from training_jobs where id = ${id}`);
    });
    const said = await refusal(trainingJobs, "before-the-restore");
    expect(said).toMatchObject({ reason: "RowMissing", message: expect.stringContaining("restored") });
    await stage.operator.stop();
    await stage.start();
    await stage.operator.leading;
    const ref = stage.ref("before-the-restore");
    await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "gone" } } });
    await poll("its end", async () => (await find(trainingJobs, ref.name))?.status?.phase === "Cancelled");
    await poll("the end of its run", async () => !(await runs()).includes(`tj-${id}-1`));
    expect((await client.get(`/api/v1/training-jobs/${id}`)).status).toBe(404);
  });
});
