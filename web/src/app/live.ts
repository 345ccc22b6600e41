// The event stream of the account. One tab of the browser reads it and passes the events to the others, because a browser
// opens few connections to one server, and the service few streams for one account.
import { computed, effect, signal } from "@preact/signals";
import type { Event as ServiceEvent } from "../../../client/schema.ts";
import { dashboardUrl } from "./base.ts";
import { restore, session } from "./session.ts";

export type { ServiceEvent };

/** "paused": the stream is interrupted, and what is shown may be old until it is back. */
export const liveness = signal<"connecting" | "live" | "paused">("connecting");

type Message =
  | { readonly event: ServiceEvent }
  | { readonly liveness: "live" | "paused" }
  | { readonly gap: true };

const readers = new Set<(event: ServiceEvent) => void>();
const gapReaders = new Set<() => void>();

/** Calls `read` for each event, and `onGap` when events may have been missed. Returns a function that ends this. */
export function onEvents(read: (event: ServiceEvent) => void, onGap: () => void): () => void {
  readers.add(read);
  gapReaders.add(onGap);
  return () => {
    readers.delete(read);
    gapReaders.delete(onGap);
  };
}

function receive(message: Message): void {
  if ("event" in message) for (const read of readers) read(message.event);
  else if ("gap" in message) for (const read of gapReaders) read();
  else liveness.value = message.liveness;
}

/** A session that is read again, and is the same, must not start the stream anew. */
const tenantId = computed(() => session.value?.tenant_id);

export function startLive(): void {
  effect(() => {
    const tenant = tenantId.value;
    if (tenant === undefined) return;
    const ending = new AbortController();
    const name = `plosive.events.${tenant}`;
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }) => receive(data);
    const send = (message: Message) => {
      receive(message);
      channel.postMessage(message);
    };
    // Locks exist only on pages that came over https or from this machine.
    if (navigator.locks === undefined) void readStream(send, ending.signal, false);
    else void readInTurn(name, send, ending.signal).catch(() => {});
    // Another tab may read the stream already, and then nothing says so.
    const known = setTimeout(() => {
      if (liveness.peek() === "connecting") liveness.value = "live";
    }, 4_000);
    return () => {
      clearTimeout(known);
      ending.abort();
      channel.close();
      liveness.value = "connecting";
    };
  });
}

/** Reads the stream while no other tab does: the tab that has the lock reads it. */
async function readInTurn(
  name: string,
  send: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  const wasFree = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await readStream(send, signal, false);
    return lock !== null;
  });
  if (!wasFree) await navigator.locks.request(name, { signal }, () => readStream(send, signal, true));
}

/**
 * Reads the stream until the signal. EventSource connects anew by itself, except after a refusal. `isTakenOver`: another tab
 * read the stream until now, and events may have been missed.
 */
async function readStream(
  send: (message: Message) => void,
  signal: AbortSignal,
  isTakenOver: boolean,
): Promise<void> {
  let pauseMs = 2_000;
  let wasOpen = isTakenOver;
  while (!signal.aborted) {
    /** Then the browser asks for what followed it when it connects anew. */
    let hasEvent = false;
    const source = new EventSource(`${dashboardUrl}/api/v1/events/stream`);
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve());
      source.onopen = () => {
        pauseMs = 2_000;
        send({ liveness: "live" });
        if (wasOpen && !hasEvent) send({ gap: true });
        wasOpen = true;
      };
      source.onmessage = ({ data }) => {
        hasEvent = true;
        send({ event: JSON.parse(data) });
      };
      source.onerror = () => {
        send({ liveness: "paused" });
        if (source.readyState === EventSource.CLOSED) resolve();
      };
    });
    source.close();
    if (signal.aborted) return;
    // A refusal has no reason that scripts can read: ask whether it is the session.
    await restore({ quietly: true });
    await pause(pauseMs, signal);
    pauseMs = Math.min(60_000, pauseMs * 2);
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
