// The interface between the job engine and the queue: the operator's own gate, or Kueue. Implemented by
// controllers/queueing; called by gather.ts, apply.ts and run.ts.
import type { ConditionReason } from "../../src/schemas/condition.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import type { JobResource } from "./adapter.ts";
import type { CachedJob } from "./cached-job.ts";

export type Admission = { admitted: true } | { admitted: false; reason: ConditionReason; message: string };

/**
 * State of a Job whose pods run when Kueue admits it. `active`: spec.active of its Workload. `suspended`: the operator
 * made the Workload inactive. `queue`: the LocalQueue to move the Job to.
 */
export type Kueue = { active: boolean | undefined; suspended?: boolean; queue?: string };

export type QueueAnswer = { admission: Admission; kueue?: Kueue };

/** What the queue adds to a new Job. */
export type QueueSettings = { labels: Record<string, string>; suspend: boolean; priorityClassName?: string };

export type Queueing = {
  ask(kind: JobKind, cr: JobResource, child: CachedJob | undefined): Promise<QueueAnswer>;
  /** Removes a refused job from the queue. Ended and suspended jobs leave it without this call. */
  leave(cr: JobResource): void;
  /** Settings for the Job of this resource; undefined when the cluster has no such priority class. */
  settingsOf(cr: JobResource): Promise<QueueSettings | undefined>;
  /** Suspends or resumes a job that Kueue decides about. */
  activate(child: CachedJob, active: boolean): Promise<void>;
  /** Moves a suspended Job to another LocalQueue of Kueue. */
  move(child: CachedJob, queue: string): Promise<void>;
  /** Calls the listener with each job whose admission may have changed. */
  onAdmissionChange(listener: (kind: JobKind, name: string) => void): void;
};
