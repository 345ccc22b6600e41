// The metrics of jobs: waiting and running times, outcomes, and repairs of drift. Labels come from closed sets, never
// from a job's name or id. Created once by controllers/operator.ts, and counted on the leader. Gauges over the caches are in
// cache-metrics.ts, the pods' reports in runs/metrics.ts.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type JobKind, jobKindNames } from "../../src/schemas/job-kind.ts";
import { type FailureClass, failureClasses, type JobStatus } from "../../src/schemas/job-resource.ts";
import type { JobResource } from "./adapter.ts";

export type JobMetrics = ReturnType<typeof makeJobMetrics>;

const outcomes = ["succeeded", "failed", "cancelled"] as const;
const sinks = ["row", "resource"] as const;
const sweepNames = ["outbox", "cancel", "gather", "progress", "drift", "purge"] as const;
export type SweepName = (typeof sweepNames)[number];
const directions = ["row", "resource"] as const;
const waits = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400];
const runs = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 43_200, 86_400];

export function makeJobMetrics(registry: Registry) {
  const registers = [registry];
  const kindLabel = ["kind"];
  const finished = new Counter({
    name: "plosive_jobs_finished_total",
    help: "Jobs that ended, by outcome; failed jobs also by failure class",
    labelNames: ["kind", "outcome", "failure_class"],
    registers,
  });
  const durations = {
    queue: new Histogram({
      name: "plosive_job_queue_seconds",
      help: "Time from the creation of the custom resource to the admission of the job",
      labelNames: kindLabel,
      buckets: waits,
      registers,
    }),
    start: new Histogram({
      name: "plosive_job_start_seconds",
      help: "Time from the admission of the job to the start of its first pod",
      labelNames: kindLabel,
      buckets: waits,
      registers,
    }),
    run: new Histogram({
      name: "plosive_job_run_seconds",
      help: "Time from the start of the first pod to the end of the job, excluding suspensions",
      labelNames: kindLabel,
      buckets: runs,
      registers,
    }),
  };
  const creation = new Histogram({
    name: "plosive_job_create_seconds",
    help: "Time from the creation of the custom resource to that of its first Kubernetes Job, with a resolution of 1 s, for jobs that nothing held back",
    labelNames: kindLabel,
    buckets: [1, 2, 5, 10, 30, 60, 300],
    registers,
  });
  const audio = new Counter({
    name: "plosive_audio_seconds_processed_total",
    help: "Seconds of audio that jobs processed",
    labelNames: kindLabel,
    registers,
  });
  const gpu = new Counter({
    name: "plosive_gpu_seconds_total",
    help: "Requested GPUs multiplied by the running time of their pods",
    labelNames: kindLabel,
    registers,
  });
  const lag = new Histogram({
    name: "plosive_status_lag_seconds",
    help: "Time from the end of a Kubernetes Job, which has a resolution of 1 s, until a sink shows it: the row or the custom resource",
    labelNames: ["sink"],
    buckets: [0.5, 1, 1.5, 2, 3, 5, 10, 30, 60, 300],
    registers,
  });
  const retries = new Counter({
    name: "plosive_shard_retries_total",
    help: "Failed pods by failure class; each failure uses up one try of its shard",
    labelNames: ["class"],
    registers,
  });
  const stalled = new Counter({
    name: "plosive_shards_stalled_total",
    help: "Running pods that sent no report for longer than progressDeadlineSeconds and were deleted",
    labelNames: kindLabel,
    registers,
  });
  const drift = new Counter({
    name: "plosive_drift_total",
    help: "Repairs of drift between row and custom resource, by the side that was behind",
    labelNames: ["direction"],
    registers,
  });
  const outbox = new Gauge({
    name: "plosive_outbox_lag_seconds",
    help: "Age of the oldest job that has no custom resource yet; 0 on a standby",
    registers,
  });
  const sweeps = new Gauge({
    name: "plosive_sweep_last_success_timestamp_seconds",
    help: "When the leader last completed a sweep: rows without custom resource (outbox), cancel requests (cancel), uploads to embed (gather), progress reports (progress), drift (drift), the purge queue (purge); 0 on a standby",
    labelNames: ["sweep"],
    registers,
  });
  const purges = new Gauge({
    name: "plosive_purges_failing",
    help: "Entries of the purge queue whose deletion failed and is retried; 0 on a standby",
    registers,
  });
  const stranded = new Gauge({
    name: "plosive_jobs_stranded",
    help: "Open jobs of installations on this database without an operator for ten minutes; 0 on a standby",
    registers,
  });

  // Each series starts at 0, because rate() over a series that starts at 1 misses that first event.
  for (const kind of jobKindNames) {
    for (const outcome of outcomes) {
      const classes = outcome === "failed" ? failureClasses : [""];
      for (const failure_class of classes) finished.inc({ kind, outcome, failure_class }, 0);
    }
    for (const histogram of [creation, ...Object.values(durations)]) histogram.zero({ kind });
    for (const counter of [audio, gpu, stalled]) counter.inc({ kind }, 0);
  }
  for (const sink of sinks) lag.zero({ sink });
  for (const one of failureClasses) retries.inc({ class: one }, 0);
  for (const sweep of sweepNames) sweeps.set({ sweep }, 0);
  for (const direction of directions) drift.inc({ direction }, 0);

  return {
    /** Records how long a custom resource that had no status waited for its first Job. Both times are the API server's. */
    jobCreated: (kind: JobKind, { metadata, status }: JobResource, at: string | undefined) =>
      status?.phase === undefined && observe(creation, kind, metadata.creationTimestamp, at),
    /** Counts what a new status of a custom resource adds to the previous one. */
    statusWritten(kind: JobKind, { metadata, status: before = {} }: JobResource, after: JobStatus) {
      if (before.admittedTime === undefined)
        observe(durations.queue, kind, metadata.creationTimestamp, after.admittedTime);
      if (before.startTime === undefined) observe(durations.start, kind, after.admittedTime, after.startTime);
      audio.inc({ kind }, grown(before.usage?.audioSeconds, after.usage?.audioSeconds));
      gpu.inc({ kind }, grown(before.usage?.gpuSeconds, after.usage?.gpuSeconds));
      const outcome = outcomes.find((one) => one === after.phase?.toLowerCase());
      if (outcome === undefined || before.phase === after.phase) return;
      const failureClass = outcome === "failed" ? (after.failure?.class ?? "System") : "";
      finished.inc({ kind, outcome, failure_class: failureClass });
      observe(durations.run, kind, after.startTime, after.completionTime, after.suspendedSeconds);
    },
    /** Records how many seconds after the end of a Job the sink shows that end. */
    statusLag: (sink: (typeof sinks)[number], seconds: number) => lag.observe({ sink }, Math.max(0, seconds)),
    shardRetried: (failureClass: FailureClass) => retries.inc({ class: failureClass }),
    shardStalled: (kind: JobKind) => stalled.inc({ kind }),
    drift: (direction: (typeof directions)[number]) => drift.inc({ direction }),
    setOutboxLag: (seconds: number) => outbox.set(seconds),
    sweepDone: (sweep: SweepName, at: number) => sweeps.set({ sweep }, at / 1000),
    setPurgesFailing: (count: number) => purges.set(count),
    setStranded: (count: number) => stranded.set(count),
  };
}

const grown = (before = 0, after = 0) => Math.max(0, after - before);

/**
 * Records nothing where a time is unknown. Clock differences between machines may make the duration negative; it counts
 * as 0.
 */
function observe(
  histogram: Histogram<string>,
  kind: JobKind,
  from: string | undefined,
  to: string | undefined,
  without = 0,
): void {
  if (from === undefined || to === undefined) return;
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000 - without;
  histogram.observe({ kind }, Math.max(0, seconds));
}
