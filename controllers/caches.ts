// The stores of everything that the operator watches, and the reflectors that fill them. On every replica, so that a
// standby is warm and can serve the run endpoint. Made by operator.ts.
import type { Kube } from "../src/kube/client.ts";
import { embeddingJobs, inferenceJobs, jobs, models, pods, trainingJobs } from "../src/kube/kinds.ts";
import type { Job, KubeObject, Pod, ResourceType } from "../src/kube/objects.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, resourceName } from "../src/schemas/job-kind.ts";
import type { ModelResource } from "../src/schemas/model.ts";
import type { JobResource } from "./job/adapter.ts";
import { labels } from "./job/child.ts";
import { trimJob, trimPod } from "./job/trim.ts";
import type { RuntimeMetrics } from "./runtime/metrics.ts";
import { type Reflector, startReflector } from "./runtime/reflector.ts";
import { Store } from "./runtime/store.ts";

export type Caches = {
  /** Index "uid". */
  resources: Record<JobKind, Store<JobResource>>;
  /** The custom resource of a row. */
  resourceOf(kind: JobKind, id: string): JobResource | undefined;
  models: Store<ModelResource & KubeObject>;
  /** Indexes of those that have an owner, by its uid and by its name: "owner" and "resource". */
  jobs: Store<Job>;
  /** Index "job": by the name of the Kubernetes Job. */
  pods: Store<Pod>;
  synced: Promise<void>;
  isSynced(): boolean;
  stop(): Promise<void>;
};

const controllerOf = (object: KubeObject) =>
  object.metadata.ownerReferences?.find(({ controller }) => controller);

/** Nobody reads their annotations, and what kubectl notes there is their spec once more. */
const resourceStore = () =>
  new Store<JobResource>({ uid: ({ metadata }) => metadata.uid }, ({ metadata }) => {
    delete metadata.annotations;
  });

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
    // Only ours: a namespace may hold anybody's Jobs and pods.
    jobs: start(
      jobs,
      new Store<Job>(
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
