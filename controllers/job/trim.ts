// Trims cached objects to the fields that the operator reads. A namespace may hold 50,000 pods of six kilobytes each and
// 100,000 ended jobs, and most changes in them do not concern the operator. Used by controllers/caches.ts.
import type { Job, KubeObject, Meta, Pod } from "../../src/kube/objects.ts";
import {
  type JobStatus,
  maxRetryRequest,
  retryRequest,
  traceparentAnnotation,
} from "../../src/schemas/job-resource.ts";
import type { JobResource } from "./adapter.ts";
import { jobStatus, type Kept } from "./cached-job.ts";
import { hasEnded } from "./decide.ts";
import { ignoredCount, indexLabel } from "./pods.ts";

const metadata: Kept<Meta> = {
  name: true,
  namespace: true,
  uid: true,
  resourceVersion: true,
  creationTimestamp: true,
  deletionTimestamp: true,
  labels: true,
  annotations: true,
  ownerReferences: true,
  generation: false,
  finalizers: false,
  managedFields: false,
};
const podSpec: Kept<NonNullable<Pod["spec"]>> = {
  nodeName: true,
  serviceAccountName: true,
  containers: true,
};
const podStatus: Kept<NonNullable<Pod["status"]>> = {
  phase: true,
  reason: true,
  message: true,
  conditions: true,
  containerStatuses: true,
};
const endedStatus: Kept<JobStatus> = {
  phase: true,
  runId: true,
  completionTime: true,
  failure: true,
  shards: true,
  conditions: true,
  observedGeneration: true,
  lastHandledRetryAt: true,
  attempt: false,
  startTime: false,
  admittedTime: false,
  heldSince: false,
  pendingSince: false,
  suspendedSeconds: false,
  progress: false,
  usage: false,
  metrics: false,
  artifacts: false,
  checkpoint: false,
};
const endConditions = ["Succeeded", "Failed", "Cancelled", "Ready"];

/**
 * Drops all annotations but two: kubectl keeps a second copy of the spec in another. traceEnd reads that of the trace. Of an ended job, keeps the part of the
 * status that reconcile.ts reads; it reads the whole resource before it writes such a status.
 */
export function trimResource(resource: JobResource): void {
  const isOver = hasEnded(resource);
  const kept = [retryRequest, ...(isOver ? [] : [traceparentAnnotation])].flatMap((name) => {
    const text = resource.metadata.annotations?.[name];
    return text === undefined ? [] : [[name, text.slice(0, maxRetryRequest)]];
  });
  resource.metadata.annotations = kept.length === 0 ? undefined : Object.fromEntries(kept);
  if (resource.status === undefined || !isOver) return;
  resource.status = pick(resource.status, endedStatus);
  resource.status.conditions = resource.status.conditions?.filter(({ type }) => endConditions.includes(type));
}

export function trimPod(pod: Pod): void {
  pod.metadata = pick(pod.metadata, metadata);
  trimMetadata(pod);
  if (pod.spec !== undefined) {
    pod.spec = pick(pod.spec, podSpec);
    pod.spec.containers = pod.spec.containers?.map(({ name, resources }) => ({ name, resources }));
  }
  if (pod.status === undefined) return;
  pod.status = pick(pod.status, podStatus);
  // Only these conditions carry facts that no other field shows: why the pod is not scheduled, and that it is
  // disrupted.
  pod.status.conditions = pod.status.conditions
    ?.filter(({ type, status }) =>
      type === "PodScheduled" ? status === "False" : type === "DisruptionTarget",
    )
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  pod.status.containerStatuses = pod.status.containerStatuses?.map(({ name, state }) => ({ name, state }));
}

export function trimJob(job: Job): void {
  job.metadata = pick(job.metadata, metadata);
  const { completions, parallelism, suspend } = job.spec;
  job.spec = { completions, parallelism, suspend, template: { spec: {} } };
  if (job.status === undefined) return;
  job.status = pick(job.status, jobStatus);
  // An empty list is no news: the Job controller writes one when it sees a Job first.
  if (job.status.failedIndexes === "") delete job.status.failedIndexes;
}

function pick<T extends object>(object: T, kept: Kept<T>): T {
  const of: Readonly<Record<string, boolean>> = kept;
  return Object.fromEntries(Object.entries(object).filter(([name]) => of[name])) as T;
}

const prefixes = ["plosive.dev/", indexLabel, ignoredCount];

/** Keeps only the labels and annotations that the operator reads. */
function trimMetadata({ metadata }: KubeObject): void {
  const own = (all: Record<string, string> = {}) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix))),
    );
  metadata.labels = own(metadata.labels);
  metadata.annotations = own(metadata.annotations);
}
