// Records ended pods in Postgres, and deletes stalled or superfluous pods. Called by gather.ts and apply.ts.
import type { JobRow } from "../../src/db/job.ts";
import { recordPods } from "../../src/db/operator/run-pod.ts";
import type { Kube } from "../../src/kube/client.ts";
import { isTooMany } from "../../src/kube/errors.ts";
import { pods as podType } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { JobResource } from "./adapter.ts";
import type { CachedJob } from "./cached-job.ts";
import { reasonOf, type Stop } from "./decide.ts";
import type { Engine } from "./engine.ts";
import type { Facts } from "./facts.ts";
import { type PodEnds, podEnd } from "./pod-ends.ts";
import { isDisrupted, isEnded } from "./pods.ts";

/** Records the ended pods of a job, each once, with their usage. Returns whether there were any: then the job's state is old. */
export async function recordEndedPods(
  engine: Engine,
  podEnds: PodEnds,
  cr: JobResource,
  row: JobRow | null,
  ended: readonly Pod[],
  child?: CachedJob,
): Promise<boolean> {
  const { db, adapter, metrics, now, emitEvent } = engine;
  const { name } = cr.metadata;
  if (row === null || ended.length === 0) return false;
  // A pod that is deleted because of a suspension or together with its Job has not failed.
  const wasDeletedWithJob = (pod: Pod) =>
    (child === undefined || child.spec.suspend === true) &&
    (pod.metadata.deletionTimestamp !== undefined || !isEnded(pod)) &&
    !isDisrupted(pod);
  const ends = ended.map((pod) => podEnd(pod, now(), wasDeletedWithJob(pod) ? null : undefined));
  const newUids = await recordPods(db, adapter.kind, row.id, ends);
  podEnds.markRecorded(name, ended);
  for (const { podUid, failure } of ends) {
    if (failure === undefined || !newUids.includes(podUid)) continue;
    metrics.shardRetried(failure.class);
    emitEvent(cr, "Warning", reasonOf[failure.class], `Shard ${failure.shard}: ${failure.message}`);
  }
  return true;
}

/**
 * Evicts a pod whose failure the operator counts itself. The Job ignores evictions, so the shard is retried whatever
 * retries.perShard is. A PodDisruptionBudget that forbids the eviction is not meant for a hanging worker: then the pod
 * is deleted.
 */
async function evict(kube: Kube, { metadata }: Pod): Promise<void> {
  const { uid } = metadata;
  await kube.evict(metadata, { uid }).catch((error: unknown) => {
    if (!isTooMany(error)) throw error;
    return kube.remove(podType, metadata, { uid });
  });
}

/**
 * Deletes pods before their end. Failures are recorded first, so that a pod is never deleted twice for the same one.
 */
export async function stopPods(
  engine: Engine,
  podEnds: PodEnds,
  { cr, row }: Facts,
  stops: readonly Stop[],
): Promise<void> {
  const { kube, db, adapter, metrics, now, emitEvent } = engine;
  const counted = stops.filter(({ failure }) => failure !== undefined);
  const ends = counted.map(({ pod, failure }) => podEnd(pod, now(), failure));
  if (ends.length > 0) await recordPods(db, adapter.kind, row!.id, ends);
  podEnds.markRecorded(
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
    emitEvent(
      cr,
      "Warning",
      "ProgressStalled",
      `Shard ${failure.shard}: ${failure.message} Its pod is deleted.`,
    );
  }
}
