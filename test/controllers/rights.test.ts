// The rights of controllers/rbac.ts compared with the requests of operator and API in the API server's audit log,
// while everything happens that needs a right. No request is refused, and no right is unused.
import { sql } from "slonik";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import {
  apiRules,
  operatorClusterRules,
  operatorRules,
  type Rule,
  runsClusterRules,
  runsRules,
} from "../../controllers/rbac.ts";
import { makeKube } from "../../src/kube/client.ts";
import { embeddingJobs, inferenceJobs, jobs, models, pods, trainingJobs } from "../../src/kube/kinds.ts";
import type { KubeObject, Pod, ResourceType } from "../../src/kube/objects.ts";
import { makeLog } from "../../src/log.ts";
import { defaultInstallation } from "../../src/schemas/installation.ts";
import { makeSubmit } from "../../src/submit.ts";
import { rightsOf } from "../support/audit.ts";
import { type TestNamespace, useOwnCluster } from "../support/kube.ts";
import { patchStatus, podOf, runOperator, startPod, type TestOperator, Worker } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
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

// Without WatchList, the operator needs the right to list, too.
const cluster = useOwnCluster({ audit: true, watchList: false });
const database = useDatabase();
const store = useStorage();
let space: TestNamespace;
let operator: TestOperator;

beforeAll(async () => {
  space = await cluster.namespace();
});
afterAll(() => operator?.stop());

const gone = (what: string, type: ResourceType, name: string) =>
  poll(`${what} to be gone`, async () => {
    return (await cluster.admin.find(type, { namespace: space.name, name })) === undefined;
  });
/** As a platform engineer does with kubectl. */
const apply = (type: ResourceType, name: string, spec: object) =>
  cluster.admin.create(type, { metadata: { name, namespace: space.name }, spec } as KubeObject);

it("the API has the rights that it uses and no others", async () => {
  const kube = makeKube({ kubeconfig: space.apiKubeconfig });
  const tenant = await insertTenant(database.pool);
  const db = database.apiPool.asTenant(tenant);
  const submit = makeSubmit({
    db,
    kube,
    installation: defaultInstallation,
    namespace: space.name,
    log: makeLog("test", "silent"),
  });
  const training = await insertTrainingJob(database.pool, tenant);
  const model = await insertModel(database.pool, tenant);
  const inference = (await insertInferenceJob(database.pool, tenant, model, 1)).id;
  // Twice, as when the operator submits first.
  for (const kind of ["training", "training", "inference", "inference"] as const)
    await submit({ kind, id: kind === "training" ? training : inference });
  kube.close();
  expect(cluster.asked(space, "api")).toEqual({ allowed: rightsOf(apiRules), refused: [] });
});

it("the operator has the rights that it uses and no others", async () => {
  operator = await runOperator({
    cluster,
    namespace: space,
    databaseUrl: database.url,
    storage: store.config,
    // Time to make an embedding job by hand before the operator does.
    gatherSeconds: 2,
  });
  await operator.leading;
  await Promise.all([train(), infer(), embed(), runAgain(), stall(), giveUp(), impostors()]);
  const rules = {
    operator: [...operatorRules, ...operatorClusterRules],
    runs: [...runsRules, ...runsClusterRules],
  };
  for (const [of, list] of Object.entries(rules) as ["operator" | "runs", Rule[]][]) {
    const all = rightsOf(list);
    // Events may be on their way.
    await poll("each right to be used", () =>
      all.every((right) => cluster.asked(space, of).allowed.includes(right)),
    ).catch(() => {});
    expect(cluster.asked(space, of)).toEqual({ allowed: all, refused: [] });
  }
});

/** A training from its row to its model; both are deleted later. */
async function train(): Promise<void> {
  const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
  const pod = await podOf(cluster.admin, space.name, `tj-${id}-1`);
  await startPod(cluster.admin, pod);
  await finishTraining(cluster.admin, pod, new Worker(cluster, () => operator, pod));
  const { status } = await poll("the training to succeed", async () => {
    const cr = await cluster.admin.get(trainingJobs, { namespace: space.name, name: `tj-${id}` });
    return cr.status?.phase === "Succeeded" && cr;
  });
  const name = `m-${status?.modelId}`;
  await poll("the model to be ready", async () => {
    return (await cluster.admin.get(models, { namespace: space.name, name })).status?.phase === "Ready";
  });
  await database.execute(sql.fragment`delete from models where training_job_id = ${id}`);
  await database.execute(sql.fragment`delete from training_jobs where id = ${id}`);
  await gone("the training", trainingJobs, `tj-${id}`);
  await gone("the model", models, name);
}

/** An inference that is suspended in Kubernetes, cancelled through the API, and deleted. */
async function infer(): Promise<void> {
  const tenant = await insertTenant(database.pool);
  const { id } = await insertInferenceJob(database.pool, tenant, await insertModel(database.pool, tenant), 1);
  await podOf(cluster.admin, space.name, `ij-${id}-1`);
  const ref = { namespace: space.name, name: `ij-${id}` };
  await cluster.admin.patch(inferenceJobs, ref, { spec: { suspend: true } });
  await poll("its Job to be suspended", async () => {
    return (await cluster.admin.get(jobs, { namespace: space.name, name: `ij-${id}-1` })).spec.suspend;
  });
  await database.execute(
    sql.fragment`update inference_jobs set cancel_requested_at = now() where id = ${id}`,
  );
  await gone("its Job", jobs, `ij-${id}-1`);
  await poll("it to be cancelled", async () => {
    return (await cluster.admin.get(inferenceJobs, ref)).status?.phase === "Cancelled";
  });
  await database.execute(sql.fragment`delete from inference_jobs where id = ${id}`);
  await gone("the inference", inferenceJobs, ref.name);
}

