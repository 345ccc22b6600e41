// What puts the name of a custom resource into the queue of its kind: changes of the resource, of its Jobs, and of their pods.
// Called by controllers/controllers.ts.
import type { KubeObject, Pod } from "../../src/kube/objects.ts";
import { retryRequest } from "../../src/schemas/job-resource.ts";
import { type Watch, watch } from "../runtime/controller.ts";
import type { Store } from "../runtime/store.ts";
import type { JobResource } from "./adapter.ts";
import { debounceMs, quietDebounceMs } from "./apply.ts";
import type { CachedJob } from "./cached-job.ts";
import { labels } from "./child.ts";
import { hasEnded } from "./decide.ts";

/** `plural`: of the kind, as the labels of Jobs and pods have it. */
export function jobWatches(
  plural: string,
  stores: { resources: Store<JobResource>; jobs: Store<CachedJob>; pods: Store<Pod> },
): Watch[] {
  const ownerOf = ({ metadata }: KubeObject) =>
    metadata.labels?.[labels.kind] === plural ? metadata.labels[labels.job] : undefined;
  return [
    watch(stores.resources, ({ object, old, deleted }) => {
      const { name, generation, deletionTimestamp } = object.metadata;
      if (old === undefined && object.status?.phase === undefined) return { key: name, priority: "new" };
      // At the start of a leader, which may find very many of them.
      if (old === undefined && hasEnded(object)) return { key: name, priority: "delayed" };
      const before = old?.metadata;
      const isChanged =
        deleted ||
        before?.generation !== generation ||
        before?.deletionTimestamp !== deletionTimestamp ||
        before?.annotations?.[retryRequest] !== object.metadata.annotations?.[retryRequest];
      if (isChanged) return { key: name };
      // The operator wrote this status itself, so only an ended job needs another reconcile.
      return hasEnded(object) ? { key: name, afterMs: debounceMs } : undefined;
    }),
    watch(stores.jobs, ({ object, old, deleted }) => {
      const key = ownerOf(object);
      if (key === undefined) return undefined;
      // A new Job is the operator's own. Its first pods follow in a moment.
      return old === undefined && !deleted ? { key, afterMs: quietDebounceMs } : { key };
    }),
    watch(stores.pods, ({ object, old, deleted }) => {
      const key = ownerOf(object);
      if (key === undefined) return undefined;
      return { key, afterMs: !deleted && saysLittle(object, old) ? quietDebounceMs : debounceMs };
    }),
  ];
}

/** Whether the pod is new and waits for its node, or has succeeded, which its Job says in a moment. */
function saysLittle(pod: Pod, old: Pod | undefined): boolean {
  return pod.status?.phase === "Succeeded" || (isWaiting(pod) && (old === undefined || isWaiting(old)));
}

/** Whether neither the scheduler nor the kubelet has said anything about the pod. */
const isWaiting = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.phase ?? "Pending") === "Pending" &&
  (status?.conditions ?? []).length === 0 &&
  (status?.containerStatuses ?? []).length === 0;
