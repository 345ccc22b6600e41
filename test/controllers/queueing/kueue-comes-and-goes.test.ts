// Kueue is installed and removed while the operator runs: the operator asks to be started anew, and its successor goes on with
// the same Jobs. Real control plane; of Kueue only the definition of its Workloads is installed.
import { afterAll, beforeAll, expect, it } from "vitest";
import { jobs, trainingJobs } from "../../../src/kube/kinds.ts";
import { type TestNamespace, useOwnCluster } from "../../support/kube.ts";
import { jobsOf, runOperator, type TestOperator } from "../../support/operator.ts";
import { poll } from "../../support/poll.ts";
import { useDatabase } from "../../support/postgres.ts";
import { insertTenant, insertTrainingJob } from "../../support/rows.ts";
import { useStorage } from "../../support/s3.ts";

const cluster = useOwnCluster();
const database = useDatabase();
const store = useStorage();
let space: TestNamespace;
let operator: TestOperator;
let tenant: string;

beforeAll(async () => {
  space = await cluster.namespace({ kueue: true });
  tenant = await insertTenant(database.pool);
  await start();
});
afterAll(() => operator?.stop());

async function start(): Promise<void> {
  const config = { PLOSIVE_KUEUE: "auto", PLOSIVE_QUEUE_NAME: "voices" } as const;
  const { url: databaseUrl } = database;
  operator = await runOperator({
    cluster,
    namespace: space,
    databaseUrl,
    storage: store.config,
    config,
    lookMs: 100,
  });
  await operator.leading;
}
/** As controllers/main.ts and the kubelet do. */
async function startAnew(): Promise<void> {
  await operator.outdated;
  await operator.stop();
  await start();
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const workloads = "workloads.kueue.x-k8s.io";
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const install = () =>
  cluster.admin.send({
    method: "POST",
    path: definitions,
    body: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: workloads, annotations: { "api-approved.kubernetes.io": "unapproved, for a test" } },
      spec: {
        group: "kueue.x-k8s.io",
        names: { kind: "Workload", plural: "workloads", singular: "workload", listKind: "WorkloadList" },
        scope: "Namespaced",
        versions: [{ name: "v1beta2", served: true, storage: true, schema: { openAPIV3Schema: anything } }],
      },
    },
  });
const remove = () => cluster.admin.send({ method: "DELETE", path: `${definitions}/${workloads}` });

const jobOf = (id: string) =>
  poll(`the Job of ${id}`, () => cluster.admin.find(jobs, { namespace: space.name, name: `tj-${id}-1` }));
const queueOf = async (id: string) => (await jobOf(id)).metadata.labels?.["kueue.x-k8s.io/queue-name"];
const reason = async (id: string) => {
  const { status } = await cluster.admin.get(trainingJobs, { namespace: space.name, name: `tj-${id}` });
  return status?.conditions?.find(({ type }) => type === "QuotaReserved")?.reason;
};

it("jobs go on in the queue in which they are, and each has one Job, when Kueue comes and goes", async () => {
  const before = await insertTrainingJob(database.pool, tenant);
  const { uid } = (await jobOf(before)).metadata;
  expect(await queueOf(before)).toBeUndefined();

  await install();
  await startAnew();
  const during = await insertTrainingJob(database.pool, tenant);
  expect(await queueOf(during)).toBe("voices");
  await poll("the job to wait for Kueue", async () => (await reason(during)) === "QueuePending");
  expect((await jobOf(during)).spec.suspend).toBe(true);
  expect((await jobOf(before)).spec.suspend).toBe(false);

  await remove();
  await startAnew();
  await poll("the operator to admit the job", async () => (await jobOf(during)).spec.suspend === false);
  const after = await insertTrainingJob(database.pool, tenant);
  expect(await queueOf(after)).toBeUndefined();
  expect((await jobOf(before)).metadata.uid).toBe(uid);
  const names = (await jobsOf(cluster.admin, space.name)).map(({ metadata }) => metadata.name).sort();
  expect(names).toEqual([before, during, after].map((id) => `tj-${id}-1`).sort());
});
