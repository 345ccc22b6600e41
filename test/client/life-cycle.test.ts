// The typed client against the real API and object store: uploads, retried requests, conditional requests, and jobs
// whose progress the test writes into the database in place of the operator.
import { sql } from "slonik";
import { beforeAll, expect, test } from "vitest";
import { allItems, body, type Client, makeClient } from "../../client/client.ts";
import { resumeAudioUpload, sendParts, uploadAudio, uploadForInference } from "../../client/upload.ts";
import { waitForInference, waitForTraining } from "../../client/wait.ts";
import { execute, type Client as TestClient, useApi } from "../support/api.ts";
import { wav } from "../support/audio.ts";
import { addModel, addTrainingJob, makeWorld } from "../support/world.ts";

const api = useApi();
let tenant: TestClient;
let client: Client;
beforeAll(async () => {
  tenant = await api.tenant();
  client = makeClient({ baseUrl: api.url, apiKey: tenant.key, retryForMs: 2_000 });
});

const take = (name: string) => ({
  name,
  bytes: new Blob([new Uint8Array(wav({ durationMs: 1_000 }))]),
  contentType: "audio/wav" as const,
});

test("the client uploads to a dataset and to an inference job, and reads both back", async () => {
  const dataset = await body(
    client.POST("/api/v1/datasets", { body: { name: "takes", artifact_types: [{ name: "click" }] } }),
  );
  const audio = await uploadAudio(client, dataset.id, take("a.wav"));
  expect(audio).toMatchObject({ filename: "a.wav", status: "processing", duration_ms: 1_000 });
  const path = { dataset_id: dataset.id };
  const listed = await allItems((query) =>
    client.GET("/api/v1/datasets/{dataset_id}/audio", { params: { path, query } }),
  );
  expect(listed.map(({ id }) => id)).toEqual([audio.id]);

  const { modelId } = await makeWorld(tenant, api.db);
  const job = await body(client.POST("/api/v1/inference-jobs", { body: { model_id: modelId } }));
  const file = await uploadForInference(client, job.id, take("b.wav"));
  expect(file).toMatchObject({ inference_job_id: job.id, filename: "b.wav", status: "queued" });
});

test("the client uploads large files in parts, and resumes the upload of a process that ended", async () => {
  const dataset = await body(client.POST("/api/v1/datasets", { body: { name: "takes" } }));
  let audio_file_id = "";
  const interrupted = uploadAudio(client, dataset.id, take("a.wav"), {
    partsFromBytes: 1,
    onTicket: (id) => {
      audio_file_id = id;
      throw new Error("interrupted");
    },
  });
  await expect(interrupted).rejects.toThrow("interrupted");
  const path = { dataset_id: dataset.id, audio_file_id };
  const ask = () =>
    body(client.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/parts", { params: { path } }));
  const expired = async () => {
    const next = await ask();
    return { ...next, parts: next.parts.map((part) => ({ ...part, url: `${part.url}0` })) };
  };
  await expect(sendParts(take("a.wav"), expired)).rejects.toThrow(/refused a\.wav with 403/);
  const asked = [expired, ask, ask];
  await sendParts(take("a.wav"), async () => await (asked.shift() ?? expired)());
  expect(asked).toEqual([]);
  const audio = await resumeAudioUpload(client, dataset.id, audio_file_id, take("a.wav"));
  expect(audio).toMatchObject({ id: audio_file_id, status: "processing" });

  const { modelId } = await makeWorld(tenant, api.db);
  const job = await body(client.POST("/api/v1/inference-jobs", { body: { model_id: modelId } }));
  const file = await uploadForInference(client, job.id, take("b.wav"), { partsFromBytes: 1 });
  expect(file).toMatchObject({ filename: "b.wav", status: "queued" });
});

test("a repeated request with the same Idempotency-Key creates nothing new", async () => {
  const request = {
    body: { name: "once" },
    params: { header: { "Idempotency-Key": "the first try" } },
  };
  const [first, second] = [
    await client.POST("/api/v1/datasets", request),
    await client.POST("/api/v1/datasets", request),
  ];
  expect(second.data?.id).toBe(first.data?.id);
  expect(second.response.headers.get("Idempotency-Replayed")).toBe("true");
});

test("a change with a stale If-Match is refused with its error code", async () => {
  const dataset = await body(client.POST("/api/v1/datasets", { body: { name: "old" } }));
  const path = { dataset_id: dataset.id };
  const read = await client.GET("/api/v1/datasets/{dataset_id}", { params: { path } });
  const etag = read.response.headers.get("ETag") ?? "";
  const rename = (name: string) =>
    body(
      client.PATCH("/api/v1/datasets/{dataset_id}", {
        params: { path, header: { "If-Match": etag } },
        body: { name },
      }),
    );
  expect((await rename("new")).name).toBe("new");
  await expect(rename("newer")).rejects.toMatchObject({ status: 412, code: "precondition_failed" });
});

test("the client follows a training job to its end and reports each change once", async () => {
  const world = await makeWorld(tenant, api.db);
  const jobId = await addTrainingJob(
    api.db,
    tenant.tenantId,
    world.datasetId,
    world.annotationSetId,
    "queued",
  );
  const move = (status: string, percent: number) =>
    execute(
      api.db,
      sql.fragment`update training_jobs set status = ${status}, progress_percent = ${percent} where id = ${jobId}`,
    );
  const seen: string[] = [];
  const job = await waitForTraining(client, jobId, {
    onChange: async ({ status, progress_percent }) => {
      seen.push(`${status} ${progress_percent}`);
      if (status === "queued") await move("running", 10);
      else if (progress_percent === 10) await move("running", 60);
      else if (progress_percent === 60) await move("completed", 100);
    },
  });
  expect(job.status).toBe("completed");
  expect(seen).toEqual(["queued 0", "running 10", "running 60", "completed 100"]);
});

test("the client stops following a job that does not change, with an error that says so", async () => {
  const world = await makeWorld(tenant, api.db);
  const trainingId = await addTrainingJob(api.db, tenant.tenantId, world.datasetId, world.annotationSetId);
  const modelId = await addModel(api.db, tenant.tenantId, trainingId);
  const job = await body(client.POST("/api/v1/inference-jobs", { body: { model_id: modelId } }));
  const waiting = waitForInference(client, job.id, { stallMs: 100, pollSeconds: 1 });
  await expect(waiting).rejects.toThrow(/has been "pending" for .* without any change/);
});
