// Submits jobs that have a row but no custom resource yet, and forwards cancel requests to Kubernetes. The API submits
// a new job right after its commit, so rows younger than one second are skipped. Called by sweep.ts on the leader.
import { isDatabaseUnavailable } from "../src/db/driver/errors.ts";
import type { DatabasePool } from "../src/db/driver/pool.ts";
import { endJob } from "../src/db/operator/ingest.ts";
import {
  type JobRef,
  MalformedJobError,
  manyCancels,
  manyUnsubmitted,
  markCancelSubmitted,
  oneOutboxLag,
  recordDeniedCancel,
  type SubmittedJob,
} from "../src/db/operator/outbox.ts";
import type { Kube } from "../src/kube/client.ts";
import { isConflict, isDenied, isInvalid, isNotFound, isUnreachable } from "../src/kube/errors.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, resourceName } from "../src/schemas/job-kind.ts";
import { resourceTypes, type Submit } from "../src/submit.ts";
import type { JobResource } from "./job/adapter.ts";
import { resourceGone } from "./job/drift.ts";
import type { JobMetrics } from "./job/metrics.ts";
import { inParallel } from "./runtime/parallel.ts";

export type OutboxOptions = {
  db: DatabasePool;
  kube: Kube;
  installation: string;
  namespace: string;
  submit: Submit;
  metrics: JobMetrics;
  log: Log;
  enqueue: (kind: JobKind, name: string) => void;
  signal: AbortSignal;
};

/** Rows of each kind per query. */
const batch = 500;
/** Smaller than the database pool, because the reconcilers need connections too. */
const atOnce = 8;
const headStartMs = 1_000;
/** The first and the longest wait before a failed job is tried again. */
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

export function makeOutbox(options: OutboxOptions) {
  const { db, kube, installation, namespace, submit, metrics, log, enqueue, signal } = options;
  const backoff = makeBackoff();
  return { submitRows, forwardCancels };

  /** Submits waiting rows until none is left that this call has not tried and that has not failed just before. */
  async function submitRows(): Promise<void> {
    metrics.setOutboxLag(await oneOutboxLag(db, installation));
    for (let submitted = 1, isFull = true; isFull && submitted > 0 && !signal.aborted; ) {
      const due = await manyUnsubmitted(db, {
        installation,
        olderThanMs: headStartMs,
        except: backoff.waiting(),
        limit: batch,
      });
      isFull = due.length >= batch;
      submitted = await each(due, submitOrFail);
    }
  }

  /** Forwards cancel requests. A separate sweep calls it, so that a cancel does not wait behind a thousand rows. */
  async function forwardCancels(): Promise<void> {
    await each(await manyCancels(db, installation, backoff.waiting(), batch), forwardCancel);
  }

  /**
   * Returns how many jobs succeeded. A failing job does not stop the others, unless the API server or Postgres is
   * unreachable.
   */
  async function each<T extends JobRef>(jobs: readonly T[], act: (job: T) => Promise<void>): Promise<number> {
    let done = 0;
    await inParallel(jobs, atOnce, async (job) => {
      if (signal.aborted) return;
      try {
        await act(job);
        backoff.succeeded(job.id);
        done++;
      } catch (error) {
        if (isUnreachable(error) || isDatabaseUnavailable(error)) throw error;
        const { kind, id } = job;
        const retryMs = backoff.failed(id);
        log.error({ kind, id, retryMs, err: String(error) }, "could not submit or cancel a job; retrying");
      }
    });
    return done;
  }

  async function submitOrFail(job: JobRef): Promise<void> {
    try {
      await submit(job);
    } catch (error) {
      if (!isInvalid(error) && !(error instanceof MalformedJobError)) throw error;
      // The API server will never accept the job, so the row fails and its client sees why.
      log.error({ ...job, err: String(error) }, "Kubernetes refused a job permanently; the job fails");
      const errorMessage =
        `Kubernetes refused the job: ${error instanceof Error ? error.message : error}`.slice(0, 1000);
      await endJob(db, job.kind, job.id, { status: "failed", statusMessage: null, errorMessage });
      return;
    }
    // The resource may have existed before its row, in which case it was refused. Its reconcile must run again.
    enqueue(job.kind, resourceName(job.kind, job.id));
  }

  async function forwardCancel(job: SubmittedJob & { kind: "training" | "inference" }): Promise<void> {
    const { kind, id, resource } = job;
    const name = resource ?? resourceName(kind, id);
    // A person may reuse the name of an adopted job for another one, which must not be cancelled: the uid prevents it.
    const metadata = resource === null ? {} : { metadata: { uid: id } };
    const spec = { cancel: { reason: "Cancelled by the client" } };
    try {
      await kube.patch(resourceTypes[kind], { namespace, name }, { ...metadata, spec });
      log.info({ kind, name }, "forwarded a cancel request");
    } catch (error) {
      if (isNotFound(error)) {
        // The custom resource is deleted. Its reconcile ends the row.
        enqueue(kind, name);
      } else if (isConflict(error) && resource !== null) {
        await endJob(db, kind, id, { status: "cancelled", statusMessage: resourceGone, errorMessage: null });
      } else if (!isInvalid(error) || !(await isCancelled(kind, name))) {
        if (isDenied(error)) await recordDeniedCancel(db, kind, id, (error as Error).message);
        throw error;
      }
    }
    await markCancelSubmitted(db, kind, id);
  }

  /** Whether the resource is cancelled already, with another reason: spec.cancel is immutable. */
  async function isCancelled(kind: JobKind, name: string): Promise<boolean> {
    const present = (await kube.get(resourceTypes[kind], { namespace, name })) as JobResource;
    return present.spec.cancel !== undefined;
  }
}

/** When each failed job is tried again: later after each failure, so that denied jobs take no time from the others. */
function makeBackoff() {
  const failed = new Map<string, { at: number; waitMs: number }>();
  return {
    /** Ids of the jobs whose next try is not due. */
    waiting(): string[] {
      const now = performance.now();
      // The rows of these have gone.
      for (const [id, { at }] of failed) if (at + 10 * longestRetryMs < now) failed.delete(id);
      return [...failed].filter(([, { at }]) => at > now).map(([id]) => id);
    },
    succeeded: (id: string) => void failed.delete(id),
    failed(id: string): number {
      const waitMs = Math.min(longestRetryMs, 2 * (failed.get(id)?.waitMs ?? firstRetryMs / 2));
      failed.set(id, { at: performance.now() + waitMs, waitMs });
      return waitMs;
    },
  };
}