/** One embedding job that the operator creates, and one made by hand that expires after its end. */
async function embed(): Promise<void> {
  const [tenant, other] = [await insertTenant(database.pool), await insertTenant(database.pool)];
  await insertConfirmedAudio(database.pool, tenant, await insertDataset(database.pool, tenant));
  const spec = {
    tenantId: tenant,
    shards: { count: 1 },
    ttlSecondsAfterFinished: 0,
    cancel: { reason: "enough" },
  };
  await apply(embeddingJobs, "by-hand", spec);
  await gone("the embedding made by hand", embeddingJobs, "by-hand");
  await insertConfirmedAudio(database.pool, other, await insertDataset(database.pool, other));
  const id = await poll("an embedding job", () =>
    database.pool.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
      select id from embedding_jobs where tenant_id = ${other}`),
  );
  await podOf(cluster.admin, space.name, `ej-${id}-1`);
  await loseResource(embeddingJobs, `ej-${id}`);
}

/** The Job is deleted by hand; the next run is cancelled. */
async function runAgain(): Promise<void> {
  const id = await insertTrainingJob(database.pool, await insertTenant(database.pool));
  await podOf(cluster.admin, space.name, `tj-${id}-1`);
  await poll("the status to name the run", async () => {
    const cr = await cluster.admin.get(trainingJobs, { namespace: space.name, name: `tj-${id}` });
    return cr.status?.runId === `tj-${id}-1`;
  });
  await cluster.admin.remove(jobs, { namespace: space.name, name: `tj-${id}-1` });
  await podOf(cluster.admin, space.name, `tj-${id}-2`);
  await database.execute(sql.fragment`update training_jobs set cancel_requested_at = now() where id = ${id}`);
  await gone("the Job of the second run", jobs, `tj-${id}-2`);
}

/** The pod runs and sends no report; the job has a priority. */
async function stall(): Promise<void> {
  await cluster.admin.send({
    method: "POST",
    path: "/apis/scheduling.k8s.io/v1/priorityclasses",
    body: { metadata: { name: "soon" }, value: 100 },
  });
  const tenant = await insertTenant(database.pool);
  const modelId = await insertModel(database.pool, tenant);
  const { id } = await createResource(
    cluster.admin,
    space.name,
    database.pool,
    "inference",
    (tx) => insertInferenceJob(tx, tenant, modelId, 1),
    { progressDeadlineSeconds: 1, priorityClassName: "soon" },
  );
  const name = `ij-${id}`;
  const pod = await podOf(cluster.admin, space.name, `${name}-1`);
  await startPod(cluster.admin, pod);
  await poll("the silent pod to be deleted", async () => {
    const live = await cluster.admin.find(pods, pod.metadata);
    return live === undefined || live.metadata.deletionTimestamp !== undefined;
  });
  await loseResource(inferenceJobs, name);
}

/** A shard exceeds its budget of disruptions: the operator deletes the next pod that the Job creates for it. */
async function giveUp(): Promise<void> {
  const tenantId = await insertTenant(database.pool);
  const modelId = await insertModel(database.pool, tenantId);
  const { id } = await createResource(
    cluster.admin,
    space.name,
    database.pool,
    "inference",
    (tx) => insertInferenceJob(tx, tenantId, modelId, 2),
    { retries: { infraPerShard: 0, maxFailedShards: 1 } },
  );
  const pod = await podOf(cluster.admin, space.name, `ij-${id}-1`);
  const at = new Date().toISOString();
  const terminated = { exitCode: 143, startedAt: at, finishedAt: at };
  const taken = { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" };
  await patchStatus(cluster.admin, pod, "Failed", { terminated }, [taken]);
  // The Job controller backs off before it creates another one.
  await poll("the next pod to be deleted", () =>
    cluster.asked(space, "operator").allowed.includes("delete pods"),
  );
}

/** The custom resource of an open job is deleted: the cache may be stale, so the operator asks the API server. */
async function loseResource(type: ResourceType, name: string): Promise<void> {
  await cluster.admin.remove(type, { namespace: space.name, name });
  await gone("its Job", jobs, `${name}-1`);
}

/** A pod of the workers' account without a Job, and a Job of somebody else: the cache has neither, so the run endpoint looks. */
async function impostors(): Promise<void> {
  const containers = [
    {
      name: "worker",
      image: "registry.test/worker:1",
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    },
  ];
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
  const spec = { serviceAccountName: "plosive-worker", securityContext, containers };
  const run = "tj-00000000-0000-4000-8000-000000000000-1";
  const ask = async (pod: Pod) =>
    (await new Worker(cluster, () => operator, pod).call("GET", `/v1/runs/${run}/shards/0/work`)).status;
  expect(await ask((await apply(pods, "impostor", spec)) as Pod)).toBe(403);
  await apply(jobs, run, {
    completions: 1,
    completionMode: "Indexed",
    template: { spec: { ...spec, restartPolicy: "Never" } },
  });
  expect(await ask(await podOf(cluster.admin, space.name, run))).toBe(404);
}
