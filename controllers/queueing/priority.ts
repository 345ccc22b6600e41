// Looks up the values of priority classes. These cluster-wide objects hardly ever change, so each name is fetched when
// a job uses it and cached for a minute instead of being watched. Called by queueing.ts.
import type { Kube } from "../../src/kube/client.ts";
import { isNotFound } from "../../src/kube/errors.ts";
import { kueueGroup } from "./workload.ts";

export type PriorityClasses = {
  /** Returns the value of a PriorityClass; undefined when it does not exist. */
  valueOf(name: string): Promise<number | undefined>;
  /**
   * Returns the value of Kueue's WorkloadPriorityClass, from the given version of Kueue's API; undefined when it does
   * not exist.
   */
  workloadValueOf(name: string, version: string): Promise<number | undefined>;
};

const cacheMs = 60_000;

export function makePriorityClasses(options: { kube: Kube; now: () => number }): PriorityClasses {
  const { kube, now } = options;
  const known = new Map<string, { at: number; value: Promise<number | undefined> }>();

  const fetchValue = async (path: string): Promise<number | undefined> => {
    try {
      return ((await kube.send({ method: "GET", path })) as { value: number }).value;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      known.delete(path);
      throw error;
    }
  };
  const cached = (path: string) => {
    const present = known.get(path);
    if (present !== undefined && now() - present.at < cacheMs) return present.value;
    const value = fetchValue(path);
    known.set(path, { at: now(), value });
    return value;
  };

  return {
    valueOf: (name) => cached(`/apis/scheduling.k8s.io/v1/priorityclasses/${encodeURIComponent(name)}`),
    workloadValueOf: (name, version) =>
      cached(`/apis/${kueueGroup}/${version}/workloadpriorityclasses/${encodeURIComponent(name)}`),
  };
}
