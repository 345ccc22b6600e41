// What no event tells the leader, it looks for every few seconds: rows without custom resource and cancels to pass on
// (outbox.ts), uploads to gather into embedding jobs, runs that reported, either side without the other (drift.ts), and
// what is to be purged (leftovers.ts). Started by operator.ts.
import { purgeAudit } from "../src/db/audit.ts";
import { gatherEmbeddingJobs } from "../src/db/embedding-job.ts";
import { newId } from "../src/db/id.ts";
import { purgeRequestKeys } from "../src/db/idempotency.ts";
import type { Database } from "../src/db/job.ts";
import { countFailingPurges, expireUploads } from "../src/db/purge-queue.ts";
import { dropOldProgress, manyReportingRuns } from "../src/db/run.ts";
import type { Kube } from "../src/kube/client.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, parseRunName } from "../src/schemas/job-kind.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { Submit } from "../src/submit.ts";
import type { Caches } from "./caches.ts";
import { repairDrift } from "./drift.ts";
import type { JobMetrics, SweepName } from "./job/metrics.ts";
import { clearLeftovers } from "./leftovers.ts";
import { makeOutbox } from "./outbox.ts";
import { inParallel } from "./runtime/parallel.ts";
import { pause } from "./runtime/pause.ts";

export type SweepOptions = {
  db: Database;
  kube: Kube;
  storage: Storage;
  namespace: string;
  submit: Submit;
  caches: Caches;
  metrics: JobMetrics;
  log: Log;
  enqueue: (kind: JobKind, name: string) => void;
  /** The same for a job that may count as settled. */
  doubt: (kind: JobKind, name: string) => void;
  enqueueModel: (name: string) => void;
  gatherSeconds: number;
  filesPerShard: number;
  /** How long the objects of deleted rows are kept. */
  graceSeconds: number;
  /** How often runs that reported are looked at: the custom resource's status is written at most so often per run. */
  progressMs?: number;
  everyMs?: number;
  driftMs?: number;
  purgeMs?: number;
};

/** Files of one embedding job: this many shards full. */
const maxShards = 10;
const longestWaitSeconds = 10;
const maxPauseMs = 10_000;
const purgeBatch = 1_000;
const submitsAtOnce = 8;
const cancelMs = 500;

/** `stop` waits for what is under way, at most `drainMs`. */
export function startSweep(options: SweepOptions): { stop(drainMs?: number): Promise<void> } {
  const { db, kube, namespace, submit, caches, metrics, log } = options;
  const { progressMs = 2_000, everyMs = 1_000, driftMs = 60_000, purgeMs = 5_000 } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const outbox = makeOutbox({
    db,
    kube,
    namespace,
    submit,
    metrics,
    log,
    enqueue: options.enqueue,
    signal,
  });

  /** Runs a step for ever; while it fails, less and less often. */
  const repeat = async (name: SweepName, ms: number, step: () => Promise<void>) => {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await step();
        failures = 0;
        metrics.sweepDone(name, Date.now());
      } catch (error) {
        failures++;
        log.warn({ sweep: name, failures, err: String(error) }, "a sweep failed; trying again");
      }
      await pause(Math.max(ms, Math.min(maxPauseMs, failures === 0 ? 0 : ms * 2 ** failures)), signal);
    }
  };

  const gather = async () => {
    const made = await gatherEmbeddingJobs(
      db,
      {
        quietSeconds: options.gatherSeconds,
        longestWaitSeconds,
        filesPerShard: options.filesPerShard,
        maxShards,
      },
      newId,
    );
    await inParallel(made, submitsAtOnce, async (id) => {
      log.info({ id }, "gathered uploads into an embedding job");
      // Not waited for in vain: the outbox sweep submits what stays behind.
      await submit({ kind: "embedding", id }).catch(() => undefined);
    });
  };

  const marks = new Map<string, string>();
  const progress = async () => {
    const reporting = await manyReportingRuns(db, Math.ceil(progressMs / 1000) + 10);
    const present = new Set(reporting.map(({ run_id }) => run_id));
    for (const run of marks.keys()) if (!present.has(run)) marks.delete(run);
    for (const { run_id, mark } of reporting) {
      const named = parseRunName(run_id);
      if (named === undefined || marks.get(run_id) === mark) continue;
      marks.set(run_id, mark);
      const resource = caches.resourceOf(named.kind, named.id);
      if (resource !== undefined) options.enqueue(named.kind, resource.metadata.name);
    }
  };

  const drift = async () => {
    await dropOldProgress(db);
    await repairDrift({
      db,
      kube,
      namespace,
      caches,
      metrics,
      log,
      doubt: options.doubt,
      enqueueModel: options.enqueueModel,
    });
  };

  const purge = async () => {
    await expireUploads(db, purgeBatch);
    await purgeRequestKeys(db);
    await purgeAudit(db);
    const { storage, graceSeconds } = options;
    const round = () => clearLeftovers({ db, kube, storage, namespace, graceSeconds, log });
    while (!signal.aborted && (await round()).more);
    metrics.setPurgesFailing(await countFailingPurges(db));
  };

  const loops = [
    repeat("outbox", everyMs, outbox.submitRows),
    repeat("cancel", cancelMs, outbox.passCancels),
    repeat("gather", everyMs, gather),
    repeat("progress", progressMs, progress),
    repeat("drift", driftMs, drift),
    repeat("purge", purgeMs, purge),
  ];
  return {
    async stop(drainMs = 30_000) {
      stopped.abort();
      const tired = new AbortController();
      await Promise.race([Promise.all(loops), pause(drainMs, tired.signal)]);
      tired.abort();
    },
  };
}
