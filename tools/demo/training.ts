// Follows a training job by polling, as any client would, and records how its progress moved. Called by main.ts and
// by the end-to-end test.
import { type Client, pause } from "./client.ts";
import type { TrainingJob, TrainingMetrics } from "./shapes.ts";

export interface ProgressRecord {
  /** Every value that progress_percent took, in order, without repeats of the one before. */
  readonly values: readonly number[];
  readonly distinct: number;
  readonly neverFell: boolean;
  /** 100 was seen with status completed and with no other. */
  readonly hundredExactlyWhenCompleted: boolean;
}

export interface Sample {
  readonly status: string;
  readonly percent: number;
}

const terminal: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** Judges the samples of one job. Pure. */
export function recordProgress(samples: readonly Sample[]): ProgressRecord {
  const values = samples
    .map((sample) => sample.percent)
    .filter((value, i, all) => i === 0 || value !== all[i - 1]);
  return {
    values,
    distinct: new Set(values).size,
    neverFell: values.every((value, i) => i === 0 || value > (values[i - 1] ?? 0)),
    hundredExactlyWhenCompleted:
      samples.some((sample) => sample.status === "completed") &&
      samples.every((sample) => (sample.percent === 100) === (sample.status === "completed")),
  };
}

/** The last value of the first series whose name has `word`, the validation's before the training's. */
export function lastOf(
  metrics: TrainingMetrics,
  word: RegExp,
): { name: string; step: number; value: number } | undefined {
  const named = metrics.series.filter((one) => word.test(one.name) && one.points.length > 0);
  const series = named.find((one) => one.name.startsWith("val")) ?? named[0];
  const point = series?.points.at(-1);
  return series === undefined || point === undefined
    ? undefined
    : { name: series.name, step: point[0], value: point[1] };
}

/** Polls until the job is finished; rejects when `stallMs` pass without any change in it. */
export async function followTraining(
  client: Client,
  jobId: string,
  onChange: (job: TrainingJob, metrics: TrainingMetrics) => void,
  { stallMs = 600_000, pollMs = 500 }: { stallMs?: number; pollMs?: number } = {},
): Promise<{ job: TrainingJob; metrics: TrainingMetrics; progress: ProgressRecord }> {
  const samples: Sample[] = [];
  let last = "";
  let lastChange = Date.now();
  for (;;) {
    const [job, metrics] = await Promise.all([
      client.getTrainingJob(jobId),
      client.getTrainingMetrics(jobId),
    ]);
    samples.push({ status: job.status, percent: job.progress_percent });
    const points = metrics.series.reduce((sum, one) => sum + one.points.length, 0);
    const now = `${job.status} ${job.progress_percent} ${job.status_message} ${points}`;
    if (now !== last) {
      last = now;
      lastChange = Date.now();
      onChange(job, metrics);
    }
    if (terminal.has(job.status)) return { job, metrics, progress: recordProgress(samples) };
    if (Date.now() - lastChange > stallMs) {
      throw new Error(
        `training job ${jobId} has been "${job.status}" (${job.status_message ?? "no message"}) for ${stallMs / 1000} s`,
      );
    }
    await pause(pollMs);
  }
}
