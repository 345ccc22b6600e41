// The metrics of work queues under client-go's names. Called by metrics.ts; fed by the queues themselves.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Workqueue } from "./workqueue.ts";

/** From what a key costs when all is well to what it waits when all is not. */
const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

/** Returns what makes a queue counted. */
export function makeWorkqueueMetrics(registry: Registry, names: readonly string[]) {
  const registers = [registry];
  const labelNames = ["name"];
  const queues = new Map<string, Workqueue>();
  const gauge = (name: string, help: string, read: (queue: Workqueue) => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const name of names) this.set({ name }, 0);
        for (const [name, queue] of queues) this.set({ name }, read(queue));
      },
    });
  gauge("workqueue_depth", "Keys that wait", (queue) => queue.depth);
  gauge(
    "workqueue_unfinished_work_seconds",
    "Sum of the time that the keys at work have been at work",
    (queue) => queue.workSeconds().reduce((sum, seconds) => sum + seconds, 0),
  );
  gauge(
    "workqueue_longest_running_processor_seconds",
    "How long the key that has been at work longest has been",
    (queue) => Math.max(0, ...queue.workSeconds()),
  );
  const adds = new Counter({
    name: "workqueue_adds_total",
    help: "Keys that were added and did not wait already",
    labelNames,
    registers,
  });
  const retries = new Counter({
    name: "workqueue_retries_total",
    help: "Keys that were put back after a failure",
    labelNames,
    registers,
  });
  const waited = new Histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long keys waited",
    labelNames,
    buckets,
    registers,
  });
  const worked = new Histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long keys were worked on",
    labelNames,
    buckets,
    registers,
  });
  for (const name of names) {
    for (const counter of [adds, retries]) counter.inc({ name }, 0);
    for (const histogram of [waited, worked]) histogram.zero({ name });
  }
  return (name: string, queue: Workqueue): void => {
    queues.set(name, queue);
    queue.observe({
      added: () => adds.inc({ name }),
      taken: (seconds) => waited.observe({ name }, seconds),
      done: (seconds) => worked.observe({ name }, seconds),
      retried: () => retries.inc({ name }),
    });
  };
}
