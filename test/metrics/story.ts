// The events in the installation whose metrics are tested: requests of all kinds, a training that succeeds, an
// embedding, an inference that fails, a training that waits, and pods with valid and invalid reports. Called by
// prometheus.test.ts.
import { createHash, randomBytes } from "node:crypto";
import { sql } from "slonik";
import { z } from "zod";
import { makeApiKey } from "../../src/api/api-key-format.ts";
import type { Db } from "../../src/db/driver/page.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import { clientOf, makeTenant } from "../support/api.ts";
import type { ApiProcess } from "../support/api-process.ts";
import type { TestCluster } from "../support/kube.ts";
import { callRuns, endPod, podOf, put, startPod, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import type { Receiver } from "../support/receiver.ts";
import { createResource } from "../support/resource.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertInferenceJob,
  insertModel,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";
import { finishTraining } from "../support/training.ts";

export type Stage = {
  cluster: TestCluster;
  namespace: string;
  pool: DatabasePool;
  /** The replica whose run endpoint the pods call. */
  operator: { runsPort: number };
};

const hex = (text: string) => createHash("sha256").update(text).digest("hex");

/**
 * Valid requests, a bad key, a request over the limit, a webhook, and an upload that the API, which cannot reach its store,
 * cannot confirm. Returns a function that tries to confirm it again.
 */
export async function useTheApi(
  api: ApiProcess,
  pool: DatabasePool,
  receiver: Receiver,
): Promise<() => Promise<void>> {
  const client = await makeTenant(pool, api.url);
  await client.post("/api/v1/webhooks", { url: `${receiver.origin}/hook` });
  const { id } = (await client.post("/api/v1/datasets", { name: "takes" })).body;
  const file = { filename: "x.wav", content_type: "audio/wav", size_bytes: 100 };
  const audio = `/api/v1/datasets/${id}/audio`;
  const ticket = (await client.post(`${audio}/upload-url`, file)).body;
  const confirm = async () => {
    const { status } = await client.post(`${audio}/${ticket.audio_file_id}/confirm`);
    if (status !== 503) throw new Error(`a store that cannot be reached was answered with ${status}`);
  };
  await confirm();
  await clientOf(api.url, makeApiKey(randomBytes), "").get("/api/v1/datasets");
  await poll("a request that is one too many", async () => {
    const answer = await client.post("/api/v1/auth/api-keys", { name: "another" });
    return answer.status === 429;
  });
  await poll("a delivery", () => receiver.received.length > 0);
  return confirm;
}

async function ended(pool: DatabasePool, kind: JobKind, id: string): Promise<void> {
  await poll(`the ${kind} to end`, async () =>
    ["completed", "failed"].includes((await maybeOneJob(pool, kind, id))?.status ?? ""),
  );
}

/** A training that succeeds. Its pod sends valid, stale, invalid and unauthorized reports. */
export async function train({ cluster, namespace, pool, operator }: Stage): Promise<void> {
  const id = await insertTrainingJob(pool, await insertTenant(pool));
  const run = `tj-${id}-1`;
  const pod = await podOf(cluster.admin, namespace, run);
  await startPod(cluster.admin, pod);
  const worker = new Worker(cluster, () => operator, pod);
  await worker.report({ items_done: 1, items_total: 3, fraction: 1 / 3 });
  const path = `/v1/runs/${run}/shards/0/progress`;
  const stale = {
    seq: 1,
    items_done: 0,
    items_total: 3,
    items_failed: 0,
    fraction: 0,
    message: null,
    metrics: [],
  };
  await worker.call("PUT", path, { body: stale });
  await worker.call("PUT", path, { body: { seq: "first" } });
  await callRuns(cluster, operator.runsPort, "PUT", path, "not a token", stale);
  await poll(
    "the training to run",
    async () => (await maybeOneJob(pool, "training", id))?.status === "running",
  );
  await finishTraining(cluster.admin, pod, worker);
  await ended(pool, "training", id);
  // It asks for the work, because a report that arrives before the run endpoint knows of the end would count as accepted.
  await poll("the end of the run at the run endpoint", async () => {
    const { status } = await worker.call("GET", `/v1/runs/${run}/shards/0/work`);
    return status === 410;
  });
}

/** One file of three seconds. */
export async function embed({ cluster, namespace, pool, operator }: Stage): Promise<void> {
  const tenant = await insertTenant(pool);
  await insertConfirmedAudio(pool, tenant, await insertDataset(pool, tenant));
  const id = await poll("an embedding job", () =>
    pool.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
      select id from embedding_jobs where tenant_id = ${tenant}`),
  );
  const run = `ej-${id}-1`;
  const pod = await podOf(cluster.admin, namespace, run);
  await startPod(cluster.admin, pod);
  const work = await new Worker(cluster, () => operator, pod).work();
  if (work.kind !== "embed") throw new Error("not the work of an embedding");
  const facts = {
    duration_ms: 3000,
    sample_rate_hz: 8000,
    channels: 1,
    size_bytes: 10,
    codec: "pcm_s16le",
    frames: 300,
  };
  const embedding = { sha256: hex("e"), size_bytes: 4 };
  const items = work.items.map(({ id }) => ({
    id,
    status: "completed",
    ...facts,
    sha256: hex(id),
    embedding,
  }));
  const feature_spec = { id: "dsp-mr1", hash: "abc", dims: 8, hop_ms: 10 };
  await put(work.result, JSON.stringify({ version: 1, kind: "embed", run, shard: 0, feature_spec, items }));
  await endPod(cluster.admin, pod, 0);
  await ended(pool, "embedding", id);
}

/** An inference whose only shard reports missing input, which is a user error. Returns its custom resource's name. */
export async function failToInfer({ cluster, namespace, pool }: Stage): Promise<string> {
  const tenant = await insertTenant(pool);
  const { id } = await insertInferenceJob(pool, tenant, await insertModel(pool, tenant), 1);
  const pod = await podOf(cluster.admin, namespace, `ij-${id}-1`);
  await startPod(cluster.admin, pod);
  await endPod(cluster.admin, pod, 66);
  await ended(pool, "inference", id);
  return `ij-${id}`;
}

/** An inference whose pod holds a GPU for two seconds and sends no report. */
export async function stall({ cluster, namespace, pool }: Stage): Promise<void> {
  const tenantId = await insertTenant(pool);
  const modelId = await insertModel(pool, tenantId);
  const insert = (tx: Db) => insertInferenceJob(tx, tenantId, modelId, 1);
  const spec = { progressDeadlineSeconds: 2 };
  const { id } = await createResource(cluster.admin, namespace, pool, "inference", insert, spec);
  await startPod(cluster.admin, await podOf(cluster.admin, namespace, `ij-${id}-1`));
}

/** A custom resource that is created by hand. */
export async function applyJob(
  { cluster, namespace }: Pick<Stage, "cluster" | "namespace">,
  type: ResourceType,
  name: string,
  spec: object,
): Promise<void> {
  const shards = { count: 1 };
  await cluster.admin.create(type, {
    metadata: { namespace, name },
    spec: { shards, ...spec },
  } as KubeObject);
}

/** A training whose pod finds no node. Returns the name of its custom resource. */
export async function waitForPods({ cluster, namespace, pool }: Stage): Promise<string> {
  const id = await insertTrainingJob(pool, await insertTenant(pool));
  await podOf(cluster.admin, namespace, `tj-${id}-1`);
  return `tj-${id}`;
}
