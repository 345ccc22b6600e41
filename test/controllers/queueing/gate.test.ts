// Plosive's own gate against a real control plane, without Kueue: the limit of running jobs, the messages of waiting
// jobs, their order, and a change of the leader.
import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, expect, it } from "vitest";
import type { OperatorConfig } from "../../../src/config.ts";
import type { Db } from "../../../src/db/driver/page.ts";
import { maybeOneJob } from "../../../src/db/job.ts";
import { jobs, trainingJobs } from "../../../src/kube/kinds.ts";
import { type TestNamespace, useCluster } from "../../support/kube.ts";
import { podOf, runOperator, startPod, type TestOperator } from "../../support/operator.ts";
import { poll } from "../../support/poll.ts";
import { useDatabase } from "../../support/postgres.ts";
import { createResource } from "../../support/resource.ts";
import { rfc3339 } from "../../support/rfc3339.ts";
import { insertTenant, insertTrainingJob } from "../../support/rows.ts";
import { useStorage } from "../../support/s3.ts";

const cluster = useCluster();
const database = useDatabase();
const store = useStorage();
let namespace: TestNamespace;
let operator: TestOperator | undefined;

beforeAll(async () => {
  namespace = await cluster.namespace();
});
afterEach(async () => {
  await operator?.stop();
  operator = undefined;
});

async function start(queueing: Partial<OperatorConfig>, identity = "one"): Promise<void> {
  const { config: storage } = store;
  operator = await runOperator({
    cluster,
    namespace,
    databaseUrl: database.url,
    storage,
    config: queueing,
    identity,
  });
  await operator.leading;
}

const named = (id: string) => ({ namespace: namespace.name, name: `tj-${id}` });
const resource = (id: string) => cluster.admin.get(trainingJobs, named(id));
const jobOf = (id: string) => cluster.admin.find(jobs, { namespace: namespace.name, name: `tj-${id}-1` });
const reservedOf = async (id: string) =>
  (await resource(id)).status?.conditions?.find(({ type }) => type === "QuotaReserved");
const said = (id: string, reason: string) =>
  poll(`${id} to say ${reason}`, async () => {
    const reserved = await reservedOf(id);
    return reserved?.reason === reason && reserved;
  });
const runs = (id: string) => poll(`the Job of ${id}`, () => jobOf(id));
const cancel = (id: string) =>
  cluster.admin.patch(trainingJobs, named(id), { spec: { cancel: { reason: "enough" } } });

/** A job whose custom resource has fields that the API does not set. */
async function applied(tenant: string, spec: object, named?: string): Promise<string> {
  const insert = async (tx: Db) => ({ id: await insertTrainingJob(tx, tenant, named) });
  return (await createResource(cluster.admin, namespace.name, database.pool, "training", insert, spec)).id;
}

async function createPriorityClass(word: string): Promise<string> {
  const name = `${word}-${namespace.name}`;
  await cluster.admin.send({
    method: "POST",
    path: "/apis/scheduling.k8s.io/v1/priorityclasses",
    body: { metadata: { name }, value: 1000 },
  });
  return name;
}

it("a tenant's next job waits, with the reason in resource and row, and starts when a place is free", async () => {
  await start({ PLOSIVE_QUOTA_RUNNING_TRAININGS: 1 });
  const tenant = await insertTenant(database.pool);
  const first = await insertTrainingJob(database.pool, tenant);
  await runs(first);
  expect(await said(first, "Admitted")).toMatchObject({ status: "True" });
  const second = await insertTrainingJob(database.pool, tenant);
  const waiting = await said(second, "WaitingForQuota");
  expect(waiting).toMatchObject({
    status: "False",
    message:
      "The job waits in the queue. When it joined, 1 of 1 training jobs of the tenant were running and no job waited ahead of it.",
  });
  const other = await insertTrainingJob(database.pool, await insertTenant(database.pool));
  await runs(other);
  expect(await jobOf(second)).toBeUndefined();
  const cr = await resource(second);
  expect(cr.status).toMatchObject({ phase: "Pending" });
  expect(cr.status?.admittedTime).toBeUndefined();
  expect(await maybeOneJob(database.pool, "training", second)).toMatchObject({
    status: "queued",
    status_message: waiting.message,
  });

  const third = await insertTrainingJob(database.pool, tenant);
  await said(third, "WaitingForQuota");
  const version = (await resource(third)).metadata.resourceVersion;
  await cancel(first);
  await runs(second);
  await said(second, "Admitted");
  expect((await resource(second)).status?.admittedTime).toMatch(rfc3339);
  // The operator does not write a status only because a job ahead in the queue is gone.
  expect((await resource(third)).metadata.resourceVersion).toBe(version);
});

