// The steps of the queue on the network. `routes` says where the files go: into a dataset or to an inference job.
import type { AudioUpload, CreateUpload, UploadParts } from "../../../client/schema.ts";
import { partsFromBytes, sendForm, sendParts } from "../../../client/upload.ts";
import { ApiError } from "../app/api.ts";
import { contentTypeOf } from "./audio-types.ts";
import { digestOf } from "./digest.ts";
import type { Item, Steps } from "./queue.ts";
import { sendByXhr } from "./transport.ts";
import { judge } from "./verdict.ts";

type Form = AudioUpload["upload"];

export interface UploadRoutes {
  tickets(files: CreateUpload[]): Promise<readonly { readonly id: string; readonly form: Form }[]>;
  parts(id: string, signal: AbortSignal): Promise<UploadParts>;
  confirm(id: string): Promise<unknown>;
  remove(id: string): Promise<unknown>;
}

export function stepsFor(routes: UploadRoutes): Steps {
  return {
    digest: ({ bytes }) => digestOf(bytes),

    async tickets(items) {
      const tickets = await routes.tickets(items.map(announcement));
      for (const [i, item] of items.entries()) {
        item.id = tickets[i]?.id;
        item.ticket = tickets[i]?.form;
      }
    },

    async send(item, onProgress, signal) {
      const { source, failures } = item;
      const file = {
        name: source.name,
        bytes: source.bytes,
        contentType: contentTypeOf(source.name) ?? "audio/wav",
      };
      const form = item.ticket as Form | undefined;
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
        const answer = await routes.parts(item.id ?? "", signal);
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
      await routes.confirm(item.id ?? "");
    },

    async discard(id) {
      await routes.remove(id).catch((error: unknown) => {
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

function announcement({ source, digest }: Item): CreateUpload {
  return {
    filename: source.name,
    content_type: contentTypeOf(source.name) ?? ("audio/wav" as const),
    size_bytes: source.size,
    ...(digest === undefined ? {} : { checksum_sha256: digest }),
    ...(source.path === source.name ? {} : { metadata: { path: source.path.slice(0, 512) } }),
  };
}
