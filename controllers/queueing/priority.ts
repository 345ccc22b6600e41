// What the names of priority classes stand for. Cluster-wide objects that hardly ever change, so each name is asked for
// when a job has it and remembered for a minute instead of being watched. Called by queueing.ts.
import type { Kube } from "../../src/kube/client.ts";
import { isNotFound } from "../../src/kube/errors.ts";
import { kueueGroup } from "./workload.ts";

export type PriorityClasses = {
  /** The value of a PriorityClass; undefined when there is none of that name. */
  valueOf(name: string): Promise<number | undefined>;
  /** The same of Kueue's WorkloadPriorityClass, in that version of its API. */
  workloadValueOf(name: string, version: string): Promise<number | undefined>;
};

const rememberedMs = 60_000;

export function makePriorityClasses(options: { kube: Kube; now: () => number }): PriorityClasses {
  const { kube, now } = options;
  const known = new Map<string, { at: number; value: Promise<number | undefined> }>();

  const ask = async (path: string): Promise<number | undefined> => {
    try {
      return ((await kube.send({ method: "GET", path })) as { value: number }).value;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      known.delete(path);
      throw error;
    }
  };
  const remember = (path: string) => {
    const present = known.get(path);
    if (present !== undefined && now() - present.at < rememberedMs) return present.value;
    const value = ask(path);
    known.set(path, { at: now(), value });
    return value;
  };

  return {
    valueOf: (name) => remember(`/apis/scheduling.k8s.io/v1/priorityclasses/${encodeURIComponent(name)}`),
    workloadValueOf: (name, version) =>
      remember(`/apis/${kueueGroup}/${version}/workloadpriorityclasses/${encodeURIComponent(name)}`),
  };
}
