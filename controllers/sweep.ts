// The leader's periodic passes over work that no watch event reports: rows without a custom resource and cancel
// requests (outbox.ts), uploads to gather into embedding jobs, runs that reported progress, drift (drift.ts), and the
// purge queue (purge-queue.ts). Started by operator.ts.
import { purgeAudit } from "../src/db/audit.ts";
import { purgeSessions } from "../src/db/dashboard-session.ts";
import { newId } from "../src/db/driver/id.ts";
import type { DatabasePool } from "../src/db/driver/pool.ts";
import { purgeRequestKeys } from "../src/db/idempotency.ts";
import { cancelUnstartedJobs } from "../src/db/inference-job-end.ts";
import { purgeLeases } from "../src/db/lease.ts";
import { gatherEmbeddingJobs } from "../src/db/operator/embedding-job.ts";
import { manyInstallations, secondsWithoutRuns } from "../src/db/operator/installation.ts";
import { countFailingPurges, expireUploads } from "../src/db/operator/purge-queue.ts";
import {
  advanceReportedJobs,
  dropOldProgress,
  manyReportingRuns,
  type ReportedRun,
} from "../src/db/operator/run.ts";
import type { Kube } from "../src/kube/client.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, jobKindNames, parseRunName } from "../src/schemas/job-kind.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { Submit } from "../src/submit.ts";
import type { Caches } from "./caches.ts";
import { repairDrift } from "./drift.ts";
import type { JobMetrics, SweepName } from "./job/metrics.ts";
import { statusesPerSecond } from "./job/status-throttle.ts";
import { makeOutbox } from "./outbox.ts";
import { purgeNextBatch } from "./purge-queue.ts";
import type { OutageSource } from "./runtime/outages.ts";
import { inParallel } from "./runtime/parallel.ts";
import { pause, pauseSince } from "./runtime/pause.ts";

export type SweepOptions = {
  db: DatabasePool;
  kube: Kube;
  storage: Storage;
  installation: string;
  namespace: string;
  submit: Submit;
  caches: Caches;
  metrics: JobMetrics;
  log: Log;
  enqueue: (kind: JobKind, name: string) => void;
  /** Like enqueue, but also compares the row of a job that counts as settled. */
  recheck: (kind: JobKind, name: string) => void;
  enqueueModel: (name: string) => void;
  gatherSeconds: number;
  filesPerShard: number;
  /** When no run endpoint worked. */
  runsOutages: OutageSource;
  /** How long the objects of deleted rows are kept, in seconds. */
  graceSeconds: number;
  /** How often runs that reported progress are reconciled. This limits the status writes per run. */
  progressMs?: number;
  everyMs?: number;
  driftMs?: number;
  purgeMs?: number;
};

/** Upper bound of the shards of one embedding job. */
const maxShards = 10;
const longestWaitSeconds = 10;
const maxPauseMs = 10_000;
const purgeBatch = 1_000;
const batchesPerStep = 20;
const submitsAtOnce = 8;
const cancelMs = 500;
/** Longer than an upgrade of an operator takes. */
const strandedSeconds = 600;

/** Replicas of the run endpoint record every five seconds that they work (runs/endpoint.ts). */
const runsSilenceSeconds = 20;

