// A platform engineer retries ended jobs with an annotation, as docs/kubectl.md describes. Real API server, Postgres, S3, and REST
// over HTTP.
import { sql } from "slonik";
import { beforeEach, describe, expect, it } from "vitest";
import { derivedId } from "../../src/db/driver/id.ts";
import { makeDatabase } from "../../src/db/driver/pool.ts";
import { plainJobRequest } from "../../src/db/quota.ts";
import { retryTrainingJob } from "../../src/db/training-job.ts";
import { embeddingJobs, events, inferenceJobs, trainingJobs } from "../../src/kube/kinds.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import { maxRetryRequest, retryRequest } from "../../src/schemas/job-resource.ts";
import { searchable, trainable, useAdoption } from "../support/adoption.ts";
import { type Client, execute } from "../support/api.ts";
import { poll } from "../support/poll.ts";
import { loginOf } from "../support/postgres.ts";

const stage = useAdoption();
const { cluster, api, apply, find } = stage;
let client: Client;
beforeEach(async () => {
  client = await api.tenant();
});

const training = "/api/v1/training-jobs";
const inference = "/api/v1/inference-jobs";
const kindOf = (type: unknown) => type as ResourceType<KubeObject>;
const ask = (type: unknown, name: string, at: string) =>
  cluster.admin.patch(kindOf(type), stage.ref(name), { metadata: { annotations: { [retryRequest]: at } } });
const cancel = async (type: unknown, name: string) => {
  await cluster.admin.patch(kindOf(type), stage.ref(name), { spec: { cancel: { reason: "enough" } } });
  await poll("the end", async () => (await find(type, name))?.status?.phase === "Cancelled");
};
/** The answer to the request with this value. */
const answer = (type: unknown, name: string, at: string) =>
  poll(`the answer to ${at}`, async () => {
    const { lastHandledRetryAt, conditions } = (await find(type, name))?.status ?? {};
    return lastHandledRetryAt === at && conditions?.find((each) => each.type === "Retried");
  });
const idIn = (message: string) => /as [ti]j-([0-9a-f-]{36})\.$/.exec(message)?.[1] ?? "";
const specOf = (type: unknown, name: string) =>
  poll(`the resource ${name}`, async () => {
    const found = await find(type, name);
    return (found as unknown as { spec: Record<string, unknown> } | undefined)?.spec;
  });
const emitted = (name: string, reason: string) =>
  poll(`the event ${reason} of ${name}`, async () => {
    const { items } = await cluster.admin.list(events, stage.namespace);
    return (
      items as unknown as { reason: string; note: string; type: string; regarding: { name: string } }[]
    ).find((event) => event.regarding.name === name && event.reason === reason);
  });
const total = async () => (await client.get(training)).body.total;

/** How a job runs that differs from all defaults. */
const settings = {
  queueName: "voices",
  pendingDeadlineSeconds: 1234,
  progressDeadlineSeconds: 432,
  ttlSecondsAfterFinished: 86_000,
  retries: { perShard: 1, infraPerShard: 3, maxFailedShards: 0 },
};

