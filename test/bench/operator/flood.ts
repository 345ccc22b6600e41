// Many jobs at once: the latency and the rate at which their Kubernetes Jobs are created, the latency until the rows
// show their end, and the costs. Called by main.ts.

import type { JobResource } from "../../../controllers/job/adapter.ts";
import type { Kube } from "../../../src/kube/client.ts";
import { inferenceJobs } from "../../../src/kube/kinds.ts";
import type { ResourceType } from "../../../src/kube/objects.ts";
import { type Accounts, accounts, between } from "./accounts.ts";
import { observe } from "./observe.ts";
import type { Counters, OperatorProcess } from "./operator.ts";
import { type BenchJob, layResults, type World } from "./world.ts";

export interface FloodDeps {
  readonly admin: Kube;
  readonly namespace: string;
  readonly world: World;
  readonly operator: OperatorProcess;
  readonly bucketFolder: string;
  readonly pids: () => { readonly [name: string]: number };
  readonly print: (text: string) => void;
}

export interface Flood {
  readonly jobs: number;
  readonly pods: number;
  /** Custom resources per second that the load generator created. */
  readonly submitted: number;
  /** Kubernetes Jobs created per second, from the first custom resource to the last Job. */
  readonly created: number;
  /** The lowest rate in any ten consecutive seconds of that time. */
  readonly slowest: number;
  /** Ms from the creation of a custom resource until its Job is observed. */
  readonly toJob: readonly number[];
  /** Ms from the end of a Job until its row shows it. */
  readonly toRow: readonly number[];
  /** Jobs ended per second, from the first custom resource to the last row. */
  readonly ended: number;
  readonly writesPerJob: number;
  readonly readsPerJob: number;
  readonly reconcilesPerJob: number;
  /** Seconds from the first custom resource to the last row. */
  readonly seconds: number;
  /** CPU seconds by process, until the last Job was created and from then on. */
  readonly creation: Accounts;
  readonly rest: Accounts;
}

export interface Size {
  readonly jobs: number;
  readonly shards: number;
  /** Ms between two custom resources; undefined means as fast as possible. */
  readonly gapMs?: number;
  /** Called when all Jobs exist. */
  readonly allCreated?: () => Promise<void>;
}

/** The API submits its jobs over a few connections, and so does this benchmark. */
const connections = 8;
const batch = 200;

