// Tells Postgres which pods have ended, and ends those that say nothing any more. Called by reconcile.ts.
import type { JobRow } from "../../src/db/job.ts";
import { recordPods } from "../../src/db/run-pod.ts";
import type { Kube } from "../../src/kube/client.ts";
import { isTooMany } from "../../src/kube/errors.ts";
import { pods as podType } from "../../src/kube/kinds.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import type { JobResource } from "./adapter.ts";
import { type Facts, reasonOf, type Stop } from "./decide.ts";
import type { Engine } from "./engine.ts";
import { type PodEnds, podEnd } from "./pod-ends.ts";
import { isDisrupted, isEnded } from "./pods.ts";

/** Writes down which pods have ended, each once. */
export async function tellPods(
  engine: Engine,
  podEnds: PodEnds,
  cr: JobResource,
  row: JobRow | null,
  ended: readonly Pod[],
  child?: Job,
): Promise<void> {
  const { db, adapter, metrics, now, say } = engine;
  const { name } = cr.metadata;
  if (row === null || ended.length === 0) return;
  // Pods that go with a suspension or with their Job have not failed.
  const wasSentAway = (pod: Pod) =>
    (child === undefined || child.spec.suspend === true) &&
    (pod.metadata.deletionTimestamp !== undefined || !isEnded(pod)) &&
    !isDisrupted(pod);
  const ends = ended.map((pod) => podEnd(pod, now(), wasSentAway(pod) ? null : undefined));
  const recorded = await recordPods(db, adapter.kind, row.id, ends);
  podEnds.told(name, ended);
  Object.assign(row, recorded?.usage);
  for (const { podUid, failure } of ends) {
    if (failure === undefined || !recorded?.newUids.includes(podUid)) continue;
    metrics.shardRetried(failure.class);
    say(cr, "Warning", reasonOf[failure.class], `Shard ${failure.shard}: ${failure.message}`);
  }
}

/**
 * Ends a pod whose failure we count: as an eviction, so that the Job does not count it too and its shard is tried again
 * whatever perShard is. A budget that forbids evictions is not meant for a worker that hangs.
 */
async function evict(kube: Kube, { metadata }: Pod): Promise<void> {
  const { uid } = metadata;
  await kube.evict(metadata, { uid }).catch((error: unknown) => {
    if (!isTooMany(error)) throw error;
    return kube.remove(podType, metadata, { uid });
  });
}

/** Deletes pods before their end. What counts as their failure is told first: a pod is never deleted twice for it. */
export async function stopPods(
  engine: Engine,
  podEnds: PodEnds,
  { cr, row }: Facts,
  stops: readonly Stop[],
): Promise<void> {
  const { kube, db, adapter, metrics, now, say } = engine;
  const counted = stops.filter(({ failure }) => failure !== undefined);
  const ends = counted.map(({ pod, failure }) => podEnd(pod, now(), failure));
  if (ends.length > 0) await recordPods(db, adapter.kind, row!.id, ends);
  podEnds.told(
    cr.metadata.name,
    counted.map(({ pod }) => pod),
  );
  for (const { pod, failure } of stops) {
    if (failure === undefined) {
      await kube.remove(podType, pod.metadata, { uid: pod.metadata.uid });
      continue;
    }
    await evict(kube, pod);
    metrics.shardRetried(failure.class);
    metrics.shardStalled(adapter.kind);
    say(cr, "Warning", "ProgressStalled", `Shard ${failure.shard}: ${failure.message} Its pod is deleted.`);
  }
}
