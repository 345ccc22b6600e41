// The purge queue: the operator's leader deletes objects of deleted rows from a real store and their custom resources
// from a real API server, with exactly its own rights and without a grace period.
import { sql } from "slonik";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { purgeNextBatch } from "../../controllers/purge-queue.ts";
import { buildModel } from "../../controllers/training-job/build-model.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { maybeOneModelRow } from "../../src/db/operator/ingest.ts";
import { countFailingPurges } from "../../src/db/operator/purge-queue.ts";
import { inferenceJobs, jobs, models, trainingJobs } from "../../src/kube/kinds.ts";
import { makeLog } from "../../src/log.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { isNotFound } from "../../src/storage/errors.ts";
import { makeStorage } from "../../src/storage/storage.ts";
import { poll } from "../support/poll.ts";
import { execute } from "../support/postgres.ts";
import { startProxy } from "../support/proxy.ts";
import {
  insertDataset,
  insertEmbeddedAudio,
  insertInferenceJob,
  insertModel,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ graceSeconds: 0 });
const { cluster, database, store } = stage;
let tenant: string;

beforeAll(async () => {
  tenant = await insertTenant(database.pool);
});

const write = async (...keys: string[]) => {
  for (const key of keys) await store.storage.write(key, key);
};
const exists = (key: string) =>
  store.storage.head(key).then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
const startParts = (key: string) => store.storage.startParts(key, { contentType: "audio/wav", metadata: {} });
const untilAborted = (key: string, id: string) =>
  poll(`the parts of ${key} to be gone`, async () => (await store.storage.listParts(key, id)) === undefined);
const untilGone = async (...keys: string[]) => {
  for (const key of keys) await poll(`${key} to be gone`, async () => !(await exists(key)));
};
const leftovers = () =>
  database.pool.any(sql.type(
    z.object({ id: z.number(), kind: z.string(), target: z.string(), attempts: z.number() }),
  )`
    select id, kind, target, attempts from leftovers order by id`);

describe("a cancelled training job", () => {
  it("is cancelled in Kubernetes within 20 s and loses its run's objects; its deletion removes the rest", async () => {
    const id = await insertTrainingJob(database.pool, tenant);
    const ref = stage.ref(`tj-${id}`);
    await stage.podOf(`tj-${id}-1`);
    const result = `runs/tj-${id}-1/0/result.json`;
    const partial = `models/${tenant}/${id}/tj-${id}-1/model.onnx`;
    await write(result, `runs/tj-${id}-1/checkpoint`, partial, `runs/tj-${id}x-1/checkpoint`);
    await database.execute(
      sql.fragment`update training_jobs set status = 'cancelling', cancel_requested_at = now() where id = ${id}`,
    );
    // The sweep for drift runs once a minute, so within 20 s only the sweep of cancels can have passed it on.
    await poll(
      "the cancel in the spec",
      async () => (await cluster.admin.get(trainingJobs, ref)).spec?.cancel,
    );
    await poll(
      "the row to be cancelled",
      async () => (await maybeOneJob(database.pool, "training", id))?.status === "cancelled",
    );
    await untilGone(result, `runs/tj-${id}-1/checkpoint`);
    expect(await exists(partial)).toBe(true);
    expect(await exists(`runs/tj-${id}x-1/checkpoint`)).toBe(true);

    await database.execute(sql.fragment`delete from training_jobs where id = ${id}`);
    await untilGone(partial);
    await poll(
      "the custom resource to be gone",
      async () => (await cluster.admin.find(trainingJobs, ref)) === undefined,
    );
    expect(await cluster.admin.find(jobs, stage.ref(`tj-${id}-1`))).toBeUndefined();
  });
});

describe("a job that has ended", () => {
  const end = async (id: string) => {
    await cluster.admin.patch(inferenceJobs, stage.ref(`ij-${id}`), {
      spec: { cancel: { reason: "enough" } },
    });
    await poll("the row to end", async () => {
      return (await maybeOneJob(database.pool, "inference", id))?.status === "cancelled";
    });
  };

  it("loses its custom resource, its Job and the records of its ingests, and keeps its row", async () => {
    const { id } = await insertInferenceJob(
      database.pool,
      tenant,
      await insertModel(database.pool, tenant),
      1,
    );
    await stage.podOf(`ij-${id}-1`);
    await database.execute(sql.fragment`
      insert into result_ingests (run_id, shard, digest)
      select run, 0, 'd' from unnest(${sql.array([`ij-${id}-1`, `ij-${id}-20`, `tj-${id}-1`], "text")}) run`);
    const ingests = () =>
      database.pool.anyFirst(sql.type(z.object({ run_id: z.string() }))`select run_id from result_ingests`);
    await end(id);
    await poll("the resource to go", async () => {
      return (await cluster.admin.find(inferenceJobs, stage.ref(`ij-${id}`))) === undefined;
    });
    await poll("its Job to go", async () => {
      return (await cluster.admin.find(jobs, stage.ref(`ij-${id}-1`))) === undefined;
    });
    expect((await maybeOneJob(database.pool, "inference", id))?.status).toBe("cancelled");
    await poll("its records to go", async () => (await ingests()).length === 1);
    expect(await ingests()).toEqual([`tj-${id}-1`]);
  });
});

