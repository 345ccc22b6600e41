// The state of a job of either kind: its badge, its progress, why it waits.
import type { InferenceJob, TrainingJob } from "../../../client/schema.ts";
import { href } from "../app/base.ts";
import { amountOfTime } from "../app/format.ts";
import { Badge } from "../components/badge.tsx";
import { Icon } from "../components/icon.tsx";
import { Progress } from "../components/meter.tsx";
import { now } from "../components/time.tsx";
import {
  isFinished,
  type JobStatus,
  ranMs,
  remainingMs,
  statusWords,
  waitingReason,
  waitsForFiles,
} from "./status.ts";

export type Job = TrainingJob | InferenceJob;

export function JobBadge({ status }: { status: JobStatus }) {
  const [tone, word] = statusWords[status];
  return <Badge tone={tone}>{word}</Badge>;
}

/** For cells of tables. */
export const JobProgress = ({ job }: { job: Job }) =>
  job.status === "completed" ? (
    <span class="faint">Done</span>
  ) : (
    <span class="progress-cell">
      <Progress label="Progress" share={job.progress_percent / 100} />
      <span class="number small">{job.progress_percent} %</span>
    </span>
  );

/** What the job does now, in the words of the service. */
export const JobMessage = ({ job }: { job: Job }) => {
  const { status, status_message, error_message } = job;
  if (waitsForFiles(job)) return <span class="small muted">Waits for its files</span>;
  return status === "failed" ? (
    <span class="small bad-text break">{error_message ?? status_message}</span>
  ) : status_message !== null && status !== "completed" ? (
    <span class="small muted break">{status_message}</span>
  ) : null;
};

/** How long the job has run, or ran. */
export function Ran({ job }: { job: Job }) {
  const ms = ranMs(job, now.value);
  return ms === undefined ? <span class="faint">–</span> : <span class="number">{amountOfTime(ms)}</span>;
}

/** The state at the top of a job's page. */
export function JobHeader({ job }: { job: Job }) {
  const { status, progress_percent: percent } = job;
  const rest = remainingMs(job, now.value);
  const reason = waitingReason(job);
  return (
    <div class="job-state">
      <div class="row apart">
        <span class="row">
          <JobBadge status={status} />
          {!isFinished(status) && reason === undefined && <JobMessage job={job} />}
        </span>
        <span class="number small">
          {percent} %{rest !== undefined && <span class="muted"> · about {amountOfTime(rest)} left</span>}
          {job.started_at !== null && (
            <span class="muted">
              {isFinished(status) ? " · took " : " · runs for "}
              <Ran job={job} />
            </span>
          )}
        </span>
      </div>
      {!isFinished(status) && (
        <Progress
          label="Progress of the job"
          share={status === "queued" || status === "pending" ? 0 : percent / 100}
        />
      )}
      {reason !== undefined && (
        <div class="notice accent" role="status">
          <Icon name="clock" />
          <p>
            <strong>The job waits.</strong> <span class="break">{withStop(reason)}</span> It starts by itself;{" "}
            <a class="link" href={href("/settings/usage")}>
              the usage
            </a>{" "}
            shows how many jobs may run at once.
          </p>
        </div>
      )}
      {status === "failed" && (
        <div class="problem" role="status">
          <Icon name="error" />
          <p>
            <strong>The job failed.</strong>{" "}
            <span class="break">{job.error_message ?? job.status_message}</span>
          </p>
        </div>
      )}
    </div>
  );
}

const withStop = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
