// The plug-in encoder of the installation: pods that embed or detect get its URLs, and pods that train use stored
// embeddings. test/worker/test_encoder.py tests the worker's part.
import { sql } from "slonik";
import { expect, it } from "vitest";
import { poll } from "../support/poll.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ runs: { PLOSIVE_ENCODER: "encoders/bands/1" } });

it("an inference pod gets URLs of the encoder and its manifest", async () => {
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

it("a training pod gets no encoder", async () => {
  const tenant = await insertTenant(stage.database.pool);
  const job = await insertTrainingJob(stage.database.pool, tenant);
  await stage.database.execute(sql.fragment`
    update training_job_files set embedding_model = 'dsp-mr1+bands@1' where training_job_id = ${job}`);
  const work = await stage.worker(await stage.podOf(`tj-${job}-1`)).work();
  expect(work).not.toHaveProperty("encoder");
});

it("a training that has begun continues with embeddings of the previous encoder", async () => {
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

it("a training on embeddings without the encoder is refused, because inference pods would refuse its model", async () => {
  const tenant = await insertTenant(stage.database.pool);
  const job = await insertTrainingJob(stage.database.pool, tenant);
  const asked = await stage
    .worker(await stage.podOf(`tj-${job}-1`))
    .work()
    .catch(String);
  expect(asked).toMatch(/422.*with encoder none, .* has bands@1; .*plosive-admin embeddings renew/s);
});
