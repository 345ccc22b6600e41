// Which shards are not tried again although the Job would: a Job counts failures alike, we count by what they were. Pure;
// called by decide.ts.
import type { FailedPod } from "../../src/db/run-pod.ts";
import type { JobResource } from "./adapter.ts";
import { disrupted, type Failure, stalled } from "./pods.ts";

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

/** The shards that are given up, each with its last failure. `failures`: of all pods of the job, in their order. */
export function givenUp(cr: JobResource, failures: readonly FailedPod[]): Map<number, Failure> {
  const counts = new Map<string, number>();
  const found = new Map<number, Failure>();
  for (const { failure } of failures) {
    const bound = limitOf(failure, cr.spec.retries);
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
