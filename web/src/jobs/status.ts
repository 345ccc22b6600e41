// States of jobs in words, and how long a running one will take. Pure.
import type { TrainingJob } from "../../../client/schema.ts";
import type { Tone } from "../components/badge.tsx";

export type JobStatus = TrainingJob["status"];

export const statusWords: Readonly<Record<JobStatus, readonly [Tone, string]>> = {
  pending: ["quiet", "Pending"],
  queued: ["quiet", "Queued"],
  running: ["busy", "Running"],
  cancelling: ["warn", "Cancelling"],
  completed: ["good", "Completed"],
  failed: ["bad", "Failed"],
  cancelled: ["quiet", "Cancelled"],
};

export const statuses = Object.keys(statusWords) as JobStatus[];

export const isFinished = (status: JobStatus) =>
  status === "completed" || status === "failed" || status === "cancelled";

export const unfinished = statuses.filter((status) => !isFinished(status));

interface Running {
  readonly status: JobStatus;
  readonly progress_percent: number;
  readonly started_at: string | null;
}

/** The first percents say little about the pace. */
const leastPercent = 3;
const leastMs = 5_000;

/** How long a job will still run at its pace so far; undefined while nobody can tell. */
export function remainingMs(
  { status, progress_percent: percent, started_at: start }: Running,
  now: number,
): number | undefined {
  if (status !== "running" || start === null || percent < leastPercent) return undefined;
  const passed = now - Date.parse(start);
  return passed < leastMs ? undefined : (passed / percent) * (100 - percent);
}

/** Whether a job waits for uploads, and for the request to start. */
export const waitsForFiles = (job: object & { readonly status: JobStatus }) =>
  job.status === "pending" && "start_requested_at" in job && job.start_requested_at === null;

/** Why a job does not run yet; undefined if it runs or has ended. */
export function waitingReason({
  status,
  status_message: message,
}: {
  readonly status: JobStatus;
  readonly status_message: string | null;
}): string | undefined {
  if (status === "pending") return message ?? "The operator has not taken the job up yet.";
  return status === "queued" ? (message ?? "The job waits for its turn.") : undefined;
}

/** How long a job ran, or has run so far; undefined before its start. */
export function ranMs(
  { started_at: start, completed_at: end }: { started_at: string | null; completed_at: string | null },
  now: number,
): number | undefined {
  return start === null ? undefined : Math.max(0, (end === null ? now : Date.parse(end)) - Date.parse(start));
}