export async function flood(deps: FloodDeps, size: Size): Promise<Flood> {
  const { admin, namespace, world, operator, print } = deps;
  const jobs = world.jobs(size.jobs, size.shards, 2);
  layResults(deps.bucketFolder, jobs);
  const observer = await observe(admin, namespace);
  const counted = await operator.counters();
  const before = accounts(deps.pids());
  const submitted = new Map<string, number>();
  const ending = watchRows(world, jobs, submitted);
  const began = performance.now();
  for (let at = 0; at < jobs.length; at += batch) {
    const part = jobs.slice(at, at + batch);
    await world.insert(part);
    await create(deps, part, submitted, size.gapMs);
  }
  const sent = performance.now();
  const deadline = sent + 1_800_000;
  const rest = () => jobs.filter(({ run }) => !observer.created.has(run)).length;
  for (let printedAt = sent; rest() > 0; ) {
    if (performance.now() > deadline) throw new Error(`${rest()} Jobs were not created`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (performance.now() - printedAt < 10_000) continue;
    printedAt = performance.now();
    print(`  ${jobs.length - rest()} Jobs of ${jobs.length} created, ${ending.at.size} ended`);
  }
  const creation = between(before, accounts(deps.pids()));
  const times = jobs.map(({ run }) => observer.created.get(run) ?? Number.NaN).sort((a, b) => a - b);
  const allCreated = times.at(-1) ?? Number.NaN;
  print(`  all ${jobs.length} Jobs created after ${((allCreated - began) / 1000).toFixed(1)} s`);
  await size.allCreated?.();
  const middle = accounts(deps.pids());
  await ending.all(deadline, print);
  const over = performance.now();
  // The last status updates and events follow the rows.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const after = await operator.counters();
  await observer.stop();
  const per = (member: keyof Counters) => (after[member] - counted[member]) / jobs.length;
  return {
    jobs: jobs.length,
    pods: jobs.length * size.shards,
    submitted: (jobs.length / (sent - began)) * 1000,
    created: (jobs.length / (allCreated - began)) * 1000,
    slowest: slowest(times, began, 10_000),
    toJob: jobs.map(({ id, run }) => (observer.created.get(run) ?? 0) - (submitted.get(id) ?? 0)),
    toRow: jobs.map(({ id, run }) => (ending.at.get(id) ?? 0) - (observer.complete.get(run) ?? 0)),
    ended: (jobs.length / (over - began)) * 1000,
    seconds: (over - began) / 1000,
    writesPerJob: per("writes"),
    readsPerJob: per("reads"),
    reconcilesPerJob: per("reconciles"),
    creation,
    rest: between(middle, accounts(deps.pids())),
  };
}

async function create(
  { admin, namespace, world }: FloodDeps,
  jobs: readonly BenchJob[],
  submitted: Map<string, number>,
  gapMs = 0,
): Promise<void> {
  const waiting = [...jobs];
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const next = performance.now() + gapMs;
      await admin.create(inferenceJobs as ResourceType<JobResource>, resourceOf(job, namespace, world));
      submitted.set(job.id, performance.now());
      if (gapMs > 0)
        await new Promise((resolve) => setTimeout(resolve, Math.max(1, next - performance.now())));
    }
  };
  await Promise.all(Array.from({ length: gapMs > 0 ? 1 : connections }, work));
}

export function resourceOf(job: BenchJob, namespace: string, world: World, profile = "default") {
  const count = job.files.length;
  return {
    metadata: {
      name: job.name,
      namespace,
      labels: { "app.kubernetes.io/part-of": "plosive", "plosive.dev/tenant": world.tenant },
    },
    spec: {
      tenantId: world.tenant,
      modelId: world.model,
      profile,
      shards: { count, parallelism: Math.min(count, 1_000) },
      retries: { perShard: 2, maxFailedShards: 0 },
    },
  } as unknown as JobResource;
}

/** Polls the database for ended rows of submitted jobs until all have ended. */
function watchRows(world: World, jobs: readonly BenchJob[], submitted: ReadonlyMap<string, number>) {
  const at = new Map<string, number>();
  const open = new Set(jobs.map(({ id }) => id));
  const readRows = async () => {
    for (const id of await world.completed([...open].filter((id) => submitted.has(id)))) {
      at.set(id, performance.now());
      open.delete(id);
    }
  };
  let over = false;
  const loop = (async () => {
    while (open.size > 0 && !over) {
      await readRows();
      await new Promise((resolve) => setTimeout(resolve, jobs.length > 2_000 ? 250 : 50));
    }
  })();
  return {
    at,
    async all(deadline: number, print: (text: string) => void) {
      for (let printedAt = performance.now(); open.size > 0; ) {
        if (performance.now() > deadline) {
          over = true;
          await loop;
          throw new Error(`${open.size} jobs did not end`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (performance.now() - printedAt > 10_000) {
          print(`  ${at.size} jobs of ${jobs.length} ended`);
          printedAt = performance.now();
        }
      }
      await loop;
    },
  };
}

/** The lowest rate per second in any window of `windowMs`, or the total rate if the work took less time. */
function slowest(times: readonly number[], began: number, windowMs: number): number {
  const end = times.at(-1) ?? began;
  if (end - began <= windowMs) return (times.length / (end - began)) * 1000;
  let least = Number.POSITIVE_INFINITY;
  for (let from = began; from + windowMs <= end; from += 1_000) {
    const inside = times.filter((time) => time >= from && time < from + windowMs).length;
    least = Math.min(least, inside);
  }
  return (least / windowMs) * 1000;
}
