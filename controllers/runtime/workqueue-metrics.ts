// The metrics of workqueues, with client-go's names. Called by metrics.ts; fed by the workqueues.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Workqueue } from "./workqueue.ts";

/** Seconds: from the work on one key in normal operation to waiting times under overload. */
const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

/** Returns a function that registers a workqueue under a name. */
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
  gauge("workqueue_depth", "Keys that wait for a reconcile", (queue) => queue.depth);
  gauge("workqueue_unfinished_work_seconds", "Total running time of all reconciles in progress", (queue) =>
    queue.workSeconds().reduce((sum, seconds) => sum + seconds, 0),
  );
  gauge(
    "workqueue_longest_running_processor_seconds",
    "Running time of the longest reconcile in progress",
    (queue) => Math.max(0, ...queue.workSeconds()),
  );
  const adds = new Counter({
    name: "workqueue_adds_total",
    help: "Keys that were added, without those that waited already",
    labelNames,
    registers,
  });
  const retries = new Counter({
    name: "workqueue_retries_total",
    help: "Keys that were requeued after a failure",
    labelNames,
    registers,
  });
  const waited = new Histogram({
    name: "workqueue_queue_duration_seconds",
    help: "Waiting time of keys in the workqueue",
    labelNames,
    buckets,
    registers,
  });
  const worked = new Histogram({
    name: "workqueue_work_duration_seconds",
    help: "Duration of the work on a key",
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
