// What no event tells the leader, it looks for every few seconds: rows without custom resource, cancels to pass on,
// uploads to gather into embedding jobs, runs that reported, either side without the other, and what is to be purged.
// Started by operator.ts.
import { purgeAudit } from "../src/db/audit.ts";
import { gatherEmbeddingJobs } from "../src/db/embedding-job.ts";
import { isDatabaseUnavailable } from "../src/db/errors.ts";
import { newId } from "../src/db/id.ts";
import { purgeRequestKeys } from "../src/db/idempotency.ts";
import { endJob, manyArchivedModels } from "../src/db/ingest.ts";
import type { Database } from "../src/db/job.ts";
import { countFailingLeftovers, expireUploads } from "../src/db/leftover.ts";
import {
  cancelUnstarted,
  type JobRef,
  MalformedJobError,
  manyCancels,
  manyOpenSubmitted,
  manyUnsubmitted,
  markCancelSubmitted,
  oneOutboxLag,
} from "../src/db/outbox.ts";
import { dropOldProgress, manyReportingRuns } from "../src/db/run.ts";
import type { Kube } from "../src/kube/client.ts";
import { isInvalid, isNotFound, isUnreachable } from "../src/kube/errors.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, parseRunName, resourceName } from "../src/schemas/job-kind.ts";
import type { Storage } from "../src/storage/storage.ts";
import { resourceTypes, type Submit } from "../src/submit.ts";
import type { Caches } from "./caches.ts";
import type { JobMetrics, SweepName } from "./job/metrics.ts";
import { clearLeftovers } from "./leftovers.ts";
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

export function startSweep(options: SweepOptions): { stop(): Promise<void> } {
  const { db, kube, namespace, submit, caches, metrics, log } = options;
  const { progressMs = 2_000, everyMs = 1_000, driftMs = 60_000, purgeMs = 5_000 } = options;
  const stopped = new AbortController();
  const { signal } = stopped;

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

  const outbox = async () => {
    metrics.setOutboxLag(await oneOutboxLag(db));
    await cancelUnstarted(db);
    // The API submits its own rows at once; a second is its head start.
    await each(await manyUnsubmitted(db, { olderThanMs: 1_000, limit: 200 }), submitOrFail);
    await each(await manyCancels(db, 200), async ({ kind, id }) => {
      if (kind === "embedding") return;
      const name = resourceName(kind, id);
      try {
        await kube.patch(
          resourceTypes[kind],
          { namespace, name },
          { spec: { cancel: { reason: "Cancelled by the client" } } },
        );
        log.info({ kind, name }, "passed a cancel on");
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // No custom resource any more: the reconcile ends the row.
        options.enqueue(kind, name);
      }
      await markCancelSubmitted(db, kind, id);
    });
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
    for (const id of made) {
      log.info({ id }, "gathered uploads into an embedding job");
      // Not waited for in vain: the outbox sweep submits what stays behind.
      await submit({ kind: "embedding", id }).catch(() => undefined);
    }
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
      options.enqueue(named.kind, resourceName(named.kind, named.id));
    }
  };

  const drift = async () => {
    await dropOldProgress(db);
    for (const { kind, id } of await manyOpenSubmitted(db)) {
      const name = resourceName(kind, id);
      if (caches.resources[kind].get(name) === undefined) options.enqueue(kind, name);
    }
    const archived = new Set(await manyArchivedModels(db));
    for (const model of caches.models.values()) {
      const isArchived = archived.has(model.metadata.name.slice(2));
      if (isArchived !== (model.status?.phase === "Archived")) options.enqueueModel(model.metadata.name);
    }
  };

  const purge = async () => {
    await expireUploads(db, purgeBatch);
    await purgeRequestKeys(db);
    await purgeAudit(db);
    const { storage, graceSeconds } = options;
    const round = () => clearLeftovers({ db, kube, storage, namespace, graceSeconds, log });
    while (!signal.aborted && (await round()).more);
    metrics.setPurgesFailing(await countFailingLeftovers(db));
  };

  const loops = [
    repeat("outbox", everyMs, outbox),
    repeat("gather", everyMs, gather),
    repeat("progress", progressMs, progress),
    repeat("drift", driftMs, drift),
    repeat("purge", purgeMs, purge),
  ];
  return {
    async stop() {
      stopped.abort();
      await Promise.all(loops);
    },
  };

  /** One after the other. One that fails does not hold up the others, unless nobody answers at all. */
  async function each(refs: readonly JobRef[], act: (ref: JobRef) => Promise<void>): Promise<void> {
    for (const ref of refs) {
      if (signal.aborted) return;
      try {
        await act(ref);
      } catch (error) {
        if (isUnreachable(error) || isDatabaseUnavailable(error)) throw error;
        log.error({ ...ref, err: String(error) }, "a job could not be passed on; trying again");
      }
    }
  }

  async function submitOrFail(job: JobRef): Promise<void> {
    try {
      await submit(job);
    } catch (error) {
      if (!isInvalid(error) && !(error instanceof MalformedJobError)) throw error;
      // The API server will never take it: whoever waits for the job must hear of it.
      log.error({ ...job, err: String(error) }, "Kubernetes refuses a job for good");
      const errorMessage =
        `Kubernetes refused the job: ${error instanceof Error ? error.message : error}`.slice(0, 1000);
      await endJob(db, job.kind, job.id, { status: "failed", statusMessage: null, errorMessage });
      return;
    }
    // It may have been there before its row, and refused.
    options.enqueue(job.kind, resourceName(job.kind, job.id));
  }
}
