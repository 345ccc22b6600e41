// The stores of the resources that a process watches, and the reflectors that fill them. Created by operator.ts, also on a standby,
// whose caches are warm for that reason, and by runs/endpoint.ts.
import type { Kube } from "../src/kube/client.ts";
import { embeddingJobs, inferenceJobs, jobs, models, pods, trainingJobs } from "../src/kube/kinds.ts";
import type { KubeObject, Pod, ResourceType } from "../src/kube/objects.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, resourceName } from "../src/schemas/job-kind.ts";
import type { ModelResource } from "../src/schemas/model.ts";
import type { JobResource } from "./job/adapter.ts";
import type { CachedJob } from "./job/cached-job.ts";
import { labels } from "./job/child.ts";
import { trimJob, trimPod, trimResource } from "./job/trim.ts";
import type { RuntimeMetrics } from "./runtime/metrics.ts";
import { type Reflector, startReflector } from "./runtime/reflector.ts";
import { Store } from "./runtime/store.ts";

export type RunCaches = {
  /** Indexes "owner" and "resource": by the uid and by the name of the owning custom resource. */
  jobs: Store<CachedJob>;
  /** Index "job": by the name of the Kubernetes Job. */
  pods: Store<Pod>;
  synced: Promise<void>;
  isSynced(): boolean;
  stop(): Promise<void>;
};

export type Caches = RunCaches & {
  /** Index "uid". */
  resources: Record<JobKind, Store<JobResource>>;
  /** Returns the custom resource of the row with this id. */
  resourceOf(kind: JobKind, id: string): JobResource | undefined;
  models: Store<ModelResource & KubeObject>;
};

const controllerOf = (object: KubeObject) =>
  object.metadata.ownerReferences?.find(({ controller }) => controller);

const resourceStore = () => new Store<JobResource>({ uid: ({ metadata }) => metadata.uid }, trimResource);

interface CacheOptions {
  readonly kube: Kube;
  readonly namespace: string;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics: Pick<RuntimeMetrics, "watchReflector">;
}

/** Starts reflectors that belong together. */
function reflecting(options: CacheOptions) {
  const reflectors: Reflector[] = [];
  return {
    start<T extends KubeObject>(type: ResourceType<T>, store: Store<T>, labelSelector?: string) {
      const reflector = startReflector({ ...options, type, store, labelSelector });
      options.metrics.watchReflector(type.plural, { ...reflector, objects: () => store.size });
      reflectors.push(reflector);
      return store;
    },
    lifecycle: () => ({
      synced: Promise.all(reflectors.map(({ synced }) => synced)).then(() => undefined),
      isSynced: () => reflectors.every((reflector) => reflector.isSynced()),
      async stop() {
        await Promise.all(reflectors.map((reflector) => reflector.stop()));
      },
    }),
  };
}

type Start = ReturnType<typeof reflecting>["start"];

// The label selects the operator's own objects. The namespace may hold other Jobs and pods.
const startRuns = (start: Start) => ({
  jobs: start(
    jobs,
    new Store<CachedJob>(
      { owner: (job) => controllerOf(job)?.uid, resource: (job) => job.metadata.labels?.[labels.job] },
      trimJob,
    ),
    labels.job,
  ),
  pods: start(pods, new Store<Pod>({ job: (pod) => controllerOf(pod)?.name }, trimPod), labels.job),
});

/** The Kubernetes Jobs and their pods alone. */
export function startRunCaches(options: CacheOptions): RunCaches {
  const { start, lifecycle } = reflecting(options);
  return { ...startRuns(start), ...lifecycle() };
}

export function startCaches(options: CacheOptions): Caches {
  const { start, lifecycle } = reflecting(options);
  const resources = {
    training: start(trainingJobs, resourceStore()),
    inference: start(inferenceJobs, resourceStore()),
    embedding: start(embeddingJobs, resourceStore()),
  };
  return {
    resources,
    resourceOf: (kind, id) => resources[kind].get(resourceName(kind, id)) ?? resources[kind].by("uid", id)[0],
    models: start(models, new Store<ModelResource & KubeObject>()),
    ...startRuns(start),
    ...lifecycle(),
  };
}
