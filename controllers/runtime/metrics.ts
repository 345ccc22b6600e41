// The metrics of the runtime under the names that stock dashboards know (controller-runtime's and client-go's).
// Made once by controllers/main.ts and served on the metrics port.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Queue } from "./queue.ts";

export type RuntimeMetrics = {
  reconciled(controller: string, result: string): void;
  reconcileSeconds(controller: string, seconds: number): void;
  watchQueue(name: string, queue: Queue): void;
  request(method: string, status: number): void;
  setLeader(name: string, leads: boolean): void;
  watchReflector(resource: string, reflector: { relists(): number; lastEventAt(): number }): void;
};

export function makeRuntimeMetrics(registry: Registry): RuntimeMetrics {
  const registers = [registry];
  const total = new Counter({
    name: "controller_runtime_reconcile_total",
    help: "Reconciles by controller and result",
    labelNames: ["controller", "result"],
    registers,
  });
  const seconds = new Histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Duration of a reconcile",
    labelNames: ["controller"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const queues = new Map<string, Queue>();
  new Gauge({
    name: "workqueue_depth",
    help: "Keys that wait",
    labelNames: ["name"],
    registers,
    collect() {
      for (const [name, queue] of queues) this.set({ name }, queue.depth);
    },
  });
  const requests = new Counter({
    name: "rest_client_requests_total",
    help: "Requests to the API server; code 0: no answer",
    labelNames: ["code", "method"],
    registers,
  });
  const leader = new Gauge({
    name: "leader_election_master_status",
    help: "1 on the replica that leads",
    labelNames: ["name"],
    registers,
  });
  const reflectors = new Map<string, { relists(): number; lastEventAt(): number }>();
  new Gauge({
    name: "plosive_informer_last_event_timestamp_seconds",
    help: "When the API server last sent anything for the resource",
    labelNames: ["resource"],
    registers,
    collect() {
      for (const [resource, reflector] of reflectors) this.set({ resource }, reflector.lastEventAt() / 1000);
    },
  });
  new Gauge({
    name: "plosive_informer_relists_total",
    help: "Complete lists of the resource",
    labelNames: ["resource"],
    registers,
    collect() {
      for (const [resource, reflector] of reflectors) this.set({ resource }, reflector.relists());
    },
  });
  return {
    reconciled: (controller, result) => total.inc({ controller, result }),
    reconcileSeconds: (controller, value) => seconds.observe({ controller }, value),
    watchQueue: (name, queue) => void queues.set(name, queue),
    request: (method, status) => requests.inc({ method, code: String(status) }),
    setLeader: (name, leads) => leader.set({ name }, leads ? 1 : 0),
    watchReflector: (resource, reflector) => void reflectors.set(resource, reflector),
  };
}
