// What the reconcile of one kind remembers between two calls. Nothing of it has to survive a restart or a change of the leader.
// Created and read by reconcile.ts, gather.ts and apply.ts.
import { jobIdOf } from "../../src/schemas/job-kind.ts";
import type { Store } from "../runtime/store.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import type { Refusal } from "./adopt.ts";
import { hasEnded } from "./decide.ts";
import type { EngineDeps } from "./engine.ts";
import type { Facts } from "./facts.ts";
import { PodEnds } from "./pod-ends.ts";

export type Memory = {
  /** Since when this replica leads, in ms since 1970. */
  readonly leadingSince: number;
  readonly podEnds: PodEnds;
  /** Since when the reconcile of a resource has failed, in ms since 1970, by its name. */
  readonly failingSince: Map<string, number>;
  /** Tenants whose quota of waiting jobs is used up, with the time and text of the last refusal. */
  readonly quotaRefusals: Map<string, { at: number; refusal: Refusal }>;
  /** Uids of ended jobs whose rows have ended too. They need no further request or query. */
  readonly settledUids: Set<string>;
  /** Unusable results by the uid of their resource. They never change, so they are not read again. */
  readonly unusable: Map<string, { run: string; shards: Facts["bad"] }>;
  /** Open jobs whose resource somebody has deleted, as the watch has reported: the resource's name by the job's id. */
  readonly deletedIds: Map<string, string>;
};

export function makeMemory(
  { now, pods }: Pick<EngineDeps, "now" | "pods">,
  adapter: Pick<JobAdapter, "kind" | "type">,
  store: Store<JobResource>,
): Memory {
  const memory: Memory = {
    leadingSince: now(),
    podEnds: new PodEnds(pods, adapter.type.plural),
    failingSince: new Map(),
    quotaRefusals: new Map(),
    // An earlier leader ended the row before the status. Rows that a restore took back are found by controllers/drift.ts.
    settledUids: new Set([...store.values()].filter(hasEnded).flatMap(({ metadata }) => metadata.uid ?? [])),
    unusable: new Map(),
    deletedIds: new Map(),
  };
  const { settledUids, unusable, deletedIds } = memory;
  store.onChange(({ object, deleted, isReported }) => {
    const { uid = "", name } = object.metadata;
    if (isReported && !hasEnded(object)) deletedIds.set(jobIdOf(adapter.kind, object.metadata), name);
    if (deleted) settledUids.delete(uid);
    if (deleted || hasEnded(object)) unusable.delete(uid);
  });
  return memory;
}
