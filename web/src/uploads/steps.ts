// The steps of the queue on the network. `routes` says where the files go: into a dataset or to an inference job.

import { ApiError } from "../../../client/error.ts";
import type { AudioUpload, CreateUpload, UploadParts } from "../../../client/schema.ts";
import { partsFromBytes, sendForm, sendParts } from "../../../client/upload.ts";
import { uniqueName } from "../app/unique.ts";
import { contentTypeOf } from "./audio-types.ts";
import { digestOf } from "./digest.ts";
import type { Item, Steps } from "./queue.ts";
import { sendByXhr } from "./transport.ts";
import { judge } from "./verdict.ts";

type Form = AudioUpload["upload"];

/** A request for tickets. The service answers the same key with the same tickets again. */
export interface Announcement {
  readonly key: string;
  readonly files: readonly CreateUpload[];
}

export interface Ticket {
  readonly id: string;
  readonly file: {
    readonly filename: string;
    readonly size_bytes: number;
    readonly checksum_sha256: string | null;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly status: string;
  };
  /** Undefined: the file goes on in parts. */
  readonly form: Form | undefined;
}

/** Keeps the last announcement over a reload. */
export interface KeptAnnouncement {
  load(): Announcement | undefined;
  save(announcement: Announcement): void;
}

export interface UploadRoutes {
  /** The files that were announced or have arrived before the page was loaded, where the browser keeps no list of them. */
  present?(): Promise<readonly Ticket[]>;
  tickets(announcement: Announcement): Promise<readonly Ticket[]>;
  parts(id: string, signal: AbortSignal): Promise<UploadParts>;
  confirm(id: string): Promise<unknown>;
  remove(id: string): Promise<unknown>;
  /** Deletes a file that still waits for its bytes. One that has arrived meanwhile stays. */
  removeUnsent(id: string): Promise<unknown>;
}

export interface UploadSteps extends Steps {
  /** Deletes of these files those that have not arrived. */
  discardUnsent(ids: readonly string[]): Promise<void>;
  /** The same for the files of an announcement whose answer was lost. Only while the queue is idle. */
  discardAnnounced(): Promise<void>;
}

const nothingKept: KeptAnnouncement = { load: () => undefined, save() {} };

export function stepsFor(routes: UploadRoutes, kept = nothingKept): UploadSteps {
  // Its answer may have been lost, by the network or by a reload. Then the service has files whose ids nobody knows here.
  let unanswered = kept.load();
  // Tickets of such an answer, and files of an earlier visit, that no file has taken yet.
  let found: readonly Ticket[] = [];
  let isPresentKnown = routes.present === undefined;
  const announce = async (announcement: Announcement) => {
    unanswered = announcement;
    try {
      const tickets = await routes.tickets(announcement);
      unanswered = undefined;
      return tickets;
    } catch (error) {
      if (isAnswer(error)) unanswered = undefined;
      throw error;
    }
  };
  const repeatUnanswered = async () => {
    if (unanswered === undefined) return;
    try {
      found = [...found, ...(await announce(unanswered))];
    } catch (error) {
      if (unanswered !== undefined) throw error;
    }
  };
  const give = (item: Item, ticket: Ticket | undefined) => {
    item.id = ticket?.id;
    item.ticket = ticket?.form;
    found = found.filter((other) => other !== ticket);
    return ticket !== undefined;
  };
  return {
    digest: ({ bytes }) => digestOf(bytes),

    async tickets(items) {
      await repeatUnanswered();
      if (!isPresentKnown) found = [...found, ...((await routes.present?.()) ?? [])];
      isPresentKnown = true;
      const fresh = items.filter(
        (item) =>
          !give(
            item,
            found.find(({ file }) => isFor(item, file)),
          ),
      );
      if (fresh.length === 0) return;
      const announcement = { key: uniqueName(), files: fresh.map(announced) };
      kept.save(announcement);
      const tickets = await announce(announcement);
      for (const [i, item] of fresh.entries()) give(item, tickets[i]);
    },

    async discardAnnounced() {
      await repeatUnanswered();
      const unsent = found;
      found = [];
      for (const { id } of unsent) await routes.removeUnsent(id);
    },

    async discardUnsent(ids) {
      for (const id of ids) await routes.removeUnsent(id).catch(() => {});
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

/** Whether the announcement was refused, or its files have been deleted since: repeating it would only fail again. */
const isAnswer = (error: unknown) =>
  ["final", "anew"].includes(judge(error, { isOnline: true }).is) ||
  (error instanceof ApiError && error.code === "quota_exceeded");

const isFor = ({ source, digest }: Item, file: Ticket["file"]) =>
  file.filename === source.name &&
  file.size_bytes === source.size &&
  file.checksum_sha256 === (digest ?? null) &&
  (file.metadata?.path ?? source.name) === source.path.slice(0, 512);

function announced({ source, digest }: Item): CreateUpload {
  return {
    filename: source.name,
    content_type: contentTypeOf(source.name) ?? ("audio/wav" as const),
    size_bytes: source.size,
    ...(digest === undefined ? {} : { checksum_sha256: digest }),
    ...(source.path === source.name ? {} : { metadata: { path: source.path.slice(0, 512) } }),
  };
}
