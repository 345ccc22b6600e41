// The metrics of jobs: how they ended, and where the row and the custom resource disagreed. Labels from closed sets.
// Made once by controllers/operator.ts.
import { Counter, Gauge, type Registry } from "prom-client";

export type JobMetrics = {
  finished(kind: string, outcome: string, failureClass: string): void;
  drift(direction: "row" | "resource"): void;
  setOutboxLag(seconds: number): void;
  setPurgesFailing(count: number): void;
  progressReport(result: "accepted" | "stale" | "invalid" | "refused"): void;
};

export function makeJobMetrics(registry: Registry): JobMetrics {
  const registers = [registry];
  const finished = new Counter({
    name: "plosive_jobs_finished_total",
    help: "Jobs that ended",
    labelNames: ["kind", "outcome", "failure_class"],
    registers,
  });
  const drift = new Counter({
    name: "plosive_drift_total",
    help: "Repairs after the row and the custom resource disagreed, by the side that was behind",
    labelNames: ["direction"],
    registers,
  });
  const lag = new Gauge({
    name: "plosive_outbox_lag_seconds",
    help: "Age of the oldest job that has no custom resource yet",
    registers,
  });
  const purges = new Gauge({
    name: "plosive_purges_failing",
    help: "Leftovers of deleted rows whose deletion was tried in vain and is tried again",
    registers,
  });
  const reports = new Counter({
    name: "plosive_progress_reports_total",
    help: "Progress reports of pods by what became of them",
    labelNames: ["result"],
    registers,
  });
  return {
    finished: (kind, outcome, failureClass) => finished.inc({ kind, outcome, failure_class: failureClass }),
    drift: (direction) => drift.inc({ direction }),
    setOutboxLag: (seconds) => lag.set(seconds),
    setPurgesFailing: (count) => purges.set(count),
    progressReport: (result) => reports.inc({ result }),
  };
}
