// Files that are uploaded to inference jobs: a queue for each job, which lives as long as the page. When all files have
// arrived, the job starts by itself; if one failed, somebody decides.
import { effect, type Signal, signal } from "@preact/signals";
import { api, body } from "../app/api.ts";
import { refresh } from "../app/resource.ts";
import { state } from "../app/session.ts";
import { isActive, makeQueue, type Queue } from "./queue.ts";
import { inferenceRoutes } from "./routes.ts";
import { stepsFor } from "./steps.ts";

export interface JobUploads {
  readonly queue: Queue;
  /** Why the start failed, if it did. */
  readonly startError: Signal<unknown>;
  start(): Promise<void>;
}

const known = new Map<string, JobUploads>();

export function uploadsToJob(jobId: string): JobUploads {
  const found = known.get(jobId) ?? makeUploads(jobId);
  known.set(jobId, found);
  return found;
}

function makeUploads(jobId: string): JobUploads {
  const startError = signal<unknown>(undefined);
  let isStarting = false;
  const start = async () => {
    if (isStarting) return;
    isStarting = true;
    startError.value = undefined;
    try {
      // Starting a job that has started changes nothing, so a lost answer is no problem.
      await body(
        api.POST("/api/v1/inference-jobs/{inference_job_id}/start", {
          params: { path: { inference_job_id: jobId } },
        }),
      );
      queue.clearDone();
    } catch (error) {
      startError.value = error;
    }
    isStarting = false;
    await refresh(`inference-job/${jobId}`);
  };
  const queue = makeQueue(stepsFor(inferenceRoutes(jobId)), () => {
    const items = queue.items.peek();
    if (items.length > 0 && items.every(({ phase }) => phase.peek() === "done")) void start();
  });
  effect(() => {
    if (state.value.is === "signed-in" && queue.stopped.peek() !== undefined) queue.resume();
  });
  window.addEventListener("online", () => queue.resume());
  window.addEventListener("beforeunload", (event) => {
    if (queue.items.peek().some(({ phase }) => isActive(phase.peek()))) event.preventDefault();
  });
  return { queue, startError, start };
}
