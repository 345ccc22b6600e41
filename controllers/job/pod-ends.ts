// Which pods have ended and are not told yet: a pod may be gone from the API server before anybody asked for it.
// One for each kind of job; made and asked by reconcile.ts.
import type { PodEnd } from "../../src/db/run-pod.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { Store } from "../runtime/store.ts";
import { labels } from "./child.ts";
import { endTimeOf, type Failure, failureOf, isEnded, isGpu, resourcesOf, shardOf, startOf } from "./pods.ts";

export class PodEnds {
  readonly #told = new Set<string>();
  /** By the name of the custom resource. */
  readonly #gone = new Map<string, Pod[]>();

  /** `plural`: of the kind whose pods these are. */
  constructor(pods: Store<Pod>, plural: string) {
    pods.onChange(({ object, deleted }) => {
      if (!deleted || object.metadata.labels?.[labels.kind] !== plural) return;
      const name = object.metadata.labels[labels.job];
      if (this.#told.delete(object.metadata.uid ?? "") || name === undefined) return;
      this.#gone.set(name, [...(this.#gone.get(name) ?? []), object]);
    });
  }

  /** Those of a job, `present` being the pods of its run that are still there. */
  of(name: string, present: readonly Pod[]): Pod[] {
    const ended = present.filter((pod) => isEnded(pod) && !this.#told.has(pod.metadata.uid ?? ""));
    return [...ended, ...(this.#gone.get(name) ?? [])];
  }

  /** They are in Postgres. */
  told(name: string, pods: readonly Pod[]): void {
    const gone = new Set(this.#gone.get(name));
    for (const pod of pods) if (!gone.delete(pod)) this.#told.add(pod.metadata.uid ?? "");
    if (gone.size === 0) this.#gone.delete(name);
    else this.#gone.set(name, [...gone]);
  }

  /** The job has ended: nobody asks any more. */
  forget(name: string): void {
    this.#gone.delete(name);
  }
}

/** A pod that has ended or is about to, as it is told. `failure` counts in place of its own; null: it is none. */
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

/** A Kubernetes quantity of processors or devices: "2", "0.5", "500m". */
function quantity(text: string | undefined): number {
  if (text === undefined) return 0;
  const value = Number.parseFloat(text) / (text.endsWith("m") ? 1000 : 1);
  return Number.isFinite(value) && value > 0 ? value : 0;
}
