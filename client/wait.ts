// Waits for the end of a job by long polling: the service responds as soon as the job changes. Used by the demo and the
// tests.
import { body, type Client } from "./client.ts";
import type { InferenceJob, TrainingJob } from "./schema.ts";

const finished = ["completed", "failed", "cancelled"];

export const isFinished = (job: { readonly status: string }): boolean => finished.includes(job.status);

export interface WaitOptions<T> {
  /** Called with the job at first, and after each change. */
  readonly onChange?: (job: T) => unknown;
  /** The wait rejects if the job does not change for this long. */
  readonly stallMs?: number;
  /** How long one request waits for a change. */
  readonly pollSeconds?: number;
  readonly signal?: AbortSignal;
}

export function waitForTraining(
  client: Client,
  jobId: string,
  options: WaitOptions<TrainingJob> = {},
): Promise<TrainingJob> {
  return follow(
    `training job ${jobId}`,
    async (etag, wait) => {
      const answer = await client.GET("/api/v1/training-jobs/{training_job_id}", {
        params: {
          path: { training_job_id: jobId },
          query: { wait },
          header: { "If-None-Match": etag },
        },
        signal: options.signal ?? null,
      });
      return await changed(answer);
    },
    options,
  );
}

export function waitForInference(
  client: Client,
  jobId: string,
  options: WaitOptions<InferenceJob> = {},
): Promise<InferenceJob> {
  return follow(
    `inference job ${jobId}`,
    async (etag, wait) => {
      const answer = await client.GET("/api/v1/inference-jobs/{inference_job_id}", {
        params: {
          path: { inference_job_id: jobId },
          query: { wait },
          header: { "If-None-Match": etag },
        },
        signal: options.signal ?? null,
      });
      return await changed(answer);
    },
    options,
  );
}

interface Seen<T> {
  readonly job: T;
  readonly etag: string | undefined;
}

/** Returns the changed job and its ETag; undefined if the job has not changed (304). */
async function changed<T>(answer: { data?: T; error?: unknown; response: Response }) {
  if (answer.response.status === 304) return undefined;
  const job = await body(Promise.resolve(answer));
  return { job, etag: answer.response.headers.get("ETag") ?? undefined };
}

async function follow<T extends { readonly status: string }>(
  what: string,
  ask: (etag: string | undefined, wait: number) => Promise<Seen<T> | undefined>,
  { onChange, stallMs = 600_000, pollSeconds = 20 }: WaitOptions<T>,
): Promise<T> {
  let etag: string | undefined;
  let state = "unknown";
  let since = Date.now();
  for (;;) {
    const seen = await ask(etag, etag === undefined ? 0 : pollSeconds);
    if (seen !== undefined) {
      since = Date.now();
      state = seen.job.status;
      etag = seen.etag;
      await onChange?.(seen.job);
      if (isFinished(seen.job)) return seen.job;
    } else if (Date.now() - since > stallMs) {
      throw new Error(`${what} has been "${state}" for ${stallMs / 1000} s without any change`);
    }
  }
}
