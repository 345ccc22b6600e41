// The queue of uploads to one dataset: what happens to each file, in which order, how often it is tried. It knows no
// network: `steps` does the work. Called by uploads.ts; the page reads the signals.
import { type Signal, signal } from "@preact/signals";

export type Phase =
  | "waiting"
  | "reading"
  | "ready"
  | "sending"
  | "checking"
  | "pausing"
  | "done"
  | "failed"
  | "removed";

/** What is known of a file in the browser. */
export interface Source {
  readonly name: string;
  /** Folder and name, for files that came in a folder. */
  readonly path: string;
  readonly size: number;
  readonly lastModified: number;
  readonly bytes: Blob;
}

export interface Item {
  readonly key: number;
  readonly source: Source;
  readonly phase: Signal<Phase>;
  readonly sentBytes: Signal<number>;
  /** Why it failed, or why it waits for its next attempt. */
  readonly reason: Signal<string | undefined>;
  /** Set when it failed: whether another attempt can help. */
  canRetry: boolean;
  /** The audio file of the service, when it has one. */
  id: string | undefined;
  /** What `steps.tickets` needs and gives; the queue does not look into them. */
  digest: string | undefined;
  ticket: unknown;
  /** Failed attempts so far. */
  failures: number;
  abort: AbortController | undefined;
}

/** What to do after a failure. */
export type Verdict =
  | { readonly is: "retry"; readonly reason: string }
  | { readonly is: "final"; readonly reason: string }
  /** The file must be announced anew. */
  | { readonly is: "anew"; readonly reason: string }
  /** Nothing will work until something outside has changed, such as the session or a quota. */
  | { readonly is: "stop"; readonly reason: string };

