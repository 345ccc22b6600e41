// Kueue on the same control plane: as many suspended Jobs as the operator had, with the same pods, in a queue with room
// for all of them. Measures how many of them Kueue admits per second. Called by main.ts.
import { join } from "node:path";
import { buildJob } from "../../../controllers/job/child.ts";
import type { Kube } from "../../../src/kube/client.ts";
import { inferenceJobs, jobs as jobType } from "../../../src/kube/kinds.ts";
import { podProfile } from "../../../src/schemas/profile.ts";
import { buildKueue, startKueue } from "../../../tools/kueue.ts";
import { type Accounts, accounts, between, watchMemory } from "./accounts.ts";
import type { BenchCluster } from "./cluster.ts";
import { resourceOf } from "./flood.ts";
import { type Observer, observe } from "./observe.ts";
import { pod } from "./operator.ts";
import type { World } from "./world.ts";

export interface Admitted {
  readonly jobs: number;
  /** Jobs that were admitted before the time was over. */
  readonly done: number;
  /** Jobs per second that the load generator created. */
  readonly submitted: number;
  /** Jobs admitted per second, from the creation of the first Job to the last admission. */
  readonly admitted: number;
  /** The same in the best minute. */
  readonly best: number;
  /** Ms from the creation of a Job until it is observed without `suspend`. */
  readonly toAdmission: readonly number[];
  readonly peakBytes: number;
  /** CPU seconds by process. */
  readonly cpu: Accounts;
}

const namespace = "kueue-bench";
const connections = 8;
/** Kueue's own manifests print 50. Here only the machine limits it. */
const requestsPerSecond = 1_000;

export async function admit(options: {
  cluster: BenchCluster;
  world: World;
  dir: string;
  jobs: number;
  /** Time limit, counted from the last creation. */
  minutes: number;
  pids: { readonly [name: string]: number };
  print: (text: string) => void;
}): Promise<Admitted> {
  const { cluster, world, print } = options;
  const { admin, plane } = cluster;
  buildKueue();
  const dir = join(options.dir, "kueue");
  const kueue = await startKueue({ kubeconfig: plane.kubeconfigPath, dir, qps: requestsPerSecond });
  const memory = watchMemory(kueue.pid);
  const observer = await prepare(admin);
  try {
    const waiting = world.jobs(options.jobs, 1, 1);
    const submitted = new Map<string, number>();
    const pids = { ...options.pids, Kueue: kueue.pid };
    const before = accounts(pids);
    const began = performance.now();
    const work = async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        await admin.create(jobType, jobOf(one, world));
        submitted.set(one.run, performance.now());
      }
    };
    await Promise.all(Array.from({ length: connections }, work));
    const sent = performance.now();
    for (let printedAt = sent; observer.unsuspended.size < options.jobs; ) {
      if (performance.now() - sent > options.minutes * 60_000) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (performance.now() - printedAt < 10_000) continue;
      printedAt = performance.now();
      print(`  Kueue has admitted ${observer.unsuspended.size} Jobs of ${options.jobs}`);
    }
    const times = [...observer.unsuspended.values()].sort((a, b) => a - b);
    const over = times.at(-1);
    if (over === undefined) throw new Error(`Kueue admitted none of ${options.jobs} Jobs`);
    return {
      jobs: options.jobs,
      done: times.length,
      submitted: (options.jobs / (sent - began)) * 1000,
      admitted: (times.length / (over - began)) * 1000,
      best: bestMinute(times),
      toAdmission: [...observer.unsuspended].map(([run, at]) => at - (submitted.get(run) ?? 0)),
      peakBytes: memory.peak(),
      cpu: between(before, accounts(pids)),
    };
  } finally {
    memory.end();
    await observer.stop();
    await kueue.stop();
  }
}

/** The highest rate per second in any minute. */
function bestMinute(times: readonly number[]): number {
  let [most, from] = [0, 0];
  for (const [at, time] of times.entries()) {
    while (time - (times[from] ?? time) > 60_000) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most / 60;
}

/** Creates a namespace with a queue that is never full. */
async function prepare(admin: Kube): Promise<Observer> {
  const post = (path: string, body: object) => admin.send({ method: "POST", path, body });
  await post("/api/v1/namespaces", {
    metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  });
  await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "plosive-worker" } });
  const queues = "/apis/kueue.x-k8s.io/v1beta2";
  const wide = (name: string) => ({ name, nominalQuota: "1000000" });
  const make = (kind: string, folder: string, object: object) =>
    post(`${queues}/${folder}`, { apiVersion: "kueue.x-k8s.io/v1beta2", kind, ...object });
  await make("ResourceFlavor", "resourceflavors", { metadata: { name: "default" } });
  await make("ClusterQueue", "clusterqueues", {
    metadata: { name: "wide" },
    spec: {
      namespaceSelector: {},
      resourceGroups: [
        {
          coveredResources: ["cpu", "memory"],
          flavors: [
            { name: "default", resources: [wide("cpu"), { name: "memory", nominalQuota: "1000Ti" }] },
          ],
        },
      ],
    },
  });
  await make("LocalQueue", `namespaces/${namespace}/localqueues`, {
    metadata: { name: "wide", namespace },
    spec: { clusterQueue: "wide" },
  });
  return observe(admin, namespace);
}

/** The operator's Job for the same resource, without its owner reference. */
function jobOf(job: Parameters<typeof resourceOf>[0], world: World) {
  const resource = resourceOf(job, namespace, world);
  const profile = podProfile.parse(pod({ "bench.plosive.dev/pool": "free" }));
  const settings = {
    runsUrl: "https://127.0.0.1",
    runsAudience: "plosive-runs",
    caConfigMap: "plosive-runs-ca",
    serviceAccount: "plosive-worker",
  };
  const terms = { labels: { "kueue.x-k8s.io/queue-name": "wide" }, suspend: true };
  const made = buildJob(
    { ...resource, spec: { ...resource.spec, suspend: true } },
    { kind: "inference", type: inferenceJobs as never, verb: "detect" },
    1,
    profile,
    settings,
    terms,
  );
  const { ownerReferences, ...metadata } = made.metadata;
  return { ...made, metadata };
}
