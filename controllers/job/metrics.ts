// The metrics of jobs: how long they wait and run, how they ended, and where the record and the custom resource
// disagreed. Labels from closed sets, never a job's name or id. Made once by controllers/operator.ts; counted where it
// happens, which for all but the pods' reports is on the leader. What the caches know is in census.ts.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type JobKind, jobKindNames } from "../../src/schemas/job-kind.ts";
import { type FailureClass, failureClasses, type JobStatus } from "../../src/schemas/job-resource.ts";
import type { JobResource } from "./adapter.ts";

export type JobMetrics = ReturnType<typeof makeJobMetrics>;

const outcomes = ["succeeded", "failed", "cancelled"] as const;
/** `ended`: the run is over; `refused`: the caller has no right to report. */
const reportResults = ["accepted", "stale", "invalid", "ended", "refused"] as const;
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
    help: "Jobs that ended, by outcome, and failed ones by who can do something about it",
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
      help: "Time from the start of the first pod to the end of the job, without suspensions",
      labelNames: kindLabel,
      buckets: runs,
      registers,
    }),
  };
  const audio = new Counter({
    name: "plosive_audio_seconds_processed_total",
    help: "Seconds of audio that jobs worked through",
    labelNames: kindLabel,
    registers,
  });
  const gpu = new Counter({
    name: "plosive_gpu_seconds_total",
    help: "Requested GPUs by the time that pods had them",
    labelNames: kindLabel,
    registers,
  });
  const lag = new Histogram({
    name: "plosive_status_lag_seconds",
    help: "Time from the end of a Kubernetes Job, in whole seconds, until a sink says so: the record (row), the custom resource",
    labelNames: ["sink"],
    buckets: [0.5, 1, 1.5, 2, 3, 5, 10, 30, 60, 300],
    registers,
  });
  const retries = new Counter({
    name: "plosive_shard_retries_total",
    help: "Pods that failed, by the class of their failure; each costs its shard one more try, or the last",
    labelNames: ["class"],
    registers,
  });
  const stalled = new Counter({
    name: "plosive_shards_stalled_total",
    help: "Running pods that said nothing for longer than the job allows, and were ended",
    labelNames: kindLabel,
    registers,
  });
  const drift = new Counter({
    name: "plosive_drift_total",
    help: "Repairs after the row and the custom resource disagreed, by the side that was behind",
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
    help: "When the leader last went through: rows without custom resource (outbox), cancels to pass on (cancel), uploads (gather), reports (progress), differences (drift), what is to be deleted (purge); 0 on a standby",
    labelNames: ["sweep"],
    registers,
  });
  const purges = new Gauge({
    name: "plosive_purges_failing",
    help: "Leftovers of deleted rows whose deletion was tried in vain and is tried again; 0 on a standby",
    registers,
  });
  const reports = new Counter({
    name: "plosive_progress_reports_total",
    help: "Requests of pods to the run endpoint: reports accepted, stale or invalid; refused because the run has ended or because the caller has no right",
    labelNames: ["result"],
    registers,
  });

  // A rate over a series that begins with 1 misses the 1.
  for (const kind of jobKindNames) {
    for (const outcome of outcomes) {
      const classes = outcome === "failed" ? failureClasses : [""];
      for (const failure_class of classes) finished.inc({ kind, outcome, failure_class }, 0);
    }
    for (const histogram of Object.values(durations)) histogram.zero({ kind });
    for (const counter of [audio, gpu, stalled]) counter.inc({ kind }, 0);
  }
  for (const sink of sinks) lag.zero({ sink });
  for (const one of failureClasses) retries.inc({ class: one }, 0);
  for (const sweep of sweepNames) sweeps.set({ sweep }, 0);
  for (const direction of directions) drift.inc({ direction }, 0);
  for (const result of reportResults) reports.inc({ result }, 0);

  return {
    /** A custom resource got a new status: what has come with it is counted. */
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
    /** Says how long ago the Job ended whose end has just reached the sink. */
    statusLag: (sink: (typeof sinks)[number], seconds: number) => lag.observe({ sink }, Math.max(0, seconds)),
    shardRetried: (failureClass: FailureClass) => retries.inc({ class: failureClass }),
    shardStalled: (kind: JobKind) => stalled.inc({ kind }),
    drift: (direction: (typeof directions)[number]) => drift.inc({ direction }),
    setOutboxLag: (seconds: number) => outbox.set(seconds),
    sweepDone: (sweep: SweepName, at: number) => sweeps.set({ sweep }, at / 1000),
    setPurgesFailing: (count: number) => purges.set(count),
    progressReport: (result: (typeof reportResults)[number]) => reports.inc({ result }),
  };
}

const grown = (before = 0, after = 0) => Math.max(0, after - before);

/** Nothing where one of the two times is not known. Clocks of two machines may make it less than nothing. */
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