export interface Steps {
  digest(source: Source): Promise<string | undefined>;
  /** Announces files; sets their `id` and `ticket`. */
  tickets(items: readonly Item[]): Promise<void>;
  /** Sends the bytes. With `item.failures` > 0, or without a ticket, it goes on where the last attempt ended. */
  send(item: Item, onProgress: (sentBytes: number) => void, signal: AbortSignal): Promise<void>;
  confirm(item: Item): Promise<void>;
  /** Deletes what the service has of a file that is not wanted any more. */
  discard(id: string): Promise<void>;
  judge(error: unknown): Verdict;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const parallel = 3;
/** Files that are announced in one request. Forms are valid for minutes, so not too many wait. */
const batchFiles = 20;
const batchBytes = 200_000_000;
const retryAfterMs = [2_000, 8_000, 30_000];

export interface Queue {
  readonly items: Signal<readonly Item[]>;
  /** Why the whole queue stands still. */
  readonly stopped: Signal<string | undefined>;
  add(sources: readonly (Source & { readonly id?: string | undefined })[]): void;
  retry(items: readonly Item[]): void;
  remove(item: Item): void;
  clearDone(): void;
  resume(): void;
}

export const isActive = (phase: Phase) => phase !== "done" && phase !== "failed" && phase !== "removed";

/** `onChange` is called when files begin, end or leave, not for their progress. */
export function makeQueue(steps: Steps, onChange: () => void): Queue {
  const items = signal<readonly Item[]>([]);
  const stopped = signal<string | undefined>(undefined);
  let nextKey = 1;
  let senders = 0;
  let isPreparing = false;

  const set = (item: Item, phase: Phase, reason?: string) => {
    if (item.phase.peek() === "removed") return;
    item.phase.value = phase;
    item.reason.value = reason;
    onChange();
  };
  const of = (phase: Phase) => items.peek().filter((item) => item.phase.peek() === phase);

  function work(): void {
    if (stopped.peek() !== undefined) return;
    if (!isPreparing && of("waiting").length > 0 && of("ready").length < parallel) {
      isPreparing = true;
      void prepare().finally(() => {
        isPreparing = false;
        if (of("waiting").length > 0 && of("ready").length < parallel) work();
      });
    }
    while (senders < parallel) {
      const next = of("ready")[0];
      if (next === undefined) return;
      senders++;
      next.phase.value = "sending";
      void send(next).finally(() => {
        senders--;
        work();
      });
    }
  }

  /** Reads and announces the next files. */
  async function prepare(): Promise<void> {
    const batch: Item[] = [];
    let bytes = 0;
    // The first files shall not wait until twenty have been read.
    const most = of("sending").length === 0 ? parallel : batchFiles;
    for (const item of of("waiting")) {
      if (batch.length === most || (batch.length > 0 && bytes + item.source.size > batchBytes)) break;
      bytes += item.source.size;
      if (item.id !== undefined) {
        set(item, "ready");
        work();
        continue;
      }
      set(item, "reading");
      try {
        item.digest ??= await steps.digest(item.source);
        batch.push(item);
      } catch (error) {
        settle(item, error);
      }
    }
    const wanted = batch.filter((item) => item.phase.peek() !== "removed");
    if (wanted.length > 0) await announce(wanted);
    work();
  }

  /** If the service refuses a batch, each file is announced alone, so that one bad file stops no others. */
  async function announce(batch: readonly Item[]): Promise<void> {
    try {
      await steps.tickets(batch);
      for (const item of batch) {
        // Removed meanwhile: the service knows a file that nobody wants.
        if (item.phase.peek() === "removed") void discard(item);
        else set(item, "ready");
      }
    } catch (error) {
      const verdict = steps.judge(error);
      if (batch.length === 1 || verdict.is === "stop" || verdict.is === "retry")
        for (const item of batch) settle(item, error);
      else for (const item of batch) await announce([item]);
    }
  }

  async function send(item: Item): Promise<void> {
    const abort = new AbortController();
    item.abort = abort;
    try {
      set(item, "sending");
      await steps.send(
        item,
        (sent) => {
          item.sentBytes.value = Math.min(sent, item.source.size);
        },
        abort.signal,
      );
      item.sentBytes.value = item.source.size;
      set(item, "checking");
      await steps.confirm(item);
      set(item, "done");
    } catch (error) {
      settle(item, error);
    }
    if (item.abort === abort) item.abort = undefined;
    if (item.phase.peek() === "removed") await discard(item);
  }

  function settle(item: Item, error: unknown): void {
    if (item.phase.peek() === "removed") return;
    const verdict = steps.judge(error);
    if (verdict.is === "stop") {
      stopped.value = verdict.reason;
      set(item, "waiting");
      return;
    }
    if (verdict.is === "anew") {
      item.id = undefined;
      item.ticket = undefined;
    }
    const waitMs = retryAfterMs[item.failures++];
    if (verdict.is === "final" || waitMs === undefined) {
      item.canRetry = verdict.is !== "final";
      set(item, "failed", verdict.reason);
      return;
    }
    const abort = new AbortController();
    item.abort = abort;
    set(item, "pausing", verdict.reason);
    void steps.pause(waitMs, abort.signal).then(() => {
      if (item.phase.peek() !== "pausing") return;
      set(item, "waiting");
      work();
    });
  }

  async function discard(item: Item): Promise<void> {
    const id = item.id;
    item.id = undefined;
    if (id !== undefined) await steps.discard(id).catch(() => {});
  }

  return {
    items,
    stopped,
    add(sources) {
      const known = new Map(items.peek().map((item) => [nameOf(item.source), item]));
      const isFailed = (item: Item | undefined) => item?.phase.peek() === "failed";
      const fresh = sources
        .map((source) => ({ ...source, id: source.id ?? known.get(nameOf(source))?.id }))
        .filter((source) => {
          const item = known.get(nameOf(source));
          return item === undefined || isFailed(item);
        });
      // A file that failed and is chosen again begins anew, with the bytes that were read now.
      const again = new Set(fresh.map(nameOf));
      items.value = [
        ...items.peek().filter((item) => !again.has(nameOf(item.source))),
        ...fresh.map(({ id, ...source }) => ({
          key: nextKey++,
          source,
          phase: signal<Phase>("waiting"),
          sentBytes: signal(0),
          reason: signal<string | undefined>(undefined),
          canRetry: false,
          id,
          digest: undefined,
          ticket: undefined,
          failures: 0,
          abort: undefined,
        })),
      ];
      onChange();
      work();
    },
    retry(chosen) {
      for (const item of chosen) {
        if (item.phase.peek() !== "failed") continue;
        // Kept above 0, so that it goes on where it ended instead of using an old form.
        item.failures = item.id === undefined ? 0 : 1;
        set(item, "waiting");
      }
      work();
    },
    remove(item) {
      const isWorking = item.phase.peek() === "sending" || item.phase.peek() === "checking";
      const wasDone = item.phase.peek() === "done";
      item.phase.value = "removed";
      item.abort?.abort();
      items.value = items.peek().filter((other) => other !== item);
      if (!isWorking && !wasDone) void discard(item);
      onChange();
      work();
    },
    clearDone() {
      items.value = items.peek().filter((item) => item.phase.peek() !== "done");
      onChange();
    },
    resume() {
      stopped.value = undefined;
      work();
    },
  };
}

/** Two files with the same values are the same file. */
export const nameOf = ({ path, size, lastModified }: Omit<Source, "bytes" | "name">) =>
  `${path}\n${size}\n${lastModified}`;
