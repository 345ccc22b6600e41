// Sums up the progress of all shards of a run. Pure; called by status.ts.
import type { ShardProgress } from "../../src/db/operator/job-state.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { shardOf, terminationOf } from "./pods.ts";

export type Sum = {
  percent: number;
  itemsDone: number;
  itemsTotal: number;
  itemsFailed: number;
  message?: string;
  etaSeconds?: number;
  lastReportTime?: string;
};

/** The highest percentage of a job that has not ended: only success sets 100. */
export const maxOpenPercent = 99;

/**
 * Counts are exact once a shard has ended, because its termination log carries the final ones. The percentage is the
 * mean over all `count` shards, at most maxOpenPercent. The remaining time is estimated at the last report,
 * from the time worked since `since` (ms since 1970). Undefined when no shard has reported or completed.
 */
export function sumProgress(
  count: number,
  lines: readonly ShardProgress[],
  completed: readonly number[],
  pods: readonly Pod[],
  since: number | undefined,
): Sum | undefined {
  const shards = new Map(lines.map((line) => [line.shard, { ...line }]));
  for (const pod of pods) {
    const shard = shardOf(pod);
    const reported = pod.status?.phase === "Succeeded" ? terminationOf(pod) : undefined;
    if (shard === undefined || reported?.items_total == null) continue;
    const line = shards.get(shard);
    shards.set(shard, {
      shard,
      pod_uid: pod.metadata.uid ?? "",
      items_done: reported.items_done ?? reported.items_total,
      items_total: reported.items_total,
      items_failed: reported.items_failed ?? 0,
      fraction: 1,
      checkpoint_step: null,
      checkpoint_at: null,
      message: line?.message ?? null,
      updated_at: line?.updated_at ?? 0,
    });
  }
  if (shards.size === 0 && completed.length === 0) return undefined;
  const finished = new Set(completed);
  let fraction = finished.size;
  const sum = { itemsDone: 0, itemsTotal: 0, itemsFailed: 0 };
  let newest: { updated_at: number; message: string | null } | undefined;
  for (const line of shards.values()) {
    if (!finished.has(line.shard)) fraction += line.fraction;
    sum.itemsDone += finished.has(line.shard) ? line.items_total : line.items_done;
    sum.itemsTotal += line.items_total;
    sum.itemsFailed += line.items_failed;
    if (line.updated_at > 0 && line.updated_at >= (newest?.updated_at ?? 0)) newest = line;
  }
  const share = fraction / count;
  const spent = since === undefined ? 0 : ((newest?.updated_at ?? 0) - since) / 1000;
  return {
    percent: Math.min(maxOpenPercent, Math.floor((100 * fraction) / count + 1e-9)),
    ...sum,
    ...(newest?.message ? { message: newest.message } : {}),
    ...(share > 0 && spent > 0 ? { etaSeconds: Math.round((spent * Math.max(0, 1 - share)) / share) } : {}),
    ...(newest === undefined ? {} : { lastReportTime: new Date(newest.updated_at).toISOString() }),
  };
}
