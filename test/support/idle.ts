// Waits until an operator of the test's own process has nothing left to do, from its counters and not from a time
// without requests. Called by tests that count the operator's requests.
import type { TestOperator } from "./operator.ts";
import { poll } from "./poll.ts";
import { scrape } from "./prometheus.ts";

/**
 * Waits for a complete pass of every sweep, and then until no key waits in a queue or is in work and no event is being
 * written. A pass takes longer than a change takes from a watch to its queue.
 */
export async function untilIdle(operator: TestOperator): Promise<void> {
  const read = () => scrape(operator.metricsPort);
  const ends = async () =>
    new Map(
      (await read()).samples
        .filter(({ name }) => name === "plosive_sweep_last_success_timestamp_seconds")
        .map(({ labels, value }) => [labels.sweep, value]),
    );
  let last = await ends();
  // The first pass that ends may have begun before the call.
  for (let pass = 0; pass < 2; pass++)
    last = await poll("each sweep to end", async () => {
      const present = await ends();
      return [...present].every(([sweep, at]) => at !== last.get(sweep)) && present;
    });
  await poll("the queues to be empty", async () => {
    const { value } = await read();
    const left = [value("workqueue_depth"), value("controller_runtime_active_workers"), operator.creating()];
    return left.every((count) => count === 0);
  });
}
