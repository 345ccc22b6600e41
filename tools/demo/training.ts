// Follows a training job as any client would, and records its progress. Called by play.ts and by the end-to-end test.
import type { TrainingJob, TrainingMetrics } from "../../client/schema.ts";
import { waitForTraining } from "../../client/wait.ts";
import type { User } from "./user.ts";

export interface ProgressRecord {
  /** All values of progress_percent in order, without consecutive duplicates. */
  readonly values: readonly number[];
  readonly distinct: number;
  readonly neverFell: boolean;
  /** progress_percent was 100 with status completed and with no other status. */
  readonly hundredExactlyWhenCompleted: boolean;
}

export interface Sample {
  readonly status: string;
  readonly percent: number;
}

/** Summarizes the samples of one job. Pure. */
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

/** The last value of a series whose name matches `word`; prefers a validation series to a training series. */
export function lastOf(
  metrics: TrainingMetrics,
  word: RegExp,
): { name: string; step: number; value: number } | undefined {
  const named = metrics.series.filter((one) => word.test(one.name) && one.points.length > 0);
  const series = named.find((one) => one.name.startsWith("val")) ?? named[0];
  const [step, value] = series?.points.at(-1) ?? [];
  return series === undefined || step === undefined || value === undefined
    ? undefined
    : { name: series.name, step, value };
}

/** Follows the job until it has ended. Rejects if it does not change for `stallMs`. */
export async function followTraining(
  user: User,
  jobId: string,
  onChange: (job: TrainingJob, metrics: TrainingMetrics) => void,
  { stallMs = 600_000 }: { stallMs?: number } = {},
): Promise<{ job: TrainingJob; metrics: TrainingMetrics; progress: ProgressRecord }> {
  const samples: Sample[] = [];
  const job = await waitForTraining(user.client, jobId, {
    stallMs,
    onChange: async (now) => {
      samples.push({ status: now.status, percent: now.progress_percent });
      onChange(now, await user.getTrainingMetrics(jobId));
    },
  });
  return { job, metrics: await user.getTrainingMetrics(jobId), progress: recordProgress(samples) };
}
