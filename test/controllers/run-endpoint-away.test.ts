// While no run endpoint works, pods cannot report. Their silence does not count against them; it does once one works again.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunEndpoint } from "../../controllers/runs/endpoint.ts";
import { pods } from "../../src/kube/kinds.ts";
import { type TestNamespace, useCluster } from "../support/kube.ts";
import { podOf, runOperator, startPod, type TestOperator } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { createResource } from "../support/resource.ts";
import { insertInferenceJob, insertModel, insertTenant } from "../support/rows.ts";
import { startRuns } from "../support/runs.ts";
import { useStorage } from "../support/s3.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
let namespace: TestNamespace;
let operator: TestOperator;
let runs: RunEndpoint | undefined;

beforeAll(async () => {
  namespace = await cluster.namespace();
  const servers = { cluster, namespace, databaseUrl: database.url, storage: store.config };
  operator = await runOperator({ ...servers, runs: null });
  await operator.leading;
});
afterAll(() => Promise.all([operator?.stop(), runs?.stop()]));

it("a silent pod is kept while no run endpoint works, and evicted after one works again", async () => {
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const { id } = await createResource(
    cluster.admin,
    namespace.name,
    database.pool,
    "inference",
    (tx) => insertInferenceJob(tx, tenant, model, 1),
    { progressDeadlineSeconds: 1 },
  );
  const pod = await podOf(cluster.admin, namespace.name, `ij-${id}-1`);
  await startPod(cluster.admin, pod);
  const isGone = async () => {
    const live = await cluster.admin.find(pods, pod.metadata);
    return live === undefined || live.metadata.deletionTimestamp !== undefined;
  };
  // Five times the deadline.
  await pause(5_000);
  expect(await isGone()).toBe(false);
  runs = await startRuns({ cluster, namespace, databaseUrl: database.url, storage: store.config });
  await poll("the silent pod to be evicted", isGone);
});
