// The plug-in encoder of the installation: pods that embed and detect are told where they may read it; those that train
// work on what is stored. What the worker does with it is in test/worker/test_encoder.py.
import { sql } from "slonik";
import { expect, it } from "vitest";
import { poll } from "../support/poll.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ config: { PLOSIVE_ENCODER: "encoders/bands/1" } });

it("gives a pod that detects URLs of the encoder and its manifest", async () => {
  const tenant = await insertTenant(stage.database.pool);
  const job = await insertInferenceJob(
    stage.database.pool,
    tenant,
    await insertModel(stage.database.pool, tenant),
    1,
  );
  const manifest = JSON.stringify({ id: "bands", version: "1" });
  await stage.store.storage.write("encoders/bands/1/manifest.json", manifest);
  const work = await stage.worker(await stage.podOf(`ij-${job.id}-1`)).work();
  if (work.kind !== "detect") throw new Error(`work of kind ${work.kind}`);
  expect(work.encoder?.onnx).toMatchObject({ size_bytes: null, sha256: null });
  expect(new URL(work.encoder!.onnx.url).pathname).toMatch(/\/encoders\/bands\/1\/model\.onnx$/);
  const answer = await fetch(work.encoder!.manifest.url);
  expect([answer.status, await answer.text()]).toEqual([200, manifest]);
});

it("gives a pod that trains none", async () => {
  const tenant = await insertTenant(stage.database.pool);
  const job = await insertTrainingJob(stage.database.pool, tenant);
  await stage.database.execute(sql.fragment`
    update training_job_files set embedding_model = 'dsp-mr1+bands@1' where training_job_id = ${job}`);
  const work = await stage.worker(await stage.podOf(`tj-${job}-1`)).work();
  expect(work).not.toHaveProperty("encoder");
});

it("lets who trains go on with what was embedded before it was exchanged", async () => {
  const tenant = await insertTenant(stage.database.pool);
  const job = await insertTrainingJob(stage.database.pool, tenant);
  await stage.database.execute(sql.fragment`
    update training_job_files set embedding_model = 'dsp-mr1+bands@1' where training_job_id = ${job}`);
  const worker = stage.worker(await stage.podOf(`tj-${job}-1`));
  await worker.work();
  expect(await worker.report({})).toBe(204);
  await stage.database.execute(sql.fragment`
    update training_job_files set embedding_model = 'dsp-mr1+bands@0' where training_job_id = ${job}`);
  const again = await poll("the report to be stored", async () => {
    const work = await worker.work().catch(() => undefined);
    return work?.kind;
  });
  expect(again).toBe("train");
});

it("lets nobody train on what was embedded without it: every pod that detects would refuse the model", async () => {
  const tenant = await insertTenant(stage.database.pool);
  const job = await insertTrainingJob(stage.database.pool, tenant);
  const asked = await stage
    .worker(await stage.podOf(`tj-${job}-1`))
    .work()
    .catch(String);
  expect(asked).toMatch(/422.*with encoder none, .* has bands@1; .*plosive-admin embeddings renew/s);
});
