// Uploads from the browser: the queue of each dataset with its network. Queues live as long as the page, so uploads go on
// while other pages of the dashboard are open. Loaded with the upload page.
import { effect, type Signal, signal } from "@preact/signals";
import type { AudioUpload } from "../../../client/schema.ts";
import { partsFromBytes, sendForm, sendParts } from "../../../client/upload.ts";
import { ApiError, body, patientApi } from "../app/api.ts";
import { session, state } from "../app/session.ts";
import { uniqueName } from "../app/unique.ts";
import { contentTypeOf } from "./audio-types.ts";
import { digestOf } from "./digest.ts";
import { type Item, isActive, makeQueue, type Queue, type Source, type Steps } from "./queue.ts";
import { type Interrupted, loadInterrupted, matched, saveInterrupted } from "./resume.ts";
import { uploadSummary } from "./summary.ts";
import { sendByXhr } from "./transport.ts";
import { judge } from "./verdict.ts";

export interface DatasetUploads {
  readonly queue: Queue;
  /** Uploads that an earlier visit of the page has not finished. */
  readonly interrupted: Signal<readonly Interrupted[]>;
  add(sources: readonly Source[]): void;
  /** Forgets the interrupted uploads; the service deletes what it has of them. */
  forgetInterrupted(): Promise<void>;
}

const known = new Map<string, DatasetUploads>();

export function uploadsTo(datasetId: string): DatasetUploads {
  const found = known.get(datasetId) ?? makeUploads(datasetId);
  known.set(datasetId, found);
  return found;
}

function makeUploads(datasetId: string): DatasetUploads {
  const tenantId = session.peek()?.tenant_id ?? "";
  const interrupted = signal(loadInterrupted(tenantId, datasetId));
  let isSaving = false;
  const save = () => {
    isSaving = false;
    saveInterrupted(tenantId, datasetId, queue.items.peek(), interrupted.peek());
  };
  const queue = makeQueue(stepsOf(datasetId), () => {
    if (!isSaving) setTimeout(save, 300);
    isSaving = true;
    summarize();
  });
  window.addEventListener("pagehide", save);
  // The queue stops when the session ends, and goes on when somebody signs in again.
  effect(() => {
    if (state.value.is === "signed-in" && queue.stopped.peek() !== undefined) queue.resume();
  });
  window.addEventListener("online", () => queue.resume());
  return {
    queue,
    interrupted,
    add(sources) {
      const { sources: fresh, left } = matched(sources, interrupted.peek());
      interrupted.value = left;
      queue.add(fresh);
    },
    async forgetInterrupted() {
      const gone = interrupted.peek();
      interrupted.value = [];
      save();
      const { discard } = stepsOf(datasetId);
      for (const { id } of gone) if (id !== undefined) await discard(id).catch(() => {});
    },
  };
}

function summarize(): void {
  let [active, failed] = [0, 0];
  let latest: string | undefined;
  for (const [datasetId, { queue }] of known)
    for (const { phase } of queue.items.peek()) {
      if (isActive(phase.peek())) active++;
      else if (phase.peek() === "failed") failed++;
      else continue;
      latest = datasetId;
    }
  const now = uploadSummary.peek();
  if (now.active !== active || now.failed !== failed || now.datasetId !== latest)
    uploadSummary.value = { datasetId: latest, active, failed };
}

window.addEventListener("beforeunload", (event) => {
  if (uploadSummary.peek().active > 0) event.preventDefault();
});

function stepsOf(datasetId: string): Steps {
  const pathOf = ({ id = "" }: Item) => ({ dataset_id: datasetId, audio_file_id: id });
  return {
    digest: ({ bytes }) => digestOf(bytes),

    async tickets(items) {
      const { items: tickets } = await body(
        patientApi.POST("/api/v1/datasets/{dataset_id}/audio/upload-urls", {
          params: { path: { dataset_id: datasetId }, header: { "Idempotency-Key": uniqueName() } },
          body: { files: items.map(announcement) },
        }),
      );
      for (const [i, item] of items.entries()) {
        item.id = tickets[i]?.audio_file_id;
        item.ticket = tickets[i]?.upload;
      }
    },

    async send(item, onProgress, signal) {
      const { source, failures } = item;
      const file = {
        name: source.name,
        bytes: source.bytes,
        contentType: contentTypeOf(source.name) ?? "audio/wav",
      };
      const form = item.ticket as AudioUpload["upload"] | undefined;
      if (
        form !== undefined &&
        failures === 0 &&
        source.size < partsFromBytes &&
        Date.parse(form.expires_at) > Date.now()
      )
        return await sendForm(form, file, (url, request) => sendByXhr(url, request, { onProgress, signal }));
      // Parts continue where an attempt ended, and their URLs are new: also small files are sent so after a failure.
      let before = 0;
      const ask = async () => {
        const answer = await body(
          patientApi.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/parts", {
            params: { path: pathOf(item) },
            signal,
          }),
        );
        const missing = answer.parts.reduce((sum, part) => sum + part.size_bytes, 0);
        const unlisted = (answer.missing_part_count - answer.parts.length) * answer.part_size_bytes;
        before = Math.max(0, source.size - missing - unlisted);
        onProgress(before);
        return answer;
      };
      await sendParts(file, ask, async (url, request) => {
        const size = (request.body as Blob).size;
        const answer = await sendByXhr(url, request, {
          onProgress: (sent) => onProgress(before + sent),
          signal,
        });
        if (answer.ok) before += size;
        return answer;
      });
    },

    async confirm(item) {
      await body(
        patientApi.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/confirm", {
          params: { path: pathOf(item) },
        }),
      );
    },

    async discard(id) {
      await body(
        patientApi.DELETE("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}", {
          params: { path: { dataset_id: datasetId, audio_file_id: id } },
        }),
      ).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      });
    },

    judge: (error) => judge(error, { isOnline: navigator.onLine }),

    pause: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

function announcement({ source, digest }: Item) {
  return {
    filename: source.name,
    content_type: contentTypeOf(source.name) ?? ("audio/wav" as const),
    size_bytes: source.size,
    ...(digest === undefined ? {} : { checksum_sha256: digest }),
    ...(source.path === source.name ? {} : { metadata: { path: source.path.slice(0, 512) } }),
  };
}
