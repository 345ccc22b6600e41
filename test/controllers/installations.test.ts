// Two installations on one database and one bucket, each with a control plane, an operator and an API of its own: none of them
// submits, runs, cancels, adopts, repairs or deletes what belongs to the other one. The test plays kubelets and workers.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { manyInstallations, moveJobs } from "../../src/db/operator/installation.ts";
import { embeddingJobs, inferenceJobs, jobs, models, trainingJobs } from "../../src/kube/kinds.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import { searchable, trainable } from "../support/adoption.ts";
import { type Installation, useInstallations } from "../support/installations.ts";
import { endPod, put, startPod, type Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { scrape } from "../support/prometheus.ts";
import { insertConfirmedAudio, insertDataset, insertTenant } from "../support/rows.ts";
import { addModel } from "../support/world.ts";

const { database, a, b } = useInstallations();

type JobObject = KubeObject & { spec: object; status?: JobStatus };
const kindOf = (type: unknown) => type as ResourceType<JobObject>;
const apply = (at: Installation, type: unknown, name: string, spec: object) =>
  at.cluster.admin.create(kindOf(type), { metadata: at.ref(name), spec } as unknown as JobObject);
const find = (at: Installation, type: unknown, name: string) =>
  at.cluster.admin.find(kindOf(type), at.ref(name));
const installationOf = (kind: JobKind, id: string) =>
  database.pool.oneFirst(sql.type(z.object({ installation: z.string() }))`
    select installation from ${sql.identifier([`${kind}_jobs`])} where id = ${id}`);
const training = async ({ client }: Installation, id: string) =>
  (await client.get(`/api/v1/training-jobs/${id}`)).body.status;

/** Creates a training job through the API of the installation. */
async function train(at: Installation): Promise<string> {
  const { datasetId, annotationSetId, config } = await trainable(database.pool, at.client);
  const body = { dataset_id: datasetId, annotation_set_id: annotationSetId, config };
  return (await at.client.post("/api/v1/training-jobs", body)).body.id;
}

/** Waits until each of these sweeps has ended twice: the second one has begun after this call. */
async function sweeps(at: Installation, ...names: string[]): Promise<void> {
  const ends = async () => {
    const page = await scrape(at.operator.metricsPort);
    return names.map((sweep) => page.value("plosive_sweep_last_success_timestamp_seconds", { sweep }) ?? 0);
  };
  for (let times = 0; times < 2; times++) {
    const before = await ends();
    await poll(`the sweeps of ${at.name}`, async () => (await ends()).every((end, i) => end > before[i]!));
  }
}

async function finish(at: Installation, worker: Worker, file: string): Promise<void> {
  const { run, shard, result } = await worker.work();
  const facts = { duration_ms: 1_000, sample_rate_hz: 8_000, channels: 1, size_bytes: 10 };
  const item = { id: file, status: "completed", ...facts, sha256: "a".repeat(64), detections: [] };
  await put(result, JSON.stringify({ version: 1, kind: "detect", run, shard, items: [item] }));
  await endPod(at.cluster.admin, worker.pod, 0);
}

describe("two installations on one database", () => {
  it("each run the jobs of their own API, both at once, from the request to the result", async () => {
    const { modelId, datasetId } = await searchable(database.pool, a.client, 1);
    const body = { model_id: modelId, dataset_id: datasetId };
    const runs = await Promise.all(
      [a, b].map(async (at) => {
        const { id } = (await at.client.post("/api/v1/inference-jobs", body)).body;
        const worker = await at.worker(`ij-${id}-1`);
        await startPod(at.cluster.admin, worker.pod);
        return { at, id: id as string, worker, path: `/api/v1/inference-jobs/${id}` };
      }),
    );
    // Both have work and report before one of them ends.
    for (const { at, worker, path } of runs) {
      await worker.work();
      const message = `half of it in ${at.name}`;
      expect(await worker.report({ fraction: 0.5, message })).toBe(204);
      await poll("the progress in the row", async () => {
        const row = (await at.client.get(path)).body;
        return row.progress_percent === 50 && row.status_message === message;
      });
    }
    for (const [n, { at, id, worker, path }] of runs.entries()) {
      const other = runs[1 - n]!.at;
      const file = (await at.client.get(`${path}/files`)).body.items[0].id;
      await finish(at, worker, file);
      await poll(
        "the end in the row",
        async () => (await other.client.get(path)).body.status === "completed",
      );
      await poll("the end in the resource", async () => {
        return (await find(at, inferenceJobs, `ij-${id}`))?.status?.phase === "Succeeded";
      });
      expect(await find(other, inferenceJobs, `ij-${id}`)).toBeUndefined();
      expect(await installationOf("inference", id)).toBe(at.name);
      expect(at.requestsAbout(id).length).toBeGreaterThan(2);
      expect(other.requestsAbout(id)).toEqual([]);
    }
  });

  it("embed uploads where they were gathered", async () => {
    const tenants = await Promise.all([1, 2, 3, 4].map(() => insertTenant(database.pool)));
    for (const tenant of tenants)
      await insertConfirmedAudio(database.pool, tenant, await insertDataset(database.pool, tenant));
    for (const tenant of tenants) {
      const { id, installation } = await poll("the embedding job", () =>
        database.pool.maybeOne(sql.type(z.object({ id: z.string(), installation: z.string() }))`
          select id, installation from embedding_jobs where tenant_id = ${tenant}`),
      );
      const [own, other] = installation === "a" ? [a, b] : [b, a];
      expect(installation).toBe(own.name);
      await poll("its resource", () => find(own, embeddingJobs, `ej-${id}`));
      await sweeps(other, "outbox");
      expect(other.requestsAbout(id)).toEqual([]);
    }
  });

  it("take requests for each other's jobs: a cancel reaches the job where it runs, and a retry runs where it was requested", async () => {
    const id = await train(a);
    await a.worker(`tj-${id}-1`);
    await b.client.post(`/api/v1/training-jobs/${id}/cancel`);
    await poll("its end", async () => (await training(b, id)) === "cancelled");
    await poll("its end in a", async () => {
      return (await find(a, trainingJobs, `tj-${id}`))?.status?.phase === "Cancelled";
    });
    const again = (await b.client.post(`/api/v1/training-jobs/${id}/retry`)).body.id;
    await b.worker(`tj-${again}-1`);
    expect(await installationOf("training", again)).toBe("b");
    expect(b.requestsAbout(id)).toEqual([]);
    expect(a.requestsAbout(again)).toEqual([]);
  });

  it("start each other's inference jobs where they were created", async () => {
    const { modelId } = await searchable(database.pool, a.client, 1);
    const { id } = (await a.client.post("/api/v1/inference-jobs", { model_id: modelId })).body;
    await database.execute(sql.fragment`
      insert into inference_files (id, tenant_id, inference_job_id, filename, content_type, size_bytes, object_key, status)
      values (gen_random_uuid(), ${a.client.tenantId}, ${id}, 'take.wav', 'audio/wav', 10, 'inference/x', 'queued')`);
    await b.client.post(`/api/v1/inference-jobs/${id}/start`);
    await a.worker(`ij-${id}-1`);
    expect(b.requestsAbout(id)).toEqual([]);
  });

  it("adopt resources of the same name, and the deletion of one cancels only its own job", async () => {
    const spec = { shards: { count: 1 }, ...(await trainable(database.pool, a.client)) };
    const [first, second] = await Promise.all(
      [a, b].map(async (at) => {
        const id = (await apply(at, trainingJobs, "nightly", spec)).metadata.uid!;
        await at.worker(`tj-${id}-1`);
        expect(await installationOf("training", id)).toBe(at.name);
        return id;
      }),
    );
    await b.cluster.admin.remove(trainingJobs, b.ref("nightly"));
    await poll("the one in b to end", async () => (await training(b, second!)) === "cancelled");
    await sweeps(b, "drift");
    expect(await training(b, first!)).toBe("queued");
    expect((await find(a, trainingJobs, "nightly"))?.metadata.uid).toBe(first);
  });

  it("repair only drift of their own: a resource that the other one lacks is not missing", async () => {
    const id = await train(a);
    const worker = await a.worker(`tj-${id}-1`);
    await startPod(a.cluster.admin, worker.pod);
    await poll("the job to run", async () => (await training(a, id)) === "running");
    await database.execute(
      sql.fragment`update training_jobs set submitted_at = now() - interval '1 hour' where id = ${id}`,
    );
    await sweeps(b, "drift", "outbox");
    expect(await training(b, id)).toBe("running");
    expect(b.requestsAbout(id)).toEqual([]);
    // A's own sweep finds nothing to repair either.
    await sweeps(a, "drift", "outbox");
    expect(
      (await a.cluster.admin.list(jobs, a.space.name)).items.map(({ metadata }) => metadata.name),
    ).toContain(`tj-${id}-1`);
  });

  it("refuse a copy of the other's resource, whose cancellation and deletion have no effect on the job", async () => {
    const id = await train(a);
    await a.worker(`tj-${id}-1`);
    const name = `tj-${id}`;
    const { spec } = (await find(a, trainingJobs, name))!;
    const refusal = async () => {
      await apply(b, trainingJobs, name, spec);
      return poll("the refusal", async () => {
        const copy = await find(b, trainingJobs, name);
        return copy?.status?.conditions?.find(
          ({ type, status }) => type === "Accepted" && status === "False",
        );
      });
    };
    const refused = await refusal();
    expect(refused.reason).toBe("PreconditionFailed");
    expect(refused.message).toMatch(/belongs to the installation a .* this one is b/);
    await b.cluster.admin.remove(trainingJobs, b.ref(name));
    await sweeps(b, "drift", "outbox");
    expect(await training(b, id)).toBe("queued");
    await refusal();
    await b.cluster.admin.patch(trainingJobs, b.ref(name), { spec: { cancel: { reason: "a mistake" } } });
    await poll("the end of the copy", async () => {
      return (await find(b, trainingJobs, name))?.status?.phase === "Cancelled";
    });
    await sweeps(b, "drift");
    await b.cluster.admin.remove(trainingJobs, b.ref(name));
    await sweeps(b, "drift", "outbox");
    expect(await training(b, id)).toBe("queued");
    expect(await find(b, trainingJobs, name)).toBeUndefined();
    expect(
      (await b.cluster.admin.list(jobs, b.space.name)).items.map(({ metadata }) => metadata.name),
    ).not.toContain(`${name}-1`);
  });

  it("delete only their own resources of deleted jobs and models", async () => {
    const id = await train(a);
    await a.worker(`tj-${id}-1`);
    const model = await addModel(database.pool, a.client.tenantId, id);
    await database.execute(sql.fragment`update models set installation = 'a' where id = ${model}`);
    await poll("the Model", () => find(a, models, `m-${model}`));
    await b.client.post(`/api/v1/training-jobs/${id}/cancel`);
    await poll("its end in a", async () => {
      return (await find(a, trainingJobs, `tj-${id}`))?.status?.phase === "Cancelled";
    });
    expect((await b.client.delete(`/api/v1/training-jobs/${id}`)).status).toBe(204);
    await database.execute(sql.fragment`delete from models where id = ${model}`);
    await poll("the resource to go", async () => (await find(a, trainingJobs, `tj-${id}`)) === undefined);
    await poll("the Model to go", async () => (await find(a, models, `m-${model}`)) === undefined);
    await sweeps(b, "purge", "drift");
    expect(b.requestsAbout(id)).toEqual([]);
    expect(b.requestsAbout(model)).toEqual([]);
  });
});

it("an operator with the name of another one that runs does not work, although it has a Lease of its own", async () => {
  const twin = await a.startTwin();
  try {
    await poll("its Lease", () => twin.leads());
    const id = await train(a);
    await a.worker(`tj-${id}-1`);
    await sweeps(a, "drift", "outbox");
    const page = await scrape(twin.metricsPort);
    expect(page.value("plosive_sweep_last_success_timestamp_seconds")).toBe(0);
  } finally {
    await twin.stop();
  }
  expect(await manyInstallations(database.pool)).toContainEqual(
    expect.objectContaining({ name: "a", is_running: true }),
  );
});

describe("an installation that is gone", () => {
  // Last, because it stops the operator of a.
  it("leaves its jobs alone until they are moved; then they go on elsewhere, and its own runs end when it returns", async () => {
    const id = await train(a);
    const spec = { shards: { count: 1 }, ...(await trainable(database.pool, a.client)) };
    const adopted = (await apply(a, trainingJobs, "by-hand", spec)).metadata.uid!;
    for (const one of [id, adopted]) {
      const { pod } = await a.worker(`tj-${one}-1`);
      await startPod(a.cluster.admin, pod);
      await poll("the job to run", async () => (await training(a, one)) === "running");
    }
    expect(await moveJobs(database.pool, "a", "b")).toBeNull();
    await a.operator.stop();
    await sweeps(b, "drift", "outbox");
    expect(b.requestsAbout(id)).toEqual([]);

    expect(await moveJobs(database.pool, "a", "b")).toBeGreaterThanOrEqual(2);
    // The sweep compares rows a minute after their resource was created.
    await database.execute(sql.fragment`
      update training_jobs set submitted_at = now() - interval '1 hour' where id = ${adopted}`);
    const worker = await b.worker(`tj-${id}-2`);
    await startPod(b.cluster.admin, worker.pod);
    expect((await worker.work()).kind).toBe("train");
    await poll("the adopted one to end", async () => (await training(b, adopted)) === "cancelled");

    await a.start();
    await poll("the former run to be deleted", async () => {
      const job = await a.cluster.admin.find(jobs, a.ref(`tj-${id}-1`));
      return job === undefined || job.metadata.deletionTimestamp !== undefined;
    });
    await sweeps(a, "drift", "outbox");
    expect(await training(a, id)).toBe("running");
  });
});