it("a suspended job leaves its place to another job, and waits for a place when it is resumed", async () => {
  await start({ PLOSIVE_QUOTA_RUNNING_TRAININGS: 1 });
  const tenant = await insertTenant(database.pool);
  const [first, second] = [
    await insertTrainingJob(database.pool, tenant),
    await insertTrainingJob(database.pool, tenant),
  ];
  const isRunning = async (id: string) => (await jobOf(id))?.spec.suspend === false;
  const before = await poll("one of them to run", async () =>
    (await isRunning(first)) ? first : (await isRunning(second)) && second,
  );
  const after = before === first ? second : first;
  await startPod(cluster.admin, await podOf(cluster.admin, namespace.name, `tj-${before}-1`));
  await said(after, "WaitingForQuota");
  await cluster.admin.patch(trainingJobs, named(before), { spec: { suspend: true } });
  await said(before, "SuspendRequested");
  await runs(after);
  await cluster.admin.patch(trainingJobs, named(before), { spec: { suspend: false } });
  await said(before, "WaitingForQuota");
  expect(await isRunning(before)).toBe(false);
  await cancel(after);
  await poll("the resumed job to run", () => isRunning(before));
  await said(before, "Admitted");
});

it("the job with the higher priority starts first; a priority class that does not exist fails its job", async () => {
  await start({ PLOSIVE_QUOTA_RUNNING_TRAININGS: 1 });
  const priorityClassName = await createPriorityClass("urgent");
  const tenant = await insertTenant(database.pool);
  const first = await insertTrainingJob(database.pool, tenant);
  await runs(first);
  const old = await insertTrainingJob(database.pool, tenant);
  await said(old, "WaitingForQuota");
  const urgent = await applied(tenant, { priorityClassName });
  await said(urgent, "WaitingForQuota");
  await cancel(first);
  const job = await runs(urgent);
  expect(job.spec.template.spec.priorityClassName).toBe(priorityClassName);
  expect(await jobOf(old)).toBeUndefined();

  const unknown = await applied(await insertTenant(database.pool), { priorityClassName: "nobody-knows" });
  const failed = await poll("the job to fail", async () => {
    const { status } = await resource(unknown);
    return status?.phase === "Failed" && status.failure;
  });
  expect(failed).toMatchObject({ class: "User", code: "priority_class_unknown" });
});

it("a new leader keeps the running jobs and the order of the waiting jobs", async () => {
  await start({ PLOSIVE_QUOTA_RUNNING_TRAININGS: 2 });
  const tenant = await insertTenant(database.pool);
  const running = [
    await insertTrainingJob(database.pool, tenant),
    await insertTrainingJob(database.pool, tenant),
  ];
  for (const id of running) await said(id, "Admitted");
  const waiting = await insertTrainingJob(database.pool, tenant);
  const before = await said(waiting, "WaitingForQuota");
  const version = (await resource(waiting)).metadata.resourceVersion;

  await operator?.stop();
  await start({ PLOSIVE_QUOTA_RUNNING_TRAININGS: 1 }, "two");
  const late = await insertTrainingJob(database.pool, tenant);
  expect((await said(late, "WaitingForQuota")).message).toMatch(
    /2 of 1 training jobs .* and 1 job waited ahead/,
  );
  expect(await reservedOf(waiting)).toEqual(before);
  // The operator wrote nothing for the job that still waits.
  expect((await resource(waiting)).metadata.resourceVersion).toBe(version);
  for (const id of running) expect((await jobOf(id))?.spec.suspend).toBe(false);
  await cancel(running[0]!);
  await poll("the first to end", async () => (await resource(running[0]!)).status?.phase === "Cancelled");
  expect(await jobOf(waiting)).toBeUndefined();
  await cancel(running[1]!);
  await runs(waiting);
  expect(await jobOf(late)).toBeUndefined();
});

it("a new leader gives a free place to the job with the higher priority, whatever the order of its cache", async () => {
  await start({ PLOSIVE_QUOTA_RUNNING_TRAININGS: 1 });
  const tenant = await insertTenant(database.pool);
  await runs(await insertTrainingJob(database.pool, tenant));
  const priorityClassName = await createPriorityClass("first");
  // Kubernetes lists by name, so this job is the last one in the cache of a new leader.
  const urgent = await applied(tenant, { priorityClassName }, randomUUID().replace(/^.{8}/, "ffffffff"));
  await said(urgent, "WaitingForQuota");
  const other = await insertTrainingJob(database.pool, tenant);
  await said(other, "WaitingForQuota");
  await operator?.stop();
  await start({ PLOSIVE_QUOTA_RUNNING_TRAININGS: 2 }, "two");
  await runs(urgent);
  expect(await jobOf(other)).toBeUndefined();
});
