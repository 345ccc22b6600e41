// Finds shards whose retry budget is used up. A Kubernetes Job counts all failures alike; the operator counts them per
// kind of failure and gives a shard up earlier than its Job would. Pure; called by decide.ts.
import type { Pod } from "../../src/kube/objects.ts";
import type { JobResource } from "./adapter.ts";
import type { Facts } from "./facts.ts";
import { disrupted, disruptedMessage, type Failure, ignoredBefore, shardOf, stalled } from "./pods.ts";

/**
 * The budget that a failure uses: which failures share it, and how many a shard survives. Undefined: no budget of ours.
 */
function budgetOf(
  { code, class: of }: Failure,
  { infraPerShard }: JobResource["spec"]["retries"],
): { name: string; limit: number } | undefined {
  if (of === "Resources") return { name: "memory", limit: 1 };
  if (code === stalled) return { name: stalled, limit: 1 };
  if (code === disrupted) return { name: code, limit: infraPerShard };
  return undefined;
}

type BudgetFacts = Pick<Facts, "cr" | "child" | "pods" | "failedPods">;

/** Returns the shards that are given up, each with its last failure. */
export function exhaustedShards(facts: BudgetFacts): Map<number, Failure> {
  const counts = new Map<string, number>();
  const found = new Map<number, Failure>();
  for (const failure of [...unrecordedDisruptions(facts), ...facts.failedPods.map((pod) => pod.failure)]) {
    const budget = budgetOf(failure, facts.cr.spec.retries);
    if (budget === undefined || failure.shard === undefined) continue;
    const key = `${failure.shard} ${budget.name}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= budget.limit) continue;
    const message = `${failure.message} That happened ${count} times to shard ${failure.shard}.`;
    found.set(failure.shard, { ...failure, message: message.slice(0, 1000) });
  }
  return found;
}

/**
 * Disruptions of pods that were deleted before any operator recorded them, as while no operator ran. The Job ignores
 * disruptions and annotates each pod with the number of ignored failures of its shard. The difference between that
 * number and the recorded disruptions is returned as failures.
 */
function unrecordedDisruptions({ child, pods, failedPods }: BudgetFacts): Failure[] {
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
    const message = disruptedMessage;
    const failure: Failure = { class: "Infra", code: disrupted, message, shard, retryable: true };
    return Array.from({ length: Math.max(0, ignoredBefore(pod) - before.length) }, () => failure);
  });
}
