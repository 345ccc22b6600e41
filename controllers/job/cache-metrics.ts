// Gauges computed from the caches at each scrape, on every replica: jobs by phase, reasons and ages of waiting jobs,
// ended Kubernetes Jobs whose custom resource does not say so yet, and unfinished deletions. Registered by
// controllers/operator.ts.
import { Gauge, type Registry } from "prom-client";
import type { ConditionReason } from "../../src/schemas/condition.ts";
import { type JobKind, jobKindNames } from "../../src/schemas/job-kind.ts";
import { type JobPhase, phases } from "../../src/schemas/job-resource.ts";
import { conditionOf } from "../runtime/conditions.ts";
import type { Store } from "../runtime/store.ts";
import type { JobResource } from "./adapter.ts";
import type { CachedJob } from "./cached-job.ts";
import { hasEnded } from "./decide.ts";

export type CacheMetricsOptions = {
  resources: Record<JobKind, Store<JobResource>>;
  /** Index "resource": by the name of the custom resource. */
  jobs: Store<CachedJob>;
  now: () => number;
};

/** Pending: the job has no Kubernetes Job yet. Waiting: it has one, but no pod runs. */
const waitingPhases = ["Pending", "Waiting"] as const;

export function registerCacheMetrics(registry: Registry, options: CacheMetricsOptions): void {
  const registers = [registry];
  // prom-client collects this gauge first. Its collect() sets the other gauges too, so that a scrape walks over the
  // jobs once.
  const jobs = new Gauge({
    name: "plosive_jobs",
    help: "Jobs by phase, as custom resources; every replica counts them all",
    labelNames: ["kind", "phase"],
    registers,
    collect: () => count(),
  });
  const stopped = new Gauge({
    name: "plosive_jobs_not_progressing",
    help: "Open jobs that make no progress, by the reason of their condition Progressing",
    labelNames: ["kind", "reason"],
    registers,
  });
  const waits = new Gauge({
    name: "plosive_jobs_oldest_wait_seconds",
    help: "Wait of the job that has waited longest for its pods, or for its queue; not of suspended and refused ones",
    labelNames: ["kind", "phase"],
    registers,
  });
  const unwritten = new Gauge({
    name: "plosive_status_overdue_seconds",
    help: "Age of the oldest end of a Kubernetes Job that its custom resource does not show yet",
    labelNames: ["kind"],
    registers,
  });
  const deletions = new Gauge({
    name: "plosive_deletion_overdue_seconds",
    help: "Age of the oldest deletion request whose custom resource still exists",
    labelNames: ["kind"],
    registers,
  });

  const count = () => {
    const now = options.now();
    stopped.reset();
    const since = (time: string | undefined) =>
      time === undefined ? 0 : Math.max(0, (now - Date.parse(time)) / 1000);
    for (const kind of jobKindNames) {
      const byPhase = new Map<JobPhase, number>(phases.map((phase) => [phase, 0]));
      const byReason = new Map<ConditionReason, number>();
      const longest = new Map<JobPhase, number>(waitingPhases.map((phase) => [phase, 0]));
      let end = 0;
      let deletion = 0;
      for (const cr of options.resources[kind].values()) {
        const phase = cr.status?.phase ?? "Pending";
        byPhase.set(phase, (byPhase.get(phase) ?? 0) + 1);
        deletion = Math.max(deletion, since(cr.metadata.deletionTimestamp));
        if (hasEnded(cr)) continue;
        const progressing = conditionOf(cr.status?.conditions, "Progressing");
        if (progressing?.status === "False")
          byReason.set(progressing.reason, (byReason.get(progressing.reason) ?? 0) + 1);
        const known = longest.get(phase);
        if (known !== undefined) longest.set(phase, Math.max(known, since(waitsSince(cr))));
        for (const job of options.jobs.by("resource", cr.metadata.name)) {
          // Only the current run counts. An older run may have ended long ago.
          if (job.metadata.name === (cr.status?.runId ?? job.metadata.name))
            end = Math.max(end, since(endOf(job)));
        }
      }
      for (const [phase, value] of byPhase) jobs.set({ kind, phase }, value);
      for (const [reason, value] of byReason) stopped.set({ kind, reason }, value);
      for (const [phase, value] of longest) waits.set({ kind, phase }, value);
      unwritten.set({ kind }, end);
      deletions.set({ kind }, deletion);
    }
  };
}

/** Since when a job waits that could run; undefined when it is refused. A suspended one has a phase of its own. */
function waitsSince({ metadata, status }: JobResource): string | undefined {
  if (status?.phase === undefined) return metadata.creationTimestamp;
  const isRefused = conditionOf(status.conditions, "Accepted")?.status === "False";
  return isRefused ? undefined : (status.pendingSince ?? status.heldSince);
}

/** When the Job ended, with a resolution of one second; undefined while it is open. */
export function endOf(job: CachedJob): string | undefined {
  return job.status?.conditions?.find(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  )?.lastTransitionTime;
}