describe("a training job that kubectl applied", () => {
  it("is retried once if the value of the annotation is longer than the status can hold", async () => {
    await apply(trainingJobs, "long", await trainable(api.db, client));
    await cancel(trainingJobs, "long");
    const value = "again ".repeat(20);
    await ask(trainingJobs, "long", value);
    expect(await answer(trainingJobs, "long", value.slice(0, maxRetryRequest))).toMatchObject({
      reason: "RetryCreated",
    });
    expect(await total()).toBe(2);
  });

  it("is created again with its settings, once for each value of the annotation", async () => {
    const spec = { ...(await trainable(api.db, client)), ...settings };
    const { metadata } = await apply(trainingJobs, "by-kubectl", spec);
    await stage.podOf(`tj-${metadata.uid}-1`);
    await cancel(trainingJobs, "by-kubectl");
    await ask(trainingJobs, "by-kubectl", "2026-11-25T12:00:00Z");
    const first = await answer(trainingJobs, "by-kubectl", "2026-11-25T12:00:00Z");
    expect(first).toMatchObject({ status: "True", reason: "RetryCreated" });
    const id = idIn(first.message);
    expect(await specOf(trainingJobs, `tj-${id}`)).toMatchObject(spec);
    expect(await emitted("by-kubectl", "RetryCreated")).toMatchObject({
      type: "Normal",
      note: first.message,
    });
    const log = (await client.get(`${training}/${id}/events`)).body.items;
    expect(log.at(-1)).toMatchObject({ data: { retry_of: metadata.uid } });
    await stage.podOf(`tj-${id}-1`);

    // Other changes of the resource, and another operator, do not repeat it.
    await cluster.admin.patch(kindOf(trainingJobs), stage.ref("by-kubectl"), {
      metadata: { labels: { a: "b" } },
    });
    await stage.operator.stop();
    await stage.start();
    await ask(trainingJobs, "by-kubectl", "again");
    const second = idIn((await answer(trainingJobs, "by-kubectl", "again")).message);
    expect(second).not.toBe(id);
    expect(await total()).toBe(3);

    // The API keeps the settings too.
    await stage.podOf(`tj-${second}-1`);
    await cancel(trainingJobs, `tj-${second}`);
    const third = (await client.post(`${training}/${second}/retry`)).body.id;
    expect(await specOf(trainingJobs, `tj-${third}`)).toMatchObject(spec);
  });

  it("gets no second job from an operator that follows one that was killed after it added the row", async () => {
    const { metadata } = await apply(trainingJobs, "killed", await trainable(api.db, client));
    await stage.podOf(`tj-${metadata.uid}-1`);
    await cancel(trainingJobs, "killed");
    await stage.operator.stop();
    await ask(trainingJobs, "killed", "now");
    const id = derivedId(`${metadata.uid} now`);
    const db = await makeDatabase(
      {
        PLOSIVE_DATABASE_URL: loginOf(api.db.configuration.connectionUri, "plosive_operator"),
        PLOSIVE_DATABASE_POOL: 1,
      },
      undefined,
      "plosive_operator",
    );
    await retryTrainingJob(db, client.tenantId, metadata.uid!, { ...plainJobRequest, id });
    await db.end();
    await stage.start();
    expect(idIn((await answer(trainingJobs, "killed", "now")).message)).toBe(id);
    expect(await total()).toBe(2);
  });

  it("is refused with the API's reason, and runs on, while it has not ended", async () => {
    const { metadata } = await apply(trainingJobs, "too-early", await trainable(api.db, client));
    await stage.podOf(`tj-${metadata.uid}-1`);
    await ask(trainingJobs, "too-early", "now");
    const refusal = await answer(trainingJobs, "too-early", "now");
    expect(refusal).toMatchObject({ status: "False", reason: "RetryRefused" });
    expect(refusal.message).toContain("(job_not_finished)");
    expect(await emitted("too-early", "RetryRefused")).toMatchObject({
      type: "Warning",
      note: refusal.message,
    });
    // The same value asks for nothing more, also after the end.
    await cancel(trainingJobs, "too-early");
    expect((await find(trainingJobs, "too-early"))?.status?.conditions).toContainEqual(refusal);
    expect(await total()).toBe(1);
  });
});

describe("jobs of the REST API", () => {
  it("a training is created again, unless a precondition no longer holds", async () => {
    const { tenantId: _, datasetId, annotationSetId, config } = await trainable(api.db, client);
    const body = { dataset_id: datasetId, annotation_set_id: annotationSetId, config };
    const { id } = (await client.post(training, body)).body;
    await stage.podOf(`tj-${id}-1`);
    await cancel(trainingJobs, `tj-${id}`);
    await ask(trainingJobs, `tj-${id}`, "first");
    const created = await answer(trainingJobs, `tj-${id}`, "first");
    await stage.podOf(`tj-${idIn(created.message)}-1`);
    await execute(
      api.db,
      sql.fragment`update tenants set suspended_at = now() where id = ${client.tenantId}`,
    );
    await ask(trainingJobs, `tj-${id}`, "second");
    const refusal = await answer(trainingJobs, `tj-${id}`, "second");
    expect(refusal).toMatchObject({ status: "False", message: expect.stringContaining("tenant_suspended") });
  });

  it("an inference is created again for the files that failed", async () => {
    const { modelId, files } = await searchable(api.db, client, 3);
    const { id } = (await client.post(inference, { model_id: modelId, audio_file_ids: files })).body;
    const name = `ij-${id}`;
    await stage.podOf(`${name}-1`);
    await cancel(inferenceJobs, name);
    await ask(inferenceJobs, name, "none failed");
    expect((await answer(inferenceJobs, name, "none failed")).message).toContain("(no_files)");
    await execute(
      api.db,
      sql.fragment`update inference_files set status = 'failed'
        where inference_job_id = ${id} and audio_file_id = ${files[0]!}`,
    );
    await ask(inferenceJobs, name, "one failed");
    const created = idIn((await answer(inferenceJobs, name, "one failed")).message);
    expect((await client.get(`${inference}/${created}`)).body).toMatchObject({ total_files: 1 });
    await stage.podOf(`ij-${created}-1`);
  });
});

it("an embedding job is refused with what to do instead", async () => {
  await apply(embeddingJobs, "embeds", { tenantId: client.tenantId, cancel: { reason: "enough" } });
  await poll("the end", async () => (await find(embeddingJobs, "embeds"))?.status?.phase === "Cancelled");
  await ask(embeddingJobs, "embeds", "now");
  expect((await answer(embeddingJobs, "embeds", "now")).message).toContain("plosive-admin embeddings renew");
});
