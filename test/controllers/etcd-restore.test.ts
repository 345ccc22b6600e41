// A snapshot of etcd is restored while jobs run, as docs/backup.md describes: everything that happened in Kubernetes since then
// is undone, and the database knows better. Real etcd, API server, controller manager, Postgres and an operator process.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, beforeAll, expect, it } from "vitest";
import { maybeOneJob } from "../../src/db/job.ts";
import { jobs, trainingJobs } from "../../src/kube/kinds.ts";
import { type ChaosWorld, type Replica, startReplica } from "../chaos/replica.ts";
import { useOwnCluster } from "../support/kube.ts";
import { endPod, podOf, startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { useDatabase } from "../support/postgres.ts";
import { insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useStorage } from "../support/s3.ts";

const cluster = useOwnCluster();
const database = useDatabase();
const store = useStorage();
const dir = mkdtempSync(join(tmpdir(), "plosive-etcd-restore-"));
const patienceMs = 180_000;
let world: ChaosWorld;
let operator: Replica;
let tenant: string;

beforeAll(async () => {
  const { tls, plane } = cluster;
  const { name, operatorKubeconfig } = await cluster.namespace();
  world = {
    ...{ server: plane.server, tls, namespace: name, operatorKubeconfig, dir },
    databaseUrl: database.urlOf("plosive_operator"),
    storage: store.config,
  };
  tenant = await insertTenant(database.pool);
  operator = await startReplica(world);
});
afterAll(async () => {
  await operator?.end("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

const ref = (name: string) => ({ namespace: world.namespace, name });
const rowOf = (id: string) => maybeOneJob(database.pool, "training", id);
const resourceOf = (id: string) => cluster.admin.find(trainingJobs, ref(`tj-${id}`));

/** A training whose first run runs. */
async function running(): Promise<string> {
  const id = await insertTrainingJob(database.pool, tenant);
  await startPod(cluster.admin, await podOf(cluster.admin, world.namespace, `tj-${id}-1`));
  await untilRunning(id, 1);
  return id;
}

const untilRunning = (id: string, run: number) =>
  poll(`run ${run} of ${id}`, async () => {
    const row = await rowOf(id);
    return row?.status === "running" && row.platform_job_name === `tj-${id}-${run}` ? true : undefined;
  });

async function fail(id: string): Promise<void> {
  const pod = await podOf(cluster.admin, world.namespace, `tj-${id}-1`);
  await endPod(cluster.admin, pod, 64, JSON.stringify({ code: "bad_manifest", message: "no such thing" }));
  await poll(`the failure of ${id}`, async () => ((await rowOf(id))?.status === "failed" ? true : undefined));
}

/** Deletes the first run by hand. A second one replaces it. */
async function runAgain(id: string): Promise<void> {
  await cluster.admin.remove(jobs, ref(`tj-${id}-1`));
  await startPod(cluster.admin, await podOf(cluster.admin, world.namespace, `tj-${id}-2`));
  await untilRunning(id, 2);
}

async function cancel(id: string): Promise<void> {
  await database.execute(
    sql.fragment`update training_jobs set status = 'cancelling', cancel_requested_at = now() where id = ${id}`,
  );
  await poll(`the cancellation of ${id}`, async () =>
    (await rowOf(id))?.status === "cancelled" ? true : undefined,
  );
}

async function remove(id: string): Promise<void> {
  await cancel(id);
  await database.execute(sql.fragment`delete from training_jobs where id = ${id}`);
  await poll(`the deletion of tj-${id}`, async () =>
    (await resourceOf(id)) === undefined ? true : undefined,
  );
}

/** The runs of a job in Kubernetes that may still run: their Jobs are not deleted and have not ended. */
async function openRuns(id: string): Promise<string[]> {
  const { items } = await cluster.admin.list(jobs, world.namespace);
  return items
    .filter(({ metadata, status }) => {
      const hasEnded = status?.conditions?.some(
        ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
      );
      return metadata.name.startsWith(`tj-${id}-`) && !hasEnded && metadata.deletionTimestamp === undefined;
    })
    .map(({ metadata }) => metadata.name);
}

it("no job is cancelled, runs twice, or comes to life again", async () => {
  const { plane } = cluster;
  const snapshot = join(dir, "snapshot");
  const [same, failed, replaced, cancelled, removed] = await Promise.all([
    running(),
    running(),
    running(),
    running(),
    running(),
  ]);
  const { metadata } = await cluster.admin.get(jobs, ref(`tj-${same}-1`));
  await plane.stopEtcd();
  cpSync(plane.etcdData, snapshot, { recursive: true });
  await plane.startEtcd();

  await Promise.all([fail(failed), runAgain(replaced), cancel(cancelled), remove(removed)]);
  const [late, lateFailed] = await Promise.all([running(), running()]);
  await fail(lateFailed);

  await operator.end("SIGTERM");
  await plane.stopApiServer();
  await plane.stopEtcd();
  rmSync(plane.etcdData, { recursive: true });
  cpSync(snapshot, plane.etcdData, { recursive: true });
  await Promise.all([plane.startEtcd(), plane.startApiServer()]);
  await plane.restartControllers([]);
  // The snapshot has what was undone.
  const undone = await Promise.all([failed, replaced, cancelled, removed].map(openRuns));
  expect(undone.flat()).toEqual([failed, replaced, cancelled, removed].map((id) => `tj-${id}-1`));
  expect(await Promise.all([late, lateFailed].map(resourceOf))).toEqual([undefined, undefined]);
  operator = await startReplica(world);

  const expected: Readonly<Record<string, readonly string[]>> = {
    [same]: [`tj-${same}-1`],
    [failed]: [],
    [replaced]: [`tj-${replaced}-3`],
    [cancelled]: [],
    // The database may as well have been restored to a time before the job.
    [removed]: [`tj-${removed}-1`],
    [late]: [`tj-${late}-2`],
    [lateFailed]: [],
  };
  const ids = Object.keys(expected);
  const doubled: string[] = [];
  const seen = new Map(ids.map((id) => [id, new Set<string>()]));
  await poll(
    "the runs that should run",
    async () => {
      const open = await Promise.all(ids.map(openRuns));
      for (const [n, id] of ids.entries()) {
        if (open[n]!.length > 1) doubled.push(open[n]!.join());
        for (const run of open[n]!) seen.get(id)!.add(run);
      }
      return JSON.stringify(open) === JSON.stringify(Object.values(expected)) ? true : undefined;
    },
    patienceMs,
  );
  expect(doubled).toEqual([]);
  const states = await Promise.all(ids.map(async (id) => (await rowOf(id))?.status));
  expect(states).toEqual(["running", "failed", "running", "cancelled", undefined, "running", "failed"]);
  // No other run was there in between, as far as the polls saw.
  expect([...seen.get(late)!]).toEqual([`tj-${late}-2`]);
  const { conditions = [] } = (await resourceOf(removed))?.status ?? {};
  expect(conditions).toContainEqual(expect.objectContaining({ type: "Accepted", reason: "RowMissing" }));
  for (const [id, phase] of [
    [failed, "Failed"],
    [cancelled, "Cancelled"],
  ] as const)
    expect((await resourceOf(id))?.status?.phase).toBe(phase);
  expect((await cluster.admin.get(jobs, ref(`tj-${same}-1`))).metadata.uid).toBe(metadata.uid);
});