describe("a deleted model", () => {
  it("loses its artifacts and its custom resource", async () => {
    const id = await insertModel(database.pool, tenant);
    const row = (await maybeOneModelRow(database.pool, id))!;
    const folder = `models/${tenant}/${row.trainingJobId}/`;
    await write(`${folder}run/model.onnx`, `${folder}run/card.json`);
    await cluster.admin.create(models, buildModel(row, stage.namespace));
    // The training job may be deleted first: the artifacts still belong to the model.
    await database.execute(sql.fragment`delete from training_jobs where id = ${row.trainingJobId}`);
    await poll("the job's leftovers to be dealt with", async () => (await leftovers()).length === 0);
    expect(await exists(`${folder}run/model.onnx`)).toBe(true);
    await database.execute(sql.fragment`delete from models where id = ${id}`);
    await untilGone(`${folder}run/model.onnx`, `${folder}run/card.json`);
    await poll(
      "the custom resource to be gone",
      async () => (await cluster.admin.find(models, stage.ref(`m-${id}`))) === undefined,
    );
  });
});

describe("an embedding that was renewed", () => {
  it("loses its previous objects and keeps the new ones", async () => {
    const file = await insertEmbeddedAudio(database.pool, tenant, await insertDataset(database.pool, tenant));
    const of = (run: string) => [
      `embeddings/${tenant}/${file}/${run}.safetensors`,
      `peaks/${tenant}/${file}/${run}.json`,
    ];
    await write(...of("x"), ...of("ej-2-1"));
    await database.execute(sql.fragment`
      update audio_files set embedding_key = ${`embeddings/${tenant}/${file}/ej-2-1.safetensors`} where id = ${file}`);
    await untilGone(...of("x"));
    for (const key of of("ej-2-1")) expect(await exists(key)).toBe(true);
  });
});

describe("a deleted dataset", () => {
  it("loses audio, embeddings and peaks, but not before open upload forms have expired", async () => {
    const dataset = await insertDataset(database.pool, tenant);
    const [old, young] = [
      await insertEmbeddedAudio(database.pool, tenant, dataset),
      await insertEmbeddedAudio(database.pool, tenant, dataset),
    ];
    await database.execute(
      sql.fragment`update audio_files set created_at = now() - interval '2 hours' where id = ${old}`,
    );
    const objectsOf = (id: string) => [
      `audio/${tenant}/${id}`,
      `incoming/${tenant}/${id}`,
      `embeddings/${tenant}/${id}/ej-1.safetensors`,
      `peaks/${tenant}/${id}/ej-1.json`,
    ];
    await write(...objectsOf(old), ...objectsOf(young));
    // Of a process that ended before it recorded the upload.
    const parts = await startParts(`incoming/${tenant}/${old}`);
    await database.execute(sql.fragment`delete from datasets where id = ${dataset}`);
    await untilGone(...objectsOf(old));
    await untilAborted(`incoming/${tenant}/${old}`, parts);
    expect(await exists(`audio/${tenant}/${young}`)).toBe(true);
    await database.execute(sql.fragment`update leftovers set try_at = now() where target = ${young}`);
    await untilGone(...objectsOf(young));
  });

  it("waits for forms that were signed again for an old upload", async () => {
    const dataset = await insertDataset(database.pool, tenant);
    const pending = await insertEmbeddedAudio(database.pool, tenant, dataset);
    // In one transaction: between the two, the operator would end the old upload, which leaves a row of its own.
    await database.pool.transaction(async (tx) => {
      await execute(
        tx,
        sql.fragment`
          update audio_files set status = 'pending_upload', uploaded_at = null, created_at = now() - interval '23 hours'
          where id = ${pending}`,
      );
      await execute(tx, sql.fragment`delete from datasets where id = ${dataset}`);
    });
    const waits = await database.pool.oneFirst(sql.type(z.object({ waits: z.boolean() }))`
      select try_at > now() + interval '55 minutes' as waits from leftovers where target = ${pending}`);
    expect(waits).toBe(true);
  });
});

