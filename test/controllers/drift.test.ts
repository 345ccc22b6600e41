// Drift: the sweep repairs rows and custom resources that disagree, as after a restore of either side or a lost race.
// Also the submission of many rows. Real API server and Postgres.
import { randomUUID } from "node:crypto";
import { Registry } from "prom-client";
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeJobMetrics } from "../../controllers/job/metrics.ts";
import { makeOutbox } from "../../controllers/outbox.ts";
import { buildModel } from "../../controllers/training-job/build-model.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { maybeOneModelRow } from "../../src/db/operator/ingest.ts";
import { maybeOneSubmission } from "../../src/db/operator/outbox.ts";
import { makeKube } from "../../src/kube/client.ts";
import { inferenceJobs, jobs, models, trainingJobs } from "../../src/kube/kinds.ts";
import { makeLog } from "../../src/log.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { makeSubmit, resourceOf } from "../../src/submit.ts";
import { endPod, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { createDatabase, execute } from "../support/postgres.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ driftMs: 200 });
const { cluster, database } = stage;
let tenant: string;

beforeAll(async () => {
  tenant = await insertTenant(database.pool);
});

const training = (id: string) => maybeOneJob(database.pool, "training", id);
const driftOf = async (direction: string) => {
  const text = await (await fetch(`http://127.0.0.1:${stage.operator.metricsPort}/metrics`)).text();
  return Number(new RegExp(`plosive_drift_total\\{direction="${direction}"\\} (\\d+)`).exec(text)?.[1]);
};

describe("a model", () => {
  it("loses a custom resource that appears after its row was deleted, and gets a deleted custom resource again", async () => {
    const kept = await insertModel(database.pool, tenant);
    const gone = await insertModel(database.pool, tenant);
    const late = buildModel((await maybeOneModelRow(database.pool, gone))!, stage.namespace);
    await poll("both in Kubernetes", async () => {
      const { items } = await cluster.admin.list(models, stage.namespace);
      return [kept, gone].every((id) => items.some(({ metadata }) => metadata.name === `m-${id}`));
    });
    await database.execute(sql.fragment`delete from models where id = ${gone}`);
    const find = (id: string) => cluster.admin.find(models, stage.ref(`m-${id}`));
    await poll("the deletion", async () => (await find(gone)) === undefined);
    await poll("an end of the leftovers", async () => {
      const left = await database.pool.anyFirst(sql.type(z.object({ target: z.string() }))`
        select target from leftovers where at_once and kind = 'resource'`);
      return left.length === 0;
    });
    const before = await driftOf("resource");
    await cluster.admin.create(models, late);
    await poll("the late one to go", async () => (await find(gone)) === undefined);
    await cluster.admin.remove(models, stage.ref(`m-${kept}`));
    await poll("the kept one again", async () => (await find(kept))?.status?.phase === "Ready");
    // A sweep may count a deletion twice, if its event comes later than the next sweep.
    expect(await driftOf("resource")).toBeGreaterThanOrEqual(before + 2);
  });
});

describe("a row", () => {
  it("that is older than its ended custom resource, as after a restore, is repaired while the operator runs", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    const pod = await stage.podOf(`tj-${id}-1`);
    await startPod(cluster.admin, pod);
    await endPod(cluster.admin, pod, 64, JSON.stringify({ code: "bad_manifest", message: "no such thing" }));
    const ref = stage.ref(`tj-${id}`);
    await poll("its failure", async () => {
      return (await cluster.admin.get(trainingJobs, ref)).status?.phase === "Failed";
    });
    const said = (await training(id))?.error_message;
    expect(said).toContain("no such thing");
    await database.execute(sql.fragment`
      update training_jobs set status = 'running', error_message = null, completed_at = null,
        submitted_at = now() - interval '1 hour' where id = ${id}`);
    const repaired = await poll("the repair", async () => {
      const row = await training(id);
      return row?.status === "failed" ? row : undefined;
    });
    expect(repaired.error_message).toBe(said);
  });

  it("is submitted again as the next attempt when its custom resource is missing and nobody is known to have deleted it", async () => {
    // In one transaction, so that the outbox does not submit the row.
    const id = await database.pool.transaction(async (tx) => {
      const job = await insertTrainingJob(tx, tenant);
      await execute(
        tx,
        sql.fragment`
          update training_jobs set submitted_at = now() - interval '1 hour', status = 'running',
            platform_job_name = ${`tj-${job}-2`} where id = ${job}`,
      );
      return job;
    });
    await stage.podOf(`tj-${id}-3`);
    const { status } = await cluster.admin.get(trainingJobs, stage.ref(`tj-${id}`));
    expect(status?.attempt ?? 3).toBe(3);
    expect((await training(id))?.status).toBe("running");
  });

  it("that knows of a newer run than Kubernetes, as after a restore of etcd, runs only once", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    await stage.podOf(`tj-${id}-1`);
    await poll("the run in the row", async () => (await training(id))?.platform_job_name === `tj-${id}-1`);
    await database.execute(
      sql.fragment`update training_jobs set platform_job_name = ${`tj-${id}-4`} where id = ${id}`,
    );
    await cluster.admin.patch(trainingJobs, stage.ref(`tj-${id}`), {
      metadata: { labels: { seen: "again" } },
    });
    await cluster.admin.patch(trainingJobs, stage.ref(`tj-${id}`), { spec: { suspend: true } });
    await poll("the old Job to go", async () => {
      const job = await cluster.admin.find(jobs, stage.ref(`tj-${id}-1`));
      return job === undefined || job.metadata.deletionTimestamp !== undefined;
    });
    await cluster.admin.patch(trainingJobs, stage.ref(`tj-${id}`), { spec: { suspend: false } });
    await stage.podOf(`tj-${id}-5`);
    await poll("the run in the row", async () => (await training(id))?.platform_job_name === `tj-${id}-5`);
  });

  it("is cancelled when somebody deletes its custom resource", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    await stage.podOf(`tj-${id}-1`);
    await cluster.admin.remove(trainingJobs, stage.ref(`tj-${id}`));
    await poll("its end", async () => (await training(id))?.status === "cancelled");
    expect((await training(id))?.status_message).toBe("The job's custom resource was deleted in Kubernetes.");
  });
});

