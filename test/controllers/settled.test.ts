// Jobs that have ended cause no request. Other clients touch three hundred settled jobs of all kinds and outcomes, all caches
// list them again, the operator compares them with their rows, and a new operator finds them. The API server's audit log
// then has no request about any of them.
import { createHash, randomUUID } from "node:crypto";
import { sql } from "slonik";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inParallel } from "../../controllers/runtime/parallel.ts";
import type { Db } from "../../src/db/driver/page.ts";
import { jobs } from "../../src/kube/kinds.ts";
import type { Job, KubeObject, Pod, ResourceType } from "../../src/kube/objects.ts";
import { type JobKind, jobKindNames, keys, resourceName, runName } from "../../src/schemas/job-kind.ts";
import type { JobPhase } from "../../src/schemas/job-resource.ts";
import type { DetectResult, EmbedResult } from "../../src/schemas/worker.ts";
import { resourceTypes } from "../../src/submit.ts";
import { compact } from "../support/compact.ts";
import { untilIdle } from "../support/idle.ts";
import { type TestNamespace, useOwnCluster } from "../support/kube.ts";
import { endPod, podOf, runOperator, type TestOperator, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { execute, useDatabase } from "../support/postgres.ts";
import { createResource } from "../support/resource.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertInferenceJob,
  insertModel,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";
import { finishTraining } from "../support/training.ts";

const cluster = useOwnCluster({ audit: true });
const database = useDatabase();
const store = useStorage();
let space: TestNamespace;
let operator: TestOperator;
let tenant: string;
let model: string;

/** How jobs of each kind end, and how many of them so. */
const ends: readonly {
  phase: JobPhase;
  count: number;
  spec?: object;
  after?: "result" | "failure" | "cancel";
}[] = [
  { phase: "Succeeded", count: 20, after: "result" },
  { phase: "Failed", count: 6, after: "failure" },
  { phase: "Failed", count: 34, spec: { profile: "there-is-none" } },
  { phase: "Cancelled", count: 6, after: "cancel" },
  { phase: "Cancelled", count: 34, spec: { cancel: { reason: "never mind" } } },
];
const perKind = ends.reduce((sum, { count }) => sum + count, 0);

const start = async () => {
  operator = await runOperator({
    cluster,
    namespace: space,
    databaseUrl: database.url,
    storage: store.config,
    driftMs: 200,
    // Held while the API server restarts.
    leaseMs: { durationMs: 120_000, deadlineMs: 100_000, periodMs: 500 },
  });
  await operator.leading;
};
beforeAll(async () => {
  space = await cluster.namespace();
  await start();
  tenant = await insertTenant(database.pool);
  model = await insertModel(database.pool, tenant);
});
afterAll(() => operator?.stop());

const typeOf = (kind: JobKind) =>
  resourceTypes[kind] as ResourceType<KubeObject & { status?: { phase?: string } }>;
const metricsOf = async () => (await fetch(`http://127.0.0.1:${operator.metricsPort}/metrics`)).text();
/** The sum of a metric's lines that contain these words. */
const metric = async (name: string, words = "") =>
  (await metricsOf())
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && line.includes(words))
    .map((line) => Number(line.slice(line.lastIndexOf(" "))));
const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);

it("hundreds of settled jobs cause no request, whatever causes the operator to reconcile them", async () => {
  for (const kind of jobKindNames) {
    for (const end of ends) {
      const each = Array.from({ length: end.count }, () => end);
      await inParallel(each, 6, (one) => settle(kind, one));
    }
  }
  for (const kind of jobKindNames) await poll(`all ${kind} jobs to have ended`, () => allEnded(kind));
  await untilIdle(operator);
  const before = asked().length;
  const reconciled = async () => sum(await metric("controller_runtime_reconcile_total", "jobs"));
  const beforeTouch = await reconciled();

  // Others touch them and their Jobs.
  const touch = { metadata: { labels: { touched: "yes" } } };
  for (const kind of jobKindNames) {
    const { items } = await cluster.admin.list(typeOf(kind), space.name);
    for (const { metadata } of items) await cluster.admin.patch(typeOf(kind), metadata, touch);
  }
  const made = await cluster.admin.list(jobs, space.name);
  expect(made.items.length).toBeGreaterThanOrEqual(20 * jobKindNames.length);
  for (const { metadata } of made.items) await cluster.admin.patch<Job>(jobs, metadata, touch);
  await poll(
    "the operator to have looked at all",
    async () => (await reconciled()) >= beforeTouch + perKind * jobKindNames.length,
  );
  await untilIdle(operator);

  // All caches list anew: where they were is forgotten, and the API server knows nothing of before its start.
  await cluster.plane.stopApiServer();
  await compact(cluster.plane.etcd);
  await cluster.plane.startApiServer();
  await poll("the API server to take a change", () =>
    cluster.admin.patch<Job>(jobs, made.items[0]!.metadata, {}).catch(() => undefined),
  );
  await poll("each cache to list anew", async () => {
    const lists = await metric("plosive_informer_relists_total");
    return lists.length > 0 && lists.every((count) => count > 1);
  });
  await untilIdle(operator);

  // Another process finds them all.
  await operator.stop();
  await start();
  await poll(
    "the new operator to have looked at all",
    async () => (await reconciled()) >= perKind * jobKindNames.length,
  );
  await untilIdle(operator);
  expect(asked().slice(before).filter(isAboutOne)).toEqual([]);
  for (const kind of jobKindNames) expect(await allEnded(kind)).toBe(true);
}, 600_000);

