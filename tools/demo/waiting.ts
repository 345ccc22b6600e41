// Waits for what happens in the background: embeddings of uploaded files, inference jobs. Called by main.ts and by
// the end-to-end test. A wait ends with an error when nothing has moved for a while, and says what stood still.
import { type Client, pause } from "./client.ts";
import type { AudioFile, InferenceFile, InferenceJob } from "./shapes.ts";

const stallMs = 600_000;
const pollMs = 1_000;

export interface Embedded {
  readonly completed: readonly AudioFile[];
  readonly failed: readonly AudioFile[];
}

/** Resolves when every file of the dataset is embedded or failed. */
export async function waitForEmbeddings(
  client: Client,
  datasetId: string,
  onProgress: (settled: number, total: number, failed: number) => void,
): Promise<Embedded> {
  const stall = stallWatch(`the embeddings of dataset ${datasetId}`);
  for (;;) {
    const files = await client.listAudio(datasetId);
    const completed = files.filter((file) => file.embedding_status === "completed");
    const failed = files.filter((file) => file.status === "failed");
    onProgress(completed.length + failed.length, files.length, failed.length);
    if (completed.length + failed.length === files.length) return { completed, failed };
    stall(files.map((file) => `${file.status} ${file.embedding_status}`).join());
    await pause(pollMs);
  }
}

/** Resolves when the job is completed; rejects when it failed or was cancelled. */
export async function waitForInference(
  client: Client,
  jobId: string,
  onProgress: (job: InferenceJob) => void,
): Promise<{ job: InferenceJob; files: InferenceFile[] }> {
  const stall = stallWatch(`inference job ${jobId}`);
  for (;;) {
    const job = await client.getInferenceJob(jobId);
    onProgress(job);
    if (job.status === "completed") return { job, files: await client.listInferenceFiles(jobId) };
    if (job.status === "failed" || job.status === "cancelled") {
      throw new Error(
        `inference job ${jobId} ended as ${job.status}: ${job.error_message ?? "no reason given"}`,
      );
    }
    stall(`${job.status} ${job.processed_files}`);
    await pause(pollMs);
  }
}

function stallWatch(what: string): (state: string) => void {
  let last = "";
  let since = Date.now();
  return (state) => {
    if (state !== last) {
      last = state;
      since = Date.now();
    }
    if (Date.now() - since > stallMs) throw new Error(`${what}: nothing has moved for ${stallMs / 1000} s`);
  };
}
