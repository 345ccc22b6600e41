// What the engine asks the queue, whoever keeps it. Implemented by controllers/queueing; asked by reconcile.ts.
import type { Job } from "../../src/kube/objects.ts";
import type { ConditionReason } from "../../src/schemas/condition.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import type { JobResource } from "./adapter.ts";

export type Admission = { admitted: true } | { admitted: false; reason: ConditionReason; message: string };

/**
 * Kueue decides when the Job's pods run. `active`: what its Workload says; `suspended`: that it was we who said so;
 * `queue`: where the Job is to be moved.
 */
export type Kueue = { active: boolean | undefined; suspended?: boolean; queue?: string };

export type QueueAnswer = { admission: Admission; kueue?: Kueue };

/** What the queue adds to a Job that is created. */
export type QueueSettings = { labels: Record<string, string>; suspend: boolean; priorityClassName?: string };

export type Queueing = {
  ask(kind: JobKind, cr: JobResource, child: Job | undefined): Promise<QueueAnswer>;
  /** The job was refused: it keeps no place. What has ended or is suspended loses its place by itself. */
  leave(cr: JobResource): void;
  /** Undefined when the cluster does not know the job's priority class. */
  settingsOf(cr: JobResource): Promise<QueueSettings | undefined>;
  /** Suspends or resumes a job that Kueue decides about. */
  activate(child: Job, active: boolean): Promise<void>;
  move(child: Job, queue: string): Promise<void>;
  /** Called with each job that should be looked at again. */
  onAdmitted(listener: (kind: JobKind, name: string) => void): void;
};
