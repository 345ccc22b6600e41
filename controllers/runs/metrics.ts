// The metrics of the run endpoint. Created once by endpoint.ts.
import { Counter, type Registry } from "prom-client";

/** `ended`: the run has ended. `refused`: the caller is not authorized. */
const results = ["accepted", "stale", "invalid", "ended", "refused"] as const;

export type RunMetrics = ReturnType<typeof makeRunMetrics>;

export function makeRunMetrics(registry: Registry) {
  const reports = new Counter({
    name: "plosive_progress_reports_total",
    help: "Requests of pods to the run endpoint: reports accepted, stale or invalid; requests refused because the run has ended (ended) or the caller is not authorized (refused)",
    labelNames: ["result"],
    registers: [registry],
  });
  // Each series starts at 0, because rate() over a series that starts at 1 misses that first event.
  for (const result of results) reports.inc({ result }, 0);
  return { progressReport: (result: (typeof results)[number]) => reports.inc({ result }) };
}
