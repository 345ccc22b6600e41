// `kubectl delete crd` deletes every resource, and helm upgrade installs the definitions again. An operator that
// keeps running cancels the open jobs, keeps rows that arrive meanwhile, and recovers without a restart. Real API
// server, Postgres.
import { expect, it } from "vitest";
import { maybeOneJob } from "../../src/db/job.ts";
import { models } from "../../src/kube/kinds.ts";
import type { KubeObject, List } from "../../src/kube/objects.ts";
import { kinds } from "../../src/schemas/kinds.ts";
import { useOwnCluster } from "../support/kube.ts";
import { installCrds } from "../support/namespace.ts";
import { jobsOf } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { insertInferenceJob, insertModel, insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator({ cluster: useOwnCluster(), driftMs: 200 });

it("deleted and reinstalled definitions cancel the open jobs; models and later jobs recover", async () => {
  const { cluster, database } = stage;
  const tenant = await insertTenant(database.pool);
  const model = await insertModel(database.pool, tenant);
  const { id: open } = await insertInferenceJob(database.pool, tenant, model, 1);
  await stage.podOf(`ij-${open}-1`);
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const definition = (plural: string) => `${definitions}/${plural}.plosive.dev`;
  for (const { plural } of kinds) await cluster.admin.send({ method: "DELETE", path: definition(plural) });
  await poll("the definitions to go", async () => {
    const { items } = (await cluster.admin.send({ method: "GET", path: definitions })) as List<KubeObject>;
    return items.every(({ metadata }) => !metadata.name.endsWith(".plosive.dev"));
  });
  await poll("the open job to be over", async () => {
    return (await maybeOneJob(database.pool, "inference", open))?.status === "cancelled";
  });
  await poll("its Job to go", async () => (await jobsOf(cluster.admin, stage.namespace)).length === 0);

  const late = await insertTrainingJob(database.pool, tenant);
  await poll("the late one to be tried", async () => stage.operator.requests.includes("POST 404"));
  expect((await maybeOneJob(database.pool, "training", late))?.status).toBe("pending");

  await installCrds(cluster.admin);
  await poll("the model again", async () => {
    return (await cluster.admin.find(models, stage.ref(`m-${model}`)))?.status?.phase === "Ready";
  });
  await stage.podOf(`tj-${late}-1`);
});
