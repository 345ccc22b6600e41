// Streams a tenant's events as server-sent events. Called by routes/event.ts. A stream stores only the number of the
// last event that it sent, and queries the database for the next ones when the reader has taken those before. So no
// event is lost or repeated, and a slow reader does not fill the memory.
import { Readable } from "node:stream";
import { isKeyOpen } from "../db/api-key.ts";
import { isDatabaseUnavailable } from "../db/driver/errors.ts";
import { manyEventsAfter } from "../db/event.ts";
import type { EventType } from "../schemas/event.ts";
import type { Watch } from "./live.ts";
import type { Call } from "./route.ts";
import { viewEvent } from "./view.ts";

export interface StreamOptions {
  /** Only events with greater numbers. */
  readonly after: number;
  /** Undefined: all types. */
  readonly types: readonly EventType[] | undefined;
  /** Called once when the stream has ended for any reason. */
  readonly onEnd: () => void;
}

/** Maximum number of events in one piece. It is small because a stalled reader keeps several pieces in memory. */
const batch = 100;

/** Returns the stream's text, to be sent as text/event-stream. The stream fails if its reader stalls. */
export function eventStream(call: Call, options: StreamOptions): Readable {
  const { tenantId, keyId, deps } = call;
  const { timing } = deps.live;
  const watch = deps.live.watch([
    `plosive_events ${tenantId}`,
    `plosive_keys ${keyId ?? tenantId}`,
    `plosive_keys ${tenantId}`,
  ]);
  const stream: Readable = Readable.from(
    cutWhenStalled(textOf(call, watch, options), timing.stallMs, () =>
      stream.destroy(new Error("the reader of the event stream has stalled")),
    ),
    { highWaterMark: 2 },
  );
  stream.once("close", () => {
    watch.close();
    options.onEnd();
  });
  return stream;
}

async function* textOf(call: Call, watch: Watch, { after, types }: StreamOptions): AsyncGenerator<string> {
  const { tenantId, keyId, deps } = call;
  const { timing } = deps.live;
  const { signal } = call.request;
  const wanted = types === undefined ? undefined : new Set<string>(types);
  let last = after;
  let checked = performance.now();
  let mayBeClosed = false;
  let beat = checked;
  const readBatch = async () => {
    const rows = await manyEventsAfter(deps.db, tenantId, last, batch);
    last = rows.at(-1)?.id ?? last;
    // Without an `event:` line, so that one handler of an EventSource gets all types. The data contains the type.
    const text = rows
      .filter((row) => wanted?.has(row.type) ?? true)
      .map((row) => `id: ${row.id}\ndata: ${JSON.stringify(viewEvent(row))}\n\n`)
      .join("");
    return { text, isLast: rows.length < batch };
  };
  // The first line also makes proxies and clients receive the response headers at once.
  yield `retry: ${timing.retryMs}\n\n`;
  while (!signal.aborted && !deps.live.isEnding()) {
    const now = performance.now();
    let pauseMs = Number.POSITIVE_INFINITY;
    try {
      if (mayBeClosed || now - checked >= timing.beatMs) {
        if (!(await deps.live.withReadSlot(tenantId, () => isKeyOpen(deps.db, call)))) return;
        checked = now;
        mayBeClosed = false;
      }
      const { text, isLast } = await deps.live.withReadSlot(tenantId, readBatch, (read) => read.isLast);
      if (text !== "") {
        beat = now;
        yield text;
      }
      if (!isLast) pauseMs = 0;
    } catch (error) {
      // A short restart of the database must not end all streams.
      if (!isDatabaseUnavailable(error) || now - checked > timing.trustMs) throw error;
      pauseMs = 1_000;
    }
    if (performance.now() - beat >= timing.beatMs) {
      beat = performance.now();
      yield ": still here\n\n";
    }
    const ms = Math.max(0, Math.min(pauseMs, beat + timing.beatMs - performance.now()));
    const notified = await watch.next(ms, signal);
    mayBeClosed ||= notified.has(`plosive_keys ${keyId}`) || notified.has(`plosive_keys ${tenantId}`);
  }
}

/** Passes the pieces on. Calls `cut` if the reader does not take a piece within `stallMs`. */
async function* cutWhenStalled(
  pieces: AsyncGenerator<string>,
  stallMs: number,
  cut: () => void,
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    const stalled = setTimeout(cut, stallMs);
    try {
      yield piece;
    } finally {
      clearTimeout(stalled);
    }
  }
}
