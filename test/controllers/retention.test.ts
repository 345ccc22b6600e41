// How long the parts of ended jobs of the service stay: Jobs and pods of succeeded jobs, those of failed ones, and resources.
import { beforeAll, expect, it } from "vitest";
import { maybeOneJob } from "../../src/db/job.ts";
import { jobs, pods, trainingJobs } from "../../src/kube/kinds.ts";
import { endPod, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { insertTenant, insertTrainingJob } from "../support/rows.ts";
import { finishTraining } from "../support/training.ts";
import { useOperator } from "../support/use-operator.ts";

const jobSeconds = 2;
const resourceSeconds = 8;
const stage = useOperator({ jobRetentionSeconds: jobSeconds, retentionSeconds: resourceSeconds });
const { cluster, database } = stage;
let tenant: string;

beforeAll(async () => {
  tenant = await insertTenant(database.pool);
});

const resourceOf = (id: string) => cluster.admin.find(trainingJobs, stage.ref(`tj-${id}`));
const hasJob = async (id: string) => {
  const job = await cluster.admin.find(jobs, stage.ref(`tj-${id}-1`));
  return job !== undefined && job.metadata.deletionTimestamp === undefined;
};
const ended = (id: string, phase: string) =>
  poll(`the job to be ${phase}`, async () => {
    const cr = await resourceOf(id);
    return cr?.status?.phase === phase && cr;
  });
const secondsSince = (time = "") => (Date.now() - Date.parse(time)) / 1000;

it("Job and pods of a succeeded job go first, then its resource; its row stays", async () => {
  const id = await insertTrainingJob(database.pool, tenant);
  const pod = await stage.podOf(`tj-${id}-1`);
  await startPod(cluster.admin, pod);
  await finishTraining(cluster.admin, pod, stage.worker(pod));
  const { status } = await ended(id, "Succeeded");
  await poll("its Job to be gone", async () => !(await hasJob(id)));
  expect(secondsSince(status?.completionTime)).toBeGreaterThanOrEqual(jobSeconds);
  expect((await resourceOf(id))?.status).toEqual(status);
  await poll("its pod to be gone", async () => {
    const live = await cluster.admin.find(pods, pod.metadata);
    return live === undefined || live.metadata.deletionTimestamp !== undefined;
  });
  await poll("its resource to be gone", async () => (await resourceOf(id)) === undefined);
  expect(secondsSince(status?.completionTime)).toBeGreaterThanOrEqual(resourceSeconds);
  expect((await maybeOneJob(database.pool, "training", id))?.status).toBe("completed");
});

it("the Job of a failed job stays as long as its resource", async () => {
  const id = await insertTrainingJob(database.pool, tenant);
  const pod = await stage.podOf(`tj-${id}-1`);
  await startPod(cluster.admin, pod);
  await endPod(
    cluster.admin,
    pod,
    64,
    JSON.stringify({ code: "no_labels", message: "There are no labels." }),
  );
  await ended(id, "Failed");
  await poll("its Job to be gone", async () => !(await hasJob(id)));
  // The API server deletes a Job after its owner.
  expect(await resourceOf(id)).toBeUndefined();
  expect((await maybeOneJob(database.pool, "training", id))?.status).toBe("failed");
});