describe("a cancel", () => {
  it("reaches the custom resource, and keeps the reason of an earlier cancel with kubectl", async () => {
    const { id } = await insertInferenceJob(
      database.pool,
      tenant,
      await insertModel(database.pool, tenant),
      1,
    );
    await stage.podOf(`ij-${id}-1`);
    await database.execute(sql.fragment`
      update inference_jobs set status = 'cancelling', cancel_requested_at = now() where id = ${id}`);
    await poll("its end", async () => {
      return (await maybeOneJob(database.pool, "inference", id))?.status === "cancelled";
    });
    const other = await insertTrainingJob(database.pool, tenant);
    await stage.podOf(`tj-${other}-1`);
    await database.pool.transaction(async (tx) => {
      await execute(
        tx,
        sql.fragment`update training_jobs
          set cancel_requested_at = now(), submitted_at = coalesce(submitted_at, now()) where id = ${other}`,
      );
      const ref = stage.ref(`tj-${other}`);
      await cluster.admin.patch(trainingJobs, ref, { spec: { cancel: { reason: "mine" } } });
    });
    await poll("its end", async () => (await training(other))?.status === "cancelled");
    expect((await training(other))?.status_message).toBe("mine");
  });
});

describe("rows that wait for their custom resources", () => {
  it("say why they wait if a custom resource of another tenant has their name", async () => {
    const theirs = await insertTenant(database.pool);
    const id = await database.pool.transaction(async (tx) => {
      const job = await insertTrainingJob(tx, tenant);
      const submission = await maybeOneSubmission(tx, defaultInstallation, "training", job);
      const object = resourceOf(submission!, job, stage.namespace);
      Object.assign(object.spec, { tenantId: theirs, suspend: true });
      await cluster.admin.create(trainingJobs, object);
      return job;
    });
    const reason = await poll("the reason in the row", () =>
      database.pool.oneFirst(sql.type(z.object({ submit_error: z.string().nullable() }))`
        select submit_error from training_jobs where id = ${id}`),
    );
    expect(reason).toBe(`cannot submit a job: TrainingJob tj-${id} exists and belongs to another tenant`);
    expect((await cluster.admin.get(trainingJobs, stage.ref(`tj-${id}`))).spec.tenantId).toBe(theirs);
    expect((await training(id))?.status).toBe("pending");
  });

  it("are all submitted in one round, eight at a time", async () => {
    const database = await createDatabase();
    const pool = await makeDatabase({ PLOSIVE_DATABASE_URL: database.url, PLOSIVE_DATABASE_POOL: 10 });
    const space = await cluster.namespace();
    const kube = makeKube({ kubeconfig: space.operatorKubeconfig });
    try {
      const owner = await insertTenant(pool);
      const model = await insertModel(pool, owner);
      const ids = Array.from({ length: 600 }, () => randomUUID());
      await pool.query(sql.type(z.object({}))`
        insert into inference_jobs (id, tenant_id, model_id, config, total_files, shard_count, start_requested_at)
        select id, ${owner}, ${model}, '{}', 1, 1, now() - interval '2 seconds'
        from unnest(${sql.array(ids, "uuid")}) as id`);
      const log = makeLog("test", "error");
      const installation = defaultInstallation;
      const submit = makeSubmit({ db: pool, kube, installation, namespace: space.name, log });
      let open = 0;
      let most = 0;
      const outbox = makeOutbox({
        db: pool,
        kube,
        installation,
        namespace: space.name,
        submit: async (job) => {
          open += 1;
          most = Math.max(most, open);
          await submit(job);
          open -= 1;
        },
        metrics: makeJobMetrics(new Registry()),
        log,
        enqueue: () => {},
        signal: new AbortController().signal,
      });
      await outbox.submitRows();
      const made = await cluster.admin.list(inferenceJobs, space.name);
      expect(new Set(made.items.map(({ metadata }) => metadata.name))).toEqual(
        new Set(ids.map((id) => `ij-${id}`)),
      );
      const left = await pool.oneFirst(sql.type(z.object({ count: z.number() }))`
        select count(*) as count from inference_jobs where submitted_at is null`);
      expect(left).toBe(0);
      expect(most).toBe(8);
    } finally {
      kube.close();
      await pool.end();
      await database.drop();
    }
  });
});
