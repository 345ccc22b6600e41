// The flat list of controllers: for each kind its workqueue, the watches that fill it, and its reconcile. Started by
// operator.ts on the leader.
import type { KubeObject } from "../src/kube/objects.ts";
import type { JobKind } from "../src/schemas/job-kind.ts";
import type { Caches } from "./caches.ts";
import { embeddingJobAdapter } from "./embedding-job/adapter.ts";
import { inferenceJobAdapter } from "./inference-job/adapter.ts";
import { debounceMs } from "./job/apply.ts";
import { labels } from "./job/child.ts";
import { hasEnded } from "./job/decide.ts";
import type { EngineDeps } from "./job/engine.ts";
import type { Queueing } from "./job/queueing.ts";
import { makeJobReconcile } from "./job/reconcile.ts";
import { makeStatusThrottle } from "./job/status-throttle.ts";
import { makeModelReconcile } from "./model/reconcile.ts";
import { type Controller, startController } from "./runtime/controller.ts";
import type { RuntimeMetrics } from "./runtime/metrics.ts";
import { Workqueue } from "./runtime/workqueue.ts";
import { trainingJobAdapter } from "./training-job/adapter.ts";

export type Controllers = {
  enqueue(kind: JobKind, name: string): void;
  /** Like enqueue, but also compares the row of a job that counts as settled. */
  recheck(kind: JobKind, name: string): void;
  enqueueModel(name: string): void;
  stop(): Promise<void>;
};

/**
 * Workers per controller, and how many of them each lane of the workqueue may use. A reconcile mostly waits for the API
 * server, whose capacity is shared: reconciles that only report progress must not slow down those that start and end
 * jobs. Retries, for example against an object store that does not answer, must not delay the deadlines of other jobs.
 */
const concurrency = 26;
const atOnce = { next: 16, retry: 4, later: 2 };
/** Names for metrics. Listed here because a standby serves these metrics without running any controller. */
export const controllerNames = ["trainingjobs", "inferencejobs", "embeddingjobs", "models"];

export function startControllers(
  deps: Omit<EngineDeps, "toRecheck" | "statusThrottle"> & {
    caches: Caches;
    runtimeMetrics: RuntimeMetrics;
    queueing: Queueing;
    random: () => number;
    /** Upper bounds of waiting jobs per tenant; 0 means no limit. */
    maxWaiting: { trainings: number; inferences: number };
    /** Upper bound of the files in a tenant's inference jobs; 0 means no limit. */
    maxFiles: number;
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
  /** By the plural name of the kind, as the labels of Jobs and pods have it. */
  const byPlural = new Map<string | undefined, Workqueue>();
  const toRecheck = new Set<string>();
  const engine = { ...deps, toRecheck, statusThrottle: makeStatusThrottle(deps.now) };
  for (const adapter of adapters) {
    const store = caches.resources[adapter.kind];
    const queue = start(adapter.type.plural, makeJobReconcile(engine, adapter, store));
    queues.set(adapter.kind, queue);
    byPlural.set(adapter.type.plural, queue);
    store.onChange(({ object, old, deleted }) => {
      const { name, generation, deletionTimestamp } = object.metadata;
      const isNew = old === undefined && object.status === undefined;
      const before = old?.metadata;
      const isChanged =
        deleted || before?.generation !== generation || before?.deletionTimestamp !== deletionTimestamp;
      if (isNew) queue.addFirst(name);
      else if (isChanged) queue.add(name);
      // The operator wrote this status itself, so only an ended job needs another reconcile.
      else if (hasEnded(object)) queue.addAfter(name, debounceMs);
    });
    for (const object of store.values()) queue.add(object.metadata.name);
  }
  const ownerOf = ({ metadata: { labels: of } }: KubeObject) => ({
    queue: byPlural.get(of?.[labels.kind]),
    name: of?.[labels.job] ?? "",
  });
  caches.jobs.onChange(({ object, old, deleted }) => {
    const { queue, name } = ownerOf(object);
    // A new Job is the operator's own. Its first pods follow in a moment.
    if (old === undefined && !deleted) queue?.addAfter(name, debounceMs);
    else queue?.add(name);
  });
  caches.pods.onChange(({ object }) => {
    const { queue, name } = ownerOf(object);
    queue?.addAfter(name, debounceMs);
  });

  deps.queueing.onAdmissionChange((kind, name) => queues.get(kind)?.add(name));

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
