// A leader dies after it created the Job of a new run and before the row names that run, and the run ends before
// there is another leader. Real API server and Job controller, Postgres and S3; the test plays the kubelet and the
// workers.
import { sql } from "slonik";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { maybeOneJob } from "../../src/db/job.ts";
import { jobs } from "../../src/kube/kinds.ts";
import type { Job } from "../../src/kube/objects.ts";
import { type TestNamespace, useCluster } from "../support/kube.ts";
import { endPod, podOf, put, runOperator, startPod, type TestOperator, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
let space: TestNamespace;
let operator: TestOperator;
const start = async () => {
  operator = await runOperator({
    cluster,
    namespace: space,
    databaseUrl: database.url,
    storage: store.config,
  });
};
beforeAll(async () => {
  space = await cluster.namespace();
  await start();
});
afterAll(() => operator?.stop());

const rowOf = (id: string) => maybeOneJob(database.pool, "inference", id);
const filesOf = (id: string) =>
  database.pool.anyFirst(sql.type(z.object({ status: z.string() }))`
    select status from inference_files where inference_job_id = ${id} order by shard`);
const podIn = (run: string, shard: number) => podOf(cluster.admin, space.name, run, shard);

async function detect(worker: Worker, file: string): Promise<void> {
  const { run, shard, result } = await worker.work();
  const facts = { duration_ms: 1_000, sample_rate_hz: 8_000, channels: 1, size_bytes: 10 };
  const item = { id: file, status: "completed", ...facts, sha256: "a".repeat(64), detections: [] };
  await put(result, JSON.stringify({ version: 1, kind: "detect", run, shard, items: [item] }));
}

it("a shard that failed in a run that the row does not name yet is counted as failed", async () => {
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const { id, files } = await insertInferenceJob(database.pool, tenant, model, 2);
  const first = await podIn(`ij-${id}-1`, 0);
  await startPod(cluster.admin, first);
  await detect(new Worker(cluster, () => operator, first), files[0]!);
  await endPod(cluster.admin, first, 0);
  await poll("the first shard's result", async () => (await filesOf(id))[0] === "completed");
  await operator.stop();

  // The Job is deleted by hand; the next leader makes another one and dies at once.
  const old = await cluster.admin.get(jobs, { namespace: space.name, name: `ij-${id}-1` });
  await cluster.admin.remove(jobs, old.metadata);
  await poll("the Job to go", async () => (await cluster.admin.find(jobs, old.metadata)) === undefined);
  const next = secondRun(old, `ij-${id}-2`);
  await cluster.admin.create(jobs, next);
  await endPod(cluster.admin, await podIn(`ij-${id}-2`, 0), 0);
  await endPod(cluster.admin, await podIn(`ij-${id}-2`, 1), 66);
  await poll("the Job to end", async () => {
    const { status } = await cluster.admin.get(jobs, next.metadata);
    return status?.conditions?.some(({ type, status }) => type === "Failed" && status === "True");
  });
  expect((await rowOf(id))?.platform_job_name).toBe(`ij-${id}-1`);

  await start();
  await poll("the end of the job", async () => (await rowOf(id))?.status === "completed");
  expect(await filesOf(id)).toEqual(["completed", "failed"]);
});

/** The Job of the second run, as the operator would have created it. */
function secondRun({ metadata, spec }: Job, name: string): Job {
  const own = (labels: Record<string, string> = {}) =>
    Object.fromEntries([
      ...Object.entries(labels).filter(([key]) => /^(plosive\.dev|app\.kubernetes\.io)\//.test(key)),
      ["plosive.dev/attempt", "2"],
    ]);
  const { selector: _, ...kept } = spec;
  const template = { ...spec.template, metadata: { labels: own(spec.template.metadata?.labels) } };
  const { namespace, ownerReferences } = metadata;
  return {
    metadata: { name, namespace, ownerReferences, labels: own(metadata.labels) },
    spec: { ...kept, template },
  };
}