const asked = () => cluster.requests(space, "operator");
/** Neither a list or watch of a cache nor the lease. */
const isAboutOne = (line: string) =>
  !/^(list|watch) /.test(line) && !line.includes("coordination.k8s.io/leases");

async function allEnded(kind: JobKind): Promise<boolean> {
  const { items } = await cluster.admin.list(typeOf(kind), space.name);
  const found = (phase: JobPhase) => items.filter(({ status }) => status?.phase === phase).length;
  const wanted = (phase: JobPhase) =>
    sum(ends.filter((end) => end.phase === phase).map(({ count }) => count));
  return (["Succeeded", "Failed", "Cancelled"] as const).every((phase) => found(phase) === wanted(phase));
}

/** Makes a job and plays its pod to the end that is asked for. */
async function settle(kind: JobKind, { spec = {}, after }: (typeof ends)[number]): Promise<void> {
  const row = (tx: Db) => insert(tx, kind);
  const { id, file } = await createResource(cluster.admin, space.name, database.pool, kind, row, spec);
  if (after === undefined) return;
  const name = resourceName(kind, id);
  const pod = await podOf(cluster.admin, space.name, runName(name, 1));
  if (after === "failure") await endPod(cluster.admin, pod, 64);
  else if (after === "result") await finish(kind, pod, file);
  else {
    const cancel = { reason: "enough" };
    await cluster.admin.patch(typeOf(kind), { namespace: space.name, name }, { spec: { cancel } });
  }
}

async function insert(tx: Db, kind: JobKind): Promise<{ id: string; file: string }> {
  if (kind === "training") return { id: await insertTrainingJob(tx, tenant), file: "" };
  if (kind === "inference") {
    const { id, files } = await insertInferenceJob(tx, tenant, model, 1);
    return { id, file: files[0]! };
  }
  const id = randomUUID();
  const dataset = await insertDataset(tx, tenant);
  // In the same transaction as the job: nobody gathers the file meanwhile.
  const file = await insertConfirmedAudio(tx, tenant, dataset);
  await execute(
    tx,
    sql.fragment`insert into embedding_jobs (id, tenant_id, shard_count) values (${id}, ${tenant}, 1)`,
  );
  await execute(
    tx,
    sql.fragment`
      update audio_files set embedding_job_id = ${id}, embedding_shard = 0, embedding_status = 'processing'
      where id = ${file}`,
  );
  return { id, file };
}

async function finish(kind: JobKind, pod: Pod, file: string): Promise<void> {
  const worker = new Worker(cluster, () => operator, pod);
  if (kind === "training") return await finishTraining(cluster.admin, pod, worker);
  const sha256 = createHash("sha256").update(file).digest("hex");
  const facts = { duration_ms: 1000, sample_rate_hz: 8000, channels: 1, sha256, size_bytes: 10 };
  const common = { version: 1, run: worker.run, shard: 0 } as const;
  const item = { id: file, status: "completed", ...facts } as const;
  const result: DetectResult | EmbedResult =
    kind === "inference"
      ? { ...common, kind: "detect", items: [{ ...item, detections: [] }] }
      : {
          ...common,
          kind: "embed",
          feature_spec: { id: "dsp", hash: "h", dims: 1, hop_ms: 10 },
          items: [{ ...item, codec: "pcm_s16le", frames: 100, embedding: { sha256, size_bytes: 5 } }],
        };
  await store.storage.write(keys.result(worker.run, 0), JSON.stringify(result));
  await endPod(cluster.admin, pod, 0);
}
