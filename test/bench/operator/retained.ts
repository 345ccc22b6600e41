// A day's succeeded jobs, as the operator keeps them by default: custom resources of 24 hours, Jobs and pods of the last one.
// They are written into etcd, like those that ended earlier in the run. Measures what a new operator needs to start beside
// them. Called by main.ts.
import { randomUUID } from "node:crypto";
import type { JobResource } from "../../../controllers/job/adapter.ts";
import { inferenceJobs, jobs as jobType, pods as podType } from "../../../src/kube/kinds.ts";
import type { Job, KubeObject, Pod, ResourceType } from "../../../src/kube/objects.ts";
import { resourceName, runName } from "../../../src/schemas/job-kind.ts";
import { poll } from "../../support/poll.ts";
import { watchMemory } from "./accounts.ts";
import type { BenchCluster } from "./cluster.ts";
import { storeInEtcd } from "./crowd.ts";
import { resourceOf } from "./flood.ts";
import type { OperatorProcess } from "./operator.ts";
import { layResults, type World } from "./world.ts";

export interface Retained {
  readonly jobs: number;
  /** Bytes in use in etcd for all of them. */
  readonly etcdBytes: number;
  /** Ms from the start of the operator's process until it created the Job of a custom resource that waited for it. */
  readonly startMs: number;
  readonly peakBytes: number;
}

const type = inferenceJobs as ResourceType<JobResource>;
/** How long the operator is watched after its start. */
const settleMs = 60_000;

export async function retain(options: {
  cluster: BenchCluster;
  world: World;
  bucketFolder: string;
  count: number;
  stopOperator: () => Promise<void>;
  startOperator: () => Promise<OperatorProcess>;
  print: (text: string) => void;
}): Promise<Retained> {
  const { cluster, world, count, print } = options;
  const { admin, namespace, etcd } = cluster;
  const model = await endedJob(cluster);
  await options.stopOperator();
  const before = await bytesInUse(etcd);
  // The oldest ones would be deleted during the measurement.
  const hours = (n: number) => (n / count) * 23.5;
  await storeInEtcd(etcd, count, (n) => copyOf(model, hours(n)));
  const etcdBytes = (await bytesInUse(etcd)) - before;
  print(`  ${count} ended jobs are in etcd`);
  await poll(
    "the API server to show all of them",
    async () => {
      const page = await admin.list(type, namespace, { limit: 1 });
      return ((page.metadata as { remainingItemCount?: number }).remainingItemCount ?? 0) + 1 >= count;
    },
    300_000,
  );
  const jobs = world.jobs(1, 1, 2);
  const [waiting] = jobs;
  if (waiting === undefined) throw new Error("there is no job");
  layResults(options.bucketFolder, jobs);
  await world.insert(jobs);
  await admin.create(type, resourceOf(waiting, namespace, world));
  const began = performance.now();
  const starting = options.startOperator();
  await poll(
    "the Job of the waiting resource",
    async () => (await admin.find(jobType, { namespace, name: waiting.run })) !== undefined,
    600_000,
  );
  const startMs = performance.now() - began;
  const memory = watchMemory((await starting).pid);
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  memory.end();
  return { jobs: count, etcdBytes, startMs, peakBytes: memory.peak() };
}

type Ended = { cr: JobResource; job: Job; pod: Pod };

/** A succeeded job of an earlier part. */
async function endedJob({ admin, namespace }: BenchCluster): Promise<Ended> {
  const { items } = await admin.list(type, namespace, { limit: 500 });
  const cr = items.find(({ status }) => status?.phase === "Succeeded" && status.shards?.total === 1);
  if (cr === undefined) throw new Error("there is no ended job to go by: run the part idle or bursts first");
  const name = cr.status?.runId ?? "";
  const job = await admin.get(jobType, { namespace, name });
  const [pod] = (await admin.list(podType, namespace, { labelSelector: `job-name=${name}` })).items;
  if (pod === undefined) throw new Error(`Job ${name} has no pod`);
  return { cr, job, pod };
}

/** Another job that ended so many hours ago: names, uids and owners are its own. */
function copyOf({ cr, job, pod }: Ended, hoursAgo: number): { key: string; object: object }[] {
  const ids = { cr: randomUUID(), crUid: randomUUID(), jobUid: randomUUID(), podUid: randomUUID() };
  const name = resourceName("inference", ids.cr);
  const run = runName(name, 1);
  const replaced: [string, string][] = [
    [job.metadata.name, run],
    [cr.metadata.name, name],
    [cr.metadata.uid ?? "", ids.crUid],
    [job.metadata.uid ?? "", ids.jobUid],
    [pod.metadata.uid ?? "", ids.podUid],
    [cr.status?.completionTime ?? "", new Date(Date.now() - hoursAgo * 3_600_000).toISOString()],
  ];
  const copy = (object: KubeObject, of: { apiVersion: string; kind: string }) => {
    const { resourceVersion, managedFields, ...metadata } = object.metadata;
    let text = JSON.stringify({ ...of, ...object, metadata });
    for (const [old, own] of replaced) text = text.replaceAll(old, own);
    return JSON.parse(text) as KubeObject;
  };
  const key = (folder: string, object: KubeObject) =>
    `/registry/${folder}/${object.metadata.namespace}/${object.metadata.name}`;
  const made: [string, KubeObject][] = [
    ["plosive.dev/inferencejobs", copy(cr, inferenceJobs)],
    ["jobs", copy(job, jobType)],
    ["pods", copy(pod, podType)],
  ];
  return (hoursAgo < 1 ? made : made.slice(0, 1)).map(([folder, object]) => ({
    key: key(folder, object),
    object,
  }));
}

async function bytesInUse(etcd: string): Promise<number> {
  const answer = await fetch(`${etcd}/v3/maintenance/status`, { method: "POST", body: "{}" });
  return Number(((await answer.json()) as { dbSizeInUse: string }).dbSizeInUse);
}
