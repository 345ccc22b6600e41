// The context that all parts of the job engine share: drivers, the adapter of one kind, and the functions that write an
// event, the row and the status. Created by reconcile.ts.
import { isDatabaseUnavailable } from "../../src/db/driver/errors.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { advanceJob } from "../../src/db/job.ts";
import type { Kube } from "../../src/kube/client.ts";
import { isConflict } from "../../src/kube/errors.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import type { Profiles } from "../../src/schemas/profile.ts";
import { isStoreUnavailable } from "../../src/storage/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Tracing } from "../../src/tracing.ts";
import type { EventContent, Recorder } from "../runtime/events.ts";
import type { Outages } from "../runtime/outages.ts";
import { RetryError } from "../runtime/outcome.ts";
import type { Store } from "../runtime/store.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import type { CachedJob } from "./cached-job.ts";
import type { PodSettings } from "./child.ts";
import { hasEnded } from "./decide.ts";
import type { Facts } from "./facts.ts";
import type { JobMetrics } from "./metrics.ts";
import { maxOpenPercent } from "./progress.ts";
import type { Queueing } from "./queueing.ts";
import { rowChange, statusDiffers } from "./status.ts";
import type { StatusThrottle } from "./status-throttle.ts";
import { traceEnd } from "./trace.ts";

const fieldManager = "plosive-operator";

export type EngineDeps = {
  kube: Kube;
  db: DatabasePool;
  storage: Storage;
  log: Log;
  recorder: Recorder;
  metrics: JobMetrics;
  now: () => number;
  /** The operator handles only jobs of this installation. */
  installation: string;
  namespace: string;
  /** How long the resources of ended jobs that the service created are kept. */
  retentionSeconds: number;
  /** How long the Jobs and pods of succeeded jobs are kept. */
  jobRetentionSeconds: number;
  profiles: Profiles;
  settings: PodSettings;
  jobs: Store<CachedJob>;
  pods: Store<Pod>;
  queueing: Queueing;
  outages: Outages;
  /** Undefined: no traces. */
  tracing: Tracing | undefined;
  /** Uids of settled resources whose row must be compared once more. */
  toRecheck: Set<string>;
  /** Shared by all kinds, because it limits writes to one API server. */
  statusThrottle: StatusThrottle;
};

export type Engine = ReturnType<typeof makeEngine>;

/** Errors of the object store have the codes of sockets too. */
export const isDatabaseOutage = (error: unknown) =>
  isDatabaseUnavailable(error) && !isStoreUnavailable(error);

export function makeEngine(deps: EngineDeps, adapter: JobAdapter, store: Store<JobResource>) {
  const { kube, db, recorder, metrics, namespace, statusThrottle } = deps;
  const log = deps.log.child({ kind: adapter.kind });
  store.onChange(({ object, deleted }) => {
    if (deleted) statusThrottle.forget(object.metadata.uid ?? "");
  });
  return { ...deps, adapter, store, log, emitEvent, reportEnd, advanceRow, writeStatus };

  /** Records a Kubernetes event about the resource. */
  function emitEvent(cr: JobResource, type: EventContent["type"], reason: string, note: string): void {
    const { apiVersion, kind } = adapter.type;
    recorder.record({ apiVersion, kind, metadata: cr.metadata }, { type, reason, action: "Reconcile", note });
  }

  /** Records the event of the job's end. An event that was just recorded is not recorded again. */
  function reportEnd(cr: JobResource, { phase = "Failed", conditions }: JobStatus): void {
    const end = conditions?.find(({ type, status }) => type === phase && status === "True");
    if (end === undefined) return;
    if (phase === "Failed") emitEvent(cr, "Warning", end.reason, end.message);
    else emitEvent(cr, "Normal", phase, end.message);
  }

  /** Updates the row, unless it already agrees with the status. */
  async function advanceRow(id: string, facts: Facts, status: JobStatus): Promise<void> {
    const change = rowChange(facts, status);
    const { row } = facts;
    const same =
      row?.submitted &&
      row.status === change.status &&
      row.status_message === change.statusMessage &&
      row.progress_percent >= Math.min(maxOpenPercent, change.progressPercent) &&
      (change.platformJobName === null || row.platform_job_name === change.platformJobName);
    if (!same) await advanceJob(db, adapter.kind, id, change);
  }

  /**
   * Writes the status if it changed. Returns undefined when nothing is left to write, or how many milliseconds the
   * caller must wait when the status throttle delays the write. Throws RetryError on a conflict.
   */
  async function writeStatus(cr: JobResource, status: JobStatus): Promise<number | undefined> {
    if (!statusDiffers(cr.status, status)) return undefined;
    const { name, uid, resourceVersion } = cr.metadata;
    const waitMs = statusThrottle.waitMs(uid ?? "", cr.status, status);
    if (waitMs > 0) return waitMs;
    try {
      const object = {
        metadata: { name, namespace, uid, resourceVersion },
        status,
      } as unknown as JobResource;
      store.set(await kube.apply(adapter.type, object, { fieldManager, subresource: "status" }));
      statusThrottle.written(uid ?? "");
      metrics.statusWritten(adapter.kind, cr, status);
      if (!hasEnded({ status }) || hasEnded(cr)) return undefined;
      // At once: an operator that stops writes its queued events, and reconciles nothing any more.
      reportEnd(cr, status);
      if (deps.tracing !== undefined) {
        const runs = deps.jobs.by("owner", uid ?? "");
        const pods = runs.flatMap((run) => deps.pods.by("job", run.metadata.name));
        traceEnd(deps.tracing, { kind: adapter.type.kind, resource: cr, status, pods });
      }
      return undefined;
    } catch (error) {
      if (isConflict(error)) throw new RetryError("the custom resource changed during this reconcile");
      throw error;
    }
  }
}
