// Waits for background work: embeddings of uploaded files, inference jobs. A wait fails with an error that names the
// stalled work if it makes no progress for a while. Called by play.ts and by the end-to-end test.
import { setTimeout as pause } from "node:timers/promises";
import type { AudioFile, InferenceFile, InferenceJob } from "../../client/schema.ts";
import * as client from "../../client/wait.ts";
import type { User } from "./user.ts";

const stallMs = 600_000;
const pollMs = 1_000;

export interface Embedded {
  readonly completed: readonly AudioFile[];
  readonly failed: readonly AudioFile[];
}

/** Resolves when every file of the dataset is embedded or has failed. */
export async function waitForEmbeddings(
  user: User,
  datasetId: string,
  onProgress: (settled: number, total: number, failed: number) => void,
): Promise<Embedded> {
  let last = "";
  let since = Date.now();
  for (;;) {
    const files = await user.listAudio(datasetId);
    const completed = files.filter((file) => file.embedding_status === "completed");
    const failed = files.filter((file) => file.status === "failed");
    onProgress(completed.length + failed.length, files.length, failed.length);
    if (completed.length + failed.length === files.length) return { completed, failed };
    const state = files.map((file) => `${file.status} ${file.embedding_status}`).join();
    if (state !== last) since = Date.now();
    last = state;
    if (Date.now() - since > stallMs)
      throw new Error(`the embeddings of dataset ${datasetId} made no progress for ${stallMs / 1000} s`);
    await pause(pollMs);
  }
}

/** Resolves when the job is completed. Rejects if it fails or is cancelled. */
export async function waitForInference(
  user: User,
  jobId: string,
  onProgress: (job: InferenceJob) => void,
): Promise<{ job: InferenceJob; files: InferenceFile[] }> {
  const job = await client.waitForInference(user.client, jobId, { onChange: onProgress, stallMs });
  if (job.status !== "completed") {
    throw new Error(
      `inference job ${jobId} ended with status ${job.status}: ${job.error_message ?? "no error message"}`,
    );
  }
  return { job, files: await user.listInferenceFiles(jobId) };
}