describe("an upload to an inference job", () => {
  it("stays while a repeated job needs it", async () => {
    const model = await insertModel(database.pool, tenant);
    const first = await insertInferenceJob(database.pool, tenant, model, 1);
    const second = await insertInferenceJob(database.pool, tenant, model, 1);
    const key = `inference/${tenant}/${first.files[0]}`;
    await database.execute(sql.fragment`update inference_files set object_key = ${key}, created_at = now() - interval '2 hours'
      where inference_job_id in (${first.id}, ${second.id})`);
    await write(key);
    const incoming = key.replace("inference/", "incoming/");
    const parts = await startParts(incoming);
    await database.execute(sql.fragment`delete from inference_jobs where id = ${first.id}`);
    await poll(
      "the first job's leftovers",
      async () => !(await leftovers()).some((line) => line.target === first.files[0]),
    );
    expect(await exists(key)).toBe(true);
    await database.execute(sql.fragment`delete from inference_jobs where id = ${second.id}`);
    await untilGone(key);
    await untilAborted(incoming, parts);
  });
});

describe("an upload that nobody confirmed", () => {
  it("expires with its object, and its row is deleted a day later", async () => {
    const dataset = await insertDataset(database.pool, tenant);
    const id = await insertEmbeddedAudio(database.pool, tenant, dataset);
    const key = `incoming/${tenant}/${id}`;
    await write(key);
    const parts = await startParts(key);
    await database.execute(
      sql.fragment`update audio_files set status = 'pending_upload', uploaded_at = null where id = ${id}`,
    );
    const status = () =>
      database.pool.maybeOneFirst(sql.type(z.object({ status: z.string() }))`
        select status from audio_files where id = ${id}`);
    await poll("the upload to expire", async () => (await status()) === "expired");
    await untilGone(key);
    await untilAborted(key, parts);
    await database.execute(
      sql.fragment`update audio_files set upload_expires_at = now() - interval '25 hours' where id = ${id}`,
    );
    await poll("the upload to be forgotten", async () => (await status()) === null);
  });

  it("is deleted at once when it belongs to an inference job", async () => {
    const model = await insertModel(database.pool, tenant);
    const { files } = await insertInferenceJob(database.pool, tenant, model, 2);
    await database.execute(sql.fragment`update inference_files set status = 'pending_upload', upload_expires_at = now()
      where id = ${files[0]!}`);
    await poll("the file to be gone", async () => {
      const left = await database.pool.anyFirst(sql.type(z.object({ id: z.string() }))`
        select id from inference_files where id in (${files[0]!}, ${files[1]!})`);
      return left.length === 1 && left[0] === files[1];
    });
  });
});

describe("a purge", () => {
  it("waits for open upload forms, and is retried after a failure once its backoff is over", async () => {
    const proxy = await startProxy(store.config.PLOSIVE_S3_ENDPOINT);
    const storage = makeStorage({ ...store.config, PLOSIVE_S3_ENDPOINT: proxy.url });
    const dataset = await insertDataset(database.pool, tenant);
    const audio = await insertEmbeddedAudio(database.pool, tenant, dataset);
    const deps = {
      db: database.pool,
      kube: cluster.admin,
      storage,
      installation: defaultInstallation,
      namespace: stage.namespace,
      graceSeconds: 3_600,
      log: makeLog("test", "silent"),
    };
    try {
      // An upload form may still be open: the operator must not purge the object for an hour.
      await database.execute(sql.fragment`delete from audio_files where id = ${audio}`);
      const mine = async () => (await leftovers()).find((line) => line.target === audio);
      expect(await mine()).toMatchObject({ attempts: 0 });
      await purgeNextBatch(deps);
      expect(await mine()).toMatchObject({ attempts: 0 });
      await stage.operator.stop();
      // Of other tests: an entry that failed there would count here.
      await database.execute(sql.fragment`delete from leftovers where target <> ${audio}`);
      await database.execute(sql.fragment`update leftovers set try_at = now() where target = ${audio}`);
      proxy.cut();
      await purgeNextBatch({ ...deps, graceSeconds: 0 });
      expect(await mine()).toMatchObject({ attempts: 1 });
      expect(await countFailingPurges(database.pool, defaultInstallation)).toBe(1);
      proxy.heal();
      await purgeNextBatch({ ...deps, graceSeconds: 0 });
      expect(await mine()).toMatchObject({ attempts: 1 });
      await database.execute(sql.fragment`update leftovers set try_at = now() where target = ${audio}`);
      await purgeNextBatch({ ...deps, graceSeconds: 0 });
      expect(await mine()).toBeUndefined();
    } finally {
      storage.close();
      await proxy.stop();
    }
  });
});