/** Starts all sweeps. `stop` waits for running ones, at most `drainMs`. */
export function startSweep(options: SweepOptions): { stop(drainMs?: number): Promise<void> } {
  const { db, kube, installation, namespace, submit, caches, metrics, log } = options;
  const { progressMs = 1_000, everyMs = 1_000, driftMs = 60_000, purgeMs = 5_000 } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const outbox = makeOutbox({
    db,
    kube,
    installation,
    namespace,
    submit,
    metrics,
    log,
    enqueue: options.enqueue,
    signal,
  });

  /** Repeats a step until stop, with exponential backoff while it fails. */
  const repeat = async (name: SweepName, ms: number, step: () => Promise<void>) => {
    let failures = 0;
    while (!signal.aborted) {
      const begun = performance.now();
      try {
        await step();
        failures = 0;
        metrics.sweepDone(name, Date.now());
      } catch (error) {
        failures++;
        log.warn({ sweep: name, failures, err: String(error) }, "a sweep failed; retrying");
      }
      if (failures === 0) await pauseSince(begun, ms, signal);
      else await pause(Math.max(ms, Math.min(maxPauseMs, ms * 2 ** failures)), signal);
    }
  };

  const gather = async () => {
    const made = await gatherEmbeddingJobs(
      db,
      {
        installation,
        quietSeconds: options.gatherSeconds,
        longestWaitSeconds,
        filesPerShard: options.filesPerShard,
        maxShards,
      },
      newId,
    );
    await inParallel(made, submitsAtOnce, async (id) => {
      log.info({ id }, "gathered uploads into an embedding job");
      // A failure here is harmless: the outbox sweep submits the row later.
      await submit({ kind: "embedding", id }).catch(() => undefined);
    });
  };

  /** The last progress mark that was written, by run. */
  const marks = new Map<string, string>();
  /** Runs whose progress is in their row and not yet in the status of their resource, in the order of their reports. */
  const behind = new Set<string>();
  /**
   * Writes progress into the rows, in one statement for each kind. Reconciles bring it into the statuses, as many as the status
   * throttle lets through: a reconcile of each of thousands of reporting jobs would take all of the leader's time.
   */
  const progress = async () => {
    const reporting = await manyReportingRuns(db, Math.ceil(progressMs / 1000) + 10);
    const present = new Set(reporting.map(({ run_id }) => run_id));
    for (const run of marks.keys()) if (!present.has(run)) marks.delete(run);
    const changed = reporting.filter(
      ({ run_id, mark }) => marks.get(run_id) !== mark && resourceOfRun(run_id) !== undefined,
    );
    for (const kind of jobKindNames) {
      const runs = changed.flatMap(({ run_id: run }): ReportedRun[] => {
        const named = parseRunName(run);
        // While no pod runs, the row has the reason, which a last report must not replace.
        const isRunning = named?.kind === kind && resourceOfRun(run)?.status?.phase === "Running";
        return isRunning ? [{ jobId: named.id, run }] : [];
      });
      await advanceReportedJobs(db, kind, runs);
    }
    for (const { run_id, mark } of changed) {
      marks.set(run_id, mark);
      behind.add(run_id);
    }
    await watchRuns();
    const most = Math.ceil((statusesPerSecond * progressMs) / 1_000);
    for (const run of [...behind].slice(0, most)) {
      behind.delete(run);
      const named = parseRunName(run);
      const resource = resourceOfRun(run);
      if (resource !== undefined) options.enqueue(named!.kind, resource.metadata.name);
    }
  };
  let runsAreAway = false;
  const watchRuns = async () => {
    const silent = await secondsWithoutRuns(db, installation);
    const wereAway = runsAreAway;
    runsAreAway = silent === null || silent > runsSilenceSeconds;
    if (runsAreAway) options.runsOutages.failed();
    else options.runsOutages.succeeded();
    if (runsAreAway && !wereAway)
      log.warn(
        { seconds: silent },
        "no replica of the run endpoint works; pods cannot fetch their work or report",
      );
  };
  /** Undefined for runs of other installations. */
  const resourceOfRun = (run: string) => {
    const named = parseRunName(run);
    return named && caches.resourceOf(named.kind, named.id);
  };

  const drift = async () => {
    await countStranded();
    await dropOldProgress(db);
    await repairDrift({
      db,
      kube,
      installation,
      namespace,
      caches,
      metrics,
      log,
      recheck: options.recheck,
      enqueueModel: options.enqueueModel,
    });
  };

  /** Nobody runs the open jobs of an installation without an operator, so the others report them. */
  const countStranded = async () => {
    const silent = (await manyInstallations(db)).filter(
      ({ silent_seconds, open_jobs }) => open_jobs > 0 && (silent_seconds ?? Infinity) > strandedSeconds,
    );
    metrics.setStranded(silent.reduce((sum, { open_jobs }) => sum + open_jobs, 0));
    for (const { name, open_jobs } of silent)
      log.warn(
        { installation: name, jobs: open_jobs },
        "no operator works for an installation that has open jobs; start its operator, or hand the jobs to another installation with plosive-admin installations move",
      );
  };

  /** The steps return how many rows they handled, and handle at most `purgeBatch` or all of them. */
  const expiries = [
    () => expireUploads(db, purgeBatch),
    () => purgeRequestKeys(db, purgeBatch),
    () => purgeAudit(db, purgeBatch),
    () => purgeSessions(db),
    () => purgeLeases(db),
    () => cancelUnstartedJobs(db, purgeBatch),
  ];
  const emptyPurgeQueue = async () => {
    const { storage, graceSeconds } = options;
    const next = () => purgeNextBatch({ db, kube, storage, installation, namespace, graceSeconds, log });
    for (let n = 0; n < batchesPerStep && !signal.aborted; n++) if (!(await next())) break;
    metrics.setPurgesFailing(await countFailingPurges(db, installation));
  };
  /** Neither a failure nor the backlog of one step holds up the others. */
  const purge = async () => {
    const failures: unknown[] = [];
    const noteFailure = (error: unknown) => failures.push(error);
    for (const expire of expiries) await inBatches(expire).catch(noteFailure);
    await emptyPurgeQueue().catch(noteFailure);
    if (failures.length > 0) throw new Error(failures.map(String).join("; "));
  };
  const inBatches = async (step: () => Promise<number>) => {
    for (let n = 0; n < batchesPerStep && !signal.aborted; n++) if ((await step()) < purgeBatch) return;
  };

  const loops = [
    repeat("outbox", everyMs, outbox.submitRows),
    repeat("cancel", cancelMs, outbox.forwardCancels),
    repeat("gather", everyMs, gather),
    repeat("progress", progressMs, progress),
    repeat("drift", driftMs, drift),
    repeat("purge", purgeMs, purge),
  ];
  return {
    async stop(drainMs = 30_000) {
      stopped.abort();
      const timer = new AbortController();
      await Promise.race([Promise.all(loops), pause(drainMs, timer.signal)]);
      timer.abort();
    },
  };
}
