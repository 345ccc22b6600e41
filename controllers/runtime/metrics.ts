// The metrics of the runtime, with the names of controller-runtime and client-go, which stock dashboards expect.
// Created once by controllers/operator.ts and served by every replica; metrics of the leader's work are 0 on standbys.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { makeWorkqueueMetrics } from "./workqueue-metrics.ts";

export type ReconcileResult = "success" | "requeue_after" | "requeue" | "error" | "terminal_error";

/** State of a reflector, and the number of objects in its store. */
export type WatchedReflector = { relists(): number; lastEventAt(): number; objects(): number };

export type RuntimeMetrics = ReturnType<typeof makeRuntimeMetrics>;

const results = ["success", "requeue_after", "requeue", "error"];

/** `controllers` are the names of all controllers that run on a leader. */
export function makeRuntimeMetrics(registry: Registry, controllers: readonly string[]) {
  const registers = [registry];
  const labelNames = ["controller"];
  const total = new Counter({
    name: "controller_runtime_reconcile_total",
    help: "Reconciles by result; error: an unexpected failure, requeue: a conflict that is retried",
    labelNames: ["controller", "result"],
    registers,
  });
  const errors = new Counter({
    name: "controller_runtime_reconcile_errors_total",
    help: "Reconciles that failed",
    labelNames,
    registers,
  });
  const terminal = new Counter({
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Reconciles that failed and are not retried until the object changes",
    labelNames,
    registers,
  });
  const seconds = new Histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Duration of a reconcile",
    labelNames,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const most = new Gauge({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Most reconciles that run at the same time",
    labelNames,
    registers,
  });
  const active = new Gauge({
    name: "controller_runtime_active_workers",
    help: "Running reconciles",
    labelNames,
    registers,
  });
  for (const controller of controllers) {
    for (const result of results) total.inc({ controller, result }, 0);
    for (const metric of [errors, terminal, most, active]) metric.inc({ controller }, 0);
    seconds.zero({ controller });
  }
  return {
    watchQueue: makeWorkqueueMetrics(registry, controllers),
    ...makeLeaseMetrics(registry),
    ...makeClientMetrics(registry),
    setConcurrency: (controller: string, value: number) => most.set({ controller }, value),
    reconcileStarted: (controller: string) => active.inc({ controller }),
    reconcileEnded(controller: string, result: ReconcileResult, value: number) {
      active.dec({ controller });
      seconds.observe({ controller }, value);
      // As in controller-runtime, a terminal error counts both as an error and as a terminal error.
      const failed = result === "error" || result === "terminal_error";
      total.inc({ controller, result: failed ? "error" : result });
      if (failed) errors.inc({ controller });
      if (result === "terminal_error") terminal.inc({ controller });
    },
  };
}

/** The metrics of a process that sends requests to the API server and watches resources. */
export const makeClientMetrics = (registry: Registry) => ({
  ...makeRequestMetrics(registry),
  ...makeCacheMetrics(registry),
});

function makeRequestMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: "rest_client_requests_total",
    help: "Requests to the API server; code <error> means no answer",
    labelNames: ["code", "method"],
    registers,
  });
  const seconds = new Histogram({
    name: "rest_client_request_duration_seconds",
    help: "Time until the response headers of the API server",
    labelNames: ["verb"],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    registers,
  });
  return {
    request(method: string, status: number, took: number) {
      requests.inc({ method, code: status === 0 ? "<error>" : String(status) });
      seconds.observe({ verb: method }, took);
    },
  };
}

function makeLeaseMetrics(registry: Registry) {
  const leader = new Gauge({
    name: "leader_election_master_status",
    help: "1 on the replica that holds the lease",
    labelNames: ["name"],
    registers: [registry],
    collect() {
      for (const [name, leads] of leases) this.set({ name }, leads() ? 1 : 0);
    },
  });
  const leases = new Map<string, () => boolean>();
  return {
    /** `leads` is called at each scrape. */
    watchLease(name: string, leads: () => boolean) {
      leases.set(name, leads);
      leader.set({ name }, 0);
    },
  };
}

function makeCacheMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ["resource"];
  const reflectors = new Map<string, WatchedReflector>();
  new Gauge({
    name: "plosive_informer_last_event_timestamp_seconds",
    help: "When the API server last sent anything for the resource, bookmarks included",
    labelNames,
    registers,
    collect() {
      for (const [resource, reflector] of reflectors) this.set({ resource }, reflector.lastEventAt() / 1000);
    },
  });
  new Counter({
    name: "plosive_informer_relists_total",
    help: "Complete lists of the resource: one at the start, and one whenever the resource version of a watch has expired",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [resource, reflector] of reflectors) this.inc({ resource }, reflector.relists());
    },
  });
  new Gauge({
    name: "plosive_informer_objects",
    help: "Objects of the resource in the cache",
    labelNames,
    registers,
    collect() {
      for (const [resource, reflector] of reflectors) this.set({ resource }, reflector.objects());
    },
  });
  return {
    watchReflector: (resource: string, reflector: WatchedReflector) =>
      void reflectors.set(resource, reflector),
  };
}
