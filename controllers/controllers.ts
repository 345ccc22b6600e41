// The flat list of controllers: for each kind its workqueue, the watches that fill it, and its reconcile. Started by
// operator.ts on the leader.
import type { JobKind } from "../src/schemas/job-kind.ts";
import type { Caches } from "./caches.ts";
import { embeddingJobAdapter } from "./embedding-job/adapter.ts";
import { inferenceJobAdapter } from "./inference-job/adapter.ts";
import type { JobAdapter } from "./job/adapter.ts";
import type { EngineDeps } from "./job/engine.ts";
import type { Queueing } from "./job/queueing.ts";
import { makeJobReconcile } from "./job/reconcile.ts";
import { makeStatusThrottle } from "./job/status-throttle.ts";
import { jobWatches } from "./job/watches.ts";
import { makeModelReconcile } from "./model/reconcile.ts";
import { type Controller, type ControllerOptions, startController, watch } from "./runtime/controller.ts";
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

/** Workers per controller. A reconcile mostly waits for the API server and the database, which limit what is sent to them. */
const concurrency = 24;
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
  const start = (options: Pick<ControllerOptions, "name" | "watches" | "reconcile">) => {
    const queue = new Workqueue({ random });
    running.push(startController({ ...options, queue, concurrency, log, metrics: runtimeMetrics }));
    return queue;
  };

  const toRecheck = new Set<string>();
  const engine = { ...deps, toRecheck, statusThrottle: makeStatusThrottle(deps.now) };
  const startJobs = (adapter: JobAdapter) => {
    const { plural } = adapter.type;
    const store = caches.resources[adapter.kind];
    return start({
      name: plural,
      watches: jobWatches(plural, { resources: store, jobs: caches.jobs, pods: caches.pods }),
      reconcile: makeJobReconcile(engine, adapter, store),
    });
  };
  const queues: Record<JobKind, Workqueue> = {
    training: startJobs(trainingJobAdapter({ ...deps, maxWaiting: deps.maxWaiting.trainings })),
    inference: startJobs(inferenceJobAdapter({ ...deps, maxWaiting: deps.maxWaiting.inferences })),
    embedding: startJobs(embeddingJobAdapter(deps)),
  };
  deps.queueing.onAdmissionChange((kind, name) => queues[kind].add(name));

  const modelQueue = start({
    name: "models",
    watches: [watch(caches.models, ({ object }) => ({ key: object.metadata.name }))],
    reconcile: makeModelReconcile({ ...deps, store: caches.models }),
  });

  return {
    enqueue: (kind, name) => queues[kind].add(name),
    recheck(kind, name) {
      const uid = caches.resources[kind].get(name)?.metadata.uid;
      if (uid !== undefined) toRecheck.add(uid);
      queues[kind].add(name);
    },
    enqueueModel: (name) => modelQueue.add(name),
    async stop() {
      await Promise.all(running.map((controller) => controller.stop()));
    },
  };
}
