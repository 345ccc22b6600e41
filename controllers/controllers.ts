// The flat list of controllers: for each kind its queue, what fills it, and its reconcile. Started by operator.ts on
// the replica that leads.
import type { KubeObject } from "../src/kube/objects.ts";
import type { JobKind } from "../src/schemas/job-kind.ts";
import type { Caches } from "./caches.ts";
import { embeddingJobAdapter } from "./embedding-job/adapter.ts";
import { inferenceJobAdapter } from "./inference-job/adapter.ts";
import { labels } from "./job/child.ts";
import { hasEnded } from "./job/decide.ts";
import type { EngineDeps } from "./job/engine.ts";
import type { Queueing } from "./job/queueing.ts";
import { debounceMs, makeJobReconcile } from "./job/reconcile.ts";
import { makeStatusThrottle } from "./job/status-throttle.ts";
import { makeModelReconcile } from "./model/reconcile.ts";
import { type Controller, startController } from "./runtime/controller.ts";
import type { RuntimeMetrics } from "./runtime/metrics.ts";
import { Workqueue } from "./runtime/workqueue.ts";
import { trainingJobAdapter } from "./training-job/adapter.ts";

export type Controllers = {
  enqueue(kind: JobKind, name: string): void;
  /** The same for a job that may count as settled: what is known of it may be wrong. */
  recheck(kind: JobKind, name: string): void;
  enqueueModel(name: string): void;
  stop(): Promise<void>;
};

/**
 * Most of a reconcile is waiting for the API server, which gives to everything as much as is asked for: what tells of
 * jobs must not take from what starts and ends them. What fails, as for an object store that does not answer, must take
 * no place from the deadlines of others.
 */
const concurrency = 26;
const atOnce = { next: 16, retry: 4, later: 2 };
/** Known before any of them runs: a standby's metrics have them too. */
export const controllerNames = ["trainingjobs", "inferencejobs", "embeddingjobs", "models"];

export function startControllers(
  deps: Omit<EngineDeps, "toRecheck" | "pace"> & {
    caches: Caches;
    runtimeMetrics: RuntimeMetrics;
    queueing: Queueing;
    random: () => number;
    /** Jobs of a tenant that may wait; 0 is no limit. */
    maxWaiting: { trainings: number; inferences: number };
  },
): Controllers {
  const { caches, runtimeMetrics, log, random } = deps;
  const running: Controller[] = [];
  const start = (name: string, reconcile: (key: string) => Promise<{ requeueAfterMs?: number }>) => {
    const queue = new Workqueue({ random, atOnce });
    runtimeMetrics.watchQueue(name, queue);
    running.push(startController({ name, queue, concurrency, reconcile, log, metrics: runtimeMetrics }));
    return queue;
  };

  const adapters = [
    trainingJobAdapter({ ...deps, maxWaiting: deps.maxWaiting.trainings }),
    inferenceJobAdapter({ ...deps, maxWaiting: deps.maxWaiting.inferences }),
    embeddingJobAdapter(deps),
  ];
  const queues = new Map<JobKind, Workqueue>();
  const toRecheck = new Set<string>();
  const engine = { ...deps, toRecheck, pace: makeStatusThrottle(deps.now) };
  for (const adapter of adapters) {
    const store = caches.resources[adapter.kind];
    const queue = start(adapter.type.plural, makeJobReconcile(engine, adapter, store));
    queues.set(adapter.kind, queue);
    store.onChange(({ object, old, deleted }) => {
      const { name, generation, deletionTimestamp } = object.metadata;
      if (old === undefined && object.status === undefined) queue.addFirst(name);
      else if (
        deleted ||
        old?.metadata.generation !== generation ||
        old?.metadata.deletionTimestamp !== deletionTimestamp
      )
        queue.add(name);
      // Its status we have written ourselves, and know what is in it; one that has ended is settled.
      else if (hasEnded(object)) queue.addAfter(name, debounceMs);
    });
    const ownerOf = ({ metadata }: KubeObject) =>
      metadata.labels?.[labels.kind] === adapter.type.plural ? metadata.labels[labels.job] : undefined;
    caches.jobs.onChange(({ object, old, deleted }) => {
      const name = ownerOf(object);
      if (name === undefined) return;
      // A new one is our own: its pods will be heard of in a moment.
      if (old === undefined && !deleted) queue.addAfter(name, debounceMs);
      else queue.add(name);
    });
    caches.pods.onChange(({ object }) => {
      const name = ownerOf(object);
      if (name !== undefined) queue.addAfter(name, debounceMs);
    });
    for (const object of store.values()) queue.add(object.metadata.name);
  }

  deps.queueing.onAdmitted((kind, name) => queues.get(kind)?.add(name));

  const modelQueue = start("models", makeModelReconcile({ ...deps, store: caches.models }));
  caches.models.onChange(({ object }) => modelQueue.add(object.metadata.name));
  for (const object of caches.models.values()) modelQueue.add(object.metadata.name);

  return {
    enqueue: (kind, name) => queues.get(kind)?.add(name),
    recheck(kind, name) {
      const uid = caches.resources[kind].get(name)?.metadata.uid;
      if (uid !== undefined) toRecheck.add(uid);
      queues.get(kind)?.add(name);
    },
    enqueueModel: (name) => modelQueue.add(name),
    async stop() {
      await Promise.all(running.map((controller) => controller.stop()));
    },
  };
}
