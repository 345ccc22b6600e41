// The stores of all resources that the operator watches, and the reflectors that fill them. Every replica has them, so
// that a standby has warm caches and can serve the run endpoint. Created by operator.ts.
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

export type Caches = {
  /** Index "uid". */
  resources: Record<JobKind, Store<JobResource>>;
  /** Returns the custom resource of the row with this id. */
  resourceOf(kind: JobKind, id: string): JobResource | undefined;
  models: Store<ModelResource & KubeObject>;
  /** Indexes "owner" and "resource": by the uid and by the name of the owning custom resource. */
  jobs: Store<CachedJob>;
  /** Index "job": by the name of the Kubernetes Job. */
  pods: Store<Pod>;
  synced: Promise<void>;
  isSynced(): boolean;
  stop(): Promise<void>;
};

const controllerOf = (object: KubeObject) =>
  object.metadata.ownerReferences?.find(({ controller }) => controller);

const resourceStore = () => new Store<JobResource>({ uid: ({ metadata }) => metadata.uid }, trimResource);

export function startCaches(options: {
  kube: Kube;
  namespace: string;
  log: Log;
  random: () => number;
  metrics: RuntimeMetrics;
}): Caches {
  const reflectors: Reflector[] = [];
  const start = <T extends KubeObject>(type: ResourceType<T>, store: Store<T>, labelSelector?: string) => {
    const reflector = startReflector({ ...options, type, store, labelSelector });
    options.metrics.watchReflector(type.plural, { ...reflector, objects: () => store.size });
    reflectors.push(reflector);
    return store;
  };
  const resources = {
    training: start(trainingJobs, resourceStore()),
    inference: start(inferenceJobs, resourceStore()),
    embedding: start(embeddingJobs, resourceStore()),
  };
  return {
    resources,
    resourceOf: (kind, id) => resources[kind].get(resourceName(kind, id)) ?? resources[kind].by("uid", id)[0],
    models: start(models, new Store<ModelResource & KubeObject>()),
    // The label selects the operator's own objects. The namespace may hold other Jobs and pods.
    jobs: start(
      jobs,
      new Store<CachedJob>(
        { owner: (job) => controllerOf(job)?.uid, resource: (job) => controllerOf(job)?.name },
        trimJob,
      ),
      labels.job,
    ),
    pods: start(pods, new Store<Pod>({ job: (pod) => controllerOf(pod)?.name }, trimPod), labels.job),
    synced: Promise.all(reflectors.map(({ synced }) => synced)).then(() => undefined),
    isSynced: () => reflectors.every((reflector) => reflector.isSynced()),
    async stop() {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
    },
  };
}
