// Passes on to Kubernetes what stands in the rows only: jobs that have no custom resource yet, and cancels. What the API
// submits itself right after its commit is left alone for a second. Called by sweep.ts on the leader.
import { isDatabaseUnavailable } from "../src/db/errors.ts";
import { endJob } from "../src/db/ingest.ts";
import type { Database } from "../src/db/job.ts";
import {
  cancelUnstarted,
  type JobRef,
  MalformedJobError,
  manyCancels,
  manyUnsubmitted,
  markCancelSubmitted,
  oneOutboxLag,
  type SubmittedJob,
} from "../src/db/outbox.ts";
import type { Kube } from "../src/kube/client.ts";
import { isConflict, isInvalid, isNotFound, isUnreachable } from "../src/kube/errors.ts";
import type { Log } from "../src/log.ts";
import { type JobKind, resourceName } from "../src/schemas/job-kind.ts";
import { resourceTypes, type Submit } from "../src/submit.ts";
import type { JobResource } from "./job/adapter.ts";
import { resourceGone } from "./job/drift.ts";
import type { JobMetrics } from "./job/metrics.ts";
import { inParallel } from "./runtime/parallel.ts";

export type OutboxOptions = {
  db: Database;
  kube: Kube;
  namespace: string;
  submit: Submit;
  metrics: JobMetrics;
  log: Log;
  enqueue: (kind: JobKind, name: string) => void;
  signal: AbortSignal;
};

/** Rows of each kind that are looked at together. */
const batch = 500;
/** Fewer than the pool of the database has connections: the reconcilers need some too. */
const atOnce = 8;
const headStartMs = 1_000;

export function makeOutbox(options: OutboxOptions) {
  const { db, kube, namespace, submit, metrics, log, enqueue, signal } = options;
  return { submitRows, passCancels };

  /** Until no row waits that has not been tried in this round. */
  async function submitRows(): Promise<void> {
    metrics.setOutboxLag(await oneOutboxLag(db));
    await cancelUnstarted(db);
    for (let submitted = 1, isFull = true; isFull && submitted > 0 && !signal.aborted; ) {
      const due = await manyUnsubmitted(db, { olderThanMs: headStartMs, limit: batch });
      isFull = due.length >= batch;
      submitted = await each(due, submitOrFail);
    }
  }

  /** A loop of its own: a cancel must not wait behind a thousand rows. */
  async function passCancels(): Promise<void> {
    await each(await manyCancels(db, batch), passCancel);
  }

  /** Returns how many went well. One that fails does not hold up the others, unless nobody answers at all. */
  async function each<T extends JobRef>(jobs: readonly T[], act: (job: T) => Promise<void>): Promise<number> {
    let done = 0;
    await inParallel(jobs, atOnce, async (job) => {
      if (signal.aborted) return;
      try {
        await act(job);
        done++;
      } catch (error) {
        if (isUnreachable(error) || isDatabaseUnavailable(error)) throw error;
        const { kind, id } = job;
        log.error({ kind, id, err: String(error) }, "a job could not be passed on; trying again");
      }
    });
    return done;
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
    enqueue(job.kind, resourceName(job.kind, job.id));
  }

  async function passCancel(job: SubmittedJob & { kind: "training" | "inference" }): Promise<void> {
    const { kind, id, resource } = job;
    const name = resource ?? resourceName(kind, id);
    // A name that somebody chose may be used again for another job: that one must not be cancelled.
    const metadata = resource === null ? {} : { metadata: { uid: id } };
    const spec = { cancel: { reason: "Cancelled by the client" } };
    try {
      await kube.patch(resourceTypes[kind], { namespace, name }, { ...metadata, spec });
      log.info({ kind, name }, "passed a cancel on");
    } catch (error) {
      if (isNotFound(error)) {
        // No custom resource any more: the reconcile ends the row.
        enqueue(kind, name);
      } else if (isConflict(error) && resource !== null) {
        await endJob(db, kind, id, { status: "cancelled", statusMessage: resourceGone, errorMessage: null });
      } else if (!isInvalid(error) || !(await isCancelled(kind, name))) throw error;
    }
    await markCancelSubmitted(db, kind, id);
  }

  /** With a reason of somebody else's, which cannot be changed. */
  async function isCancelled(kind: JobKind, name: string): Promise<boolean> {
    const present = (await kube.get(resourceTypes[kind], { namespace, name })) as JobResource;
    return present.spec.cancel !== undefined;
  }
}
