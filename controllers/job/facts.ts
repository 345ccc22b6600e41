// Everything that decide.ts knows about one job: the objects, the row and the time. Gathered by gather.ts; read by
// decide.ts, deadlines.ts, retry-budget.ts, conditions.ts and status.ts. Types only, so that none of them imports
// another for it.
import type { JobRow } from "../../src/db/job.ts";
import type { FailedPod, ShardProgress } from "../../src/db/operator/job-state.ts";
import type { Pod } from "../../src/kube/objects.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import type { Outage } from "../runtime/outages.ts";
import type { JobResource } from "./adapter.ts";
import type { Refusal } from "./adopt.ts";
import type { CachedJob } from "./cached-job.ts";
import type { Failure } from "./pods.ts";
import type { Admission, Kueue } from "./queueing.ts";

export type Facts = {
  /** Resource name derived from the row's id. All runs of the job are named after it. */
  job: string;
  /** Milliseconds since 1970. */
  now: number;
  cr: JobResource;
  row: JobRow | null;
  /** Why there is no row. */
  refusal?: Refusal;
  /** The Job of the current run. Undefined when there is none or when it was deleted. */
  child: CachedJob | undefined;
  /** Jobs of earlier runs, which a restore of etcd has brought back: they must go. */
  earlierJobs: readonly CachedJob[];
  /** Number of the newest attempt that status and row know of; 0 before the first one. */
  lastAttempt: number;
  /** Pods of the current run, except lost ones. */
  pods: readonly Pod[];
  /** Pods of the current run that are being deleted and whose node does not confirm their end (pods.ts, lostAt). */
  lostPods: readonly Pod[];
  progress: readonly ShardProgress[];
  /** All failed pods of the job, including those that no longer exist in Kubernetes. */
  failedPods: readonly FailedPod[];
  /** Since when this replica leads, in ms since 1970. Earlier reports of pods may be lost. */
  listeningSince: number;
  /** When the database did not respond since then. Reports of pods were lost. */
  outages: readonly Outage[];
  /** Shards whose results are in Postgres, from any run. */
  ingested: ReadonlySet<number>;
  /** Completed shards of the current run whose results are unusable. */
  bad: ReadonlyMap<number, Failure>;
  metrics: readonly { name: string; value: number }[];
  /** Whether jobs of this kind write checkpoints. */
  checkpoints: boolean;
  /** The last checkpoint that a pod reported. */
  checkpoint: JobStatus["checkpoint"];
  /** The decision of the queue. No pod may run before it admits the job. */
  admission: Admission;
  /** Set when the API server has just denied the Job. */
  isBlocked?: true;
  /** Set only for jobs that Kueue decides about. */
  kueue?: Kueue;
  /** Whether the operator's configuration contains the profile that the spec names. */
  profileKnown: boolean;
};
