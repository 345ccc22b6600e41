// Which shards are not tried again although the Job would: a Job counts failures alike, we count by what they were. Pure;
// called by decide.ts.
import type { Pod } from "../../src/kube/objects.ts";
import type { JobResource } from "./adapter.ts";
import type { Facts } from "./facts.ts";
import { disrupted, type Failure, ignoredBefore, shardOf, stalled } from "./pods.ts";

/** What is counted together, and how often it may happen to a shard. */
function limitOf(
  { code, class: of }: Failure,
  { infraPerShard }: JobResource["spec"]["retries"],
): { what: string; limit: number } | undefined {
  if (of === "Resources") return { what: "memory", limit: 1 };
  if (code === stalled) return { what: stalled, limit: 1 };
  if (code === disrupted) return { what: code, limit: infraPerShard };
  return undefined;
}

type Counted = Pick<Facts, "cr" | "child" | "pods" | "failedPods">;

/** The shards that are given up, each with its last failure. */
export function exhaustedShards(facts: Counted): Map<number, Failure> {
  const counts = new Map<string, number>();
  const found = new Map<number, Failure>();
  for (const failure of [...unseen(facts), ...facts.failedPods.map((pod) => pod.failure)]) {
    const bound = limitOf(failure, facts.cr.spec.retries);
    if (bound === undefined || failure.shard === undefined) continue;
    const key = `${failure.shard} ${bound.what}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= bound.limit) continue;
    const message = `${failure.message} That happened ${count} times to shard ${failure.shard}.`;
    found.set(failure.shard, { ...failure, message: message.slice(0, 1000) });
  }
  return found;
}

/**
 * Pods that were taken away and were gone before anybody looked, as when no operator ran. A Job leaves such ends
 * uncounted and tells each pod how many of them its shard has had: more than are written down nobody has seen.
 */
function unseen({ child, pods, failedPods }: Counted): Failure[] {
  const last = new Map<number, Pod>();
  for (const pod of pods) {
    const shard = shardOf(pod);
    const count = ignoredBefore(pod);
    if (shard === undefined || count === 0) continue;
    const known = last.get(shard);
    if (known === undefined || count > ignoredBefore(known)) last.set(shard, pod);
  }
  const seen = Map.groupBy(
    failedPods.filter(
      ({ run_id, failure: { code } }) =>
        run_id === child?.metadata.name && (code === disrupted || code === stalled),
    ),
    ({ failure }) => failure.shard,
  );
  return [...last].flatMap(([shard, pod]) => {
    const before = seen.get(shard)?.filter(({ pod_uid }) => pod_uid !== pod.metadata.uid) ?? [];
    const message = "The pod was taken from its node.";
    const failure: Failure = { class: "Infra", code: disrupted, message, shard, retryable: true };
    return Array.from({ length: Math.max(0, ignoredBefore(pod) - before.length) }, () => failure);
  });
}
