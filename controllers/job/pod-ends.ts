// Collects ended pods that Postgres does not have yet. Deleted pods are kept in memory, because a pod may disappear
// from the API server before a reconcile reads it. One instance per kind of job, created by memory.ts.
import type { PodEnd } from "../../src/db/operator/run-pod.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { Store } from "../runtime/store.ts";
import { labels } from "./child.ts";
import { endTimeOf, type Failure, failureOf, isEnded, isGpu, resourcesOf, shardOf, startOf } from "./pods.ts";

export class PodEnds {
  /** Uids of pods that are recorded and still in the cache. */
  readonly #recorded = new Set<string>();
  /** Deleted pods that are not recorded yet, by the name of the custom resource. */
  readonly #deleted = new Map<string, Pod[]>();

  /** `plural` names the kind whose pods are collected. */
  constructor(pods: Store<Pod>, plural: string) {
    pods.onChange(({ object, deleted }) => {
      if (!deleted || object.metadata.labels?.[labels.kind] !== plural) return;
      const name = object.metadata.labels[labels.job];
      if (this.#recorded.delete(object.metadata.uid ?? "") || name === undefined) return;
      this.#deleted.set(name, [...(this.#deleted.get(name) ?? []), object]);
    });
  }

  /** Returns the unrecorded ended pods of a job. `present` are the pods of its run that still exist. */
  of(name: string, present: readonly Pod[]): Pod[] {
    const ended = present.filter((pod) => isEnded(pod) && !this.#recorded.has(pod.metadata.uid ?? ""));
    return [...ended, ...(this.#deleted.get(name) ?? [])];
  }

  /** Marks pods as recorded in Postgres. */
  markRecorded(name: string, pods: readonly Pod[]): void {
    const unrecorded = new Set(this.#deleted.get(name));
    for (const pod of pods) if (!unrecorded.delete(pod)) this.#recorded.add(pod.metadata.uid ?? "");
    if (unrecorded.size === 0) this.#deleted.delete(name);
    else this.#deleted.set(name, [...unrecorded]);
  }

  /** Drops the pods of an ended job, which nobody reads any more. */
  forget(name: string): void {
    this.#deleted.delete(name);
  }
}

/**
 * The record of a pod that has ended or is about to. `failure` replaces the failure that the pod itself shows; null
 * means that the pod did not fail.
 */
export function podEnd(pod: Pod, now: number, failure?: Failure | null): PodEnd {
  const { requests, limits } = resourcesOf(pod);
  const gpu = Object.entries(limits).find(([name]) => isGpu(name))?.[1];
  const own = () => (pod.status?.phase === "Succeeded" ? undefined : failureOf(pod));
  return {
    podUid: pod.metadata.uid ?? "",
    runId: pod.metadata.ownerReferences?.find(({ controller }) => controller)?.name ?? "",
    shard: shardOf(pod) ?? 0,
    startedAt: startOf(pod),
    endedAt: endTimeOf(pod) ?? now,
    cpu: quantity(requests.cpu ?? limits.cpu),
    gpu: quantity(gpu),
    failure: failure === undefined ? own() : (failure ?? undefined),
  };
}

/** Parses a Kubernetes quantity of CPUs or devices: "2", "0.5", "500m". Returns 0 for anything else. */
function quantity(text: string | undefined): number {
  if (text === undefined) return 0;
  const value = Number.parseFloat(text) / (text.endsWith("m") ? 1000 : 1);
  return Number.isFinite(value) && value > 0 ? value : 0;
}
