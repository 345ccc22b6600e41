// Lets answers wait for something to happen: event streams (event-stream.ts) and long polls (wait.ts). Made by app.ts,
// fed by the process's one listening connection; who waits asks the database itself what is new.
import { Gauge, type Registry } from "prom-client";
import { type Limit, makeLimit } from "../db/limit.ts";
import type { Channel, Listener } from "../db/listen.ts";

/** What to be woken by: a channel, and what its notification must carry. */
export type Topic = `${Channel} ${string}`;

/** Opened before the first look at the database, so that nothing falls between a look and the wait after it. */
export interface Watch {
  /** Resolves with what was heard since the last call, at the latest after `ms`, on `signal` and when the process ends. */
  next(ms: number, signal: AbortSignal): Promise<ReadonlySet<Topic>>;
  close(): void;
}

export interface Live {
  watch(topics: readonly Topic[]): Watch;
  readonly timing: LiveTiming;
  /** Asks the database, with so many others of those who wait at once that requests find a connection too. */
  readonly withReadSlot: Limit;
  /** Whether everything that waits shall come to its end. */
  isEnding(): boolean;
  /** One of so many places of a tenant in this process, by name; null when all are taken. Call the result to leave it. */
  acquire(tenantId: string, what: "stream" | "wait", most: number): (() => void) | null;
  end(): void;
}

export interface LiveTiming {
  /** A comment in a stream, so that proxies keep the connection and clients notice when it is dead. At the same pace
   * the key of whoever waits is looked at again. */
  readonly beatMs: number;
  /** A reader that takes nothing for so long is cut off; it may come again with its Last-Event-ID. */
  readonly stallMs: number;
  /** How long a stream lives on while the database cannot say whether its key is valid. */
  readonly trustMs: number;
  /** When a client may come again after the end of its stream. */
  readonly retryMs: number;
}

const usual: LiveTiming = { beatMs: 15_000, stallMs: 60_000, trustMs: 60_000, retryMs: 2_000 };

const channels: readonly Channel[] = ["plosive_events", "plosive_jobs", "plosive_keys"];

interface LiveDeps {
  readonly listener: Listener;
  readonly registry: Registry;
  readonly timing?: Partial<LiveTiming>;
  /** Connections to the database that those who wait may take together. */
  readonly connections: number;
}

export function makeLive({ listener, registry, timing = {}, connections }: LiveDeps): Live {
  const waiting = new Gauge({
    name: "plosive_waiting_requests",
    help: "Requests that wait for something to happen: event streams (stream) and long polls (wait)",
    labelNames: ["what"],
    registers: [registry],
  });
  for (const what of ["stream", "wait"]) waiting.set({ what }, 0);
  const watches = new Map<Topic, Set<(topic: Topic) => void>>();
  const taken = new Map<string, number>();
  const ending = new AbortController();
  let listening = false;

  const listen = () => {
    if (listening) return;
    listening = true;
    for (const channel of channels) {
      listener.on(channel, (payload) => {
        // Null: notifications may have been lost, so everybody looks.
        const topics = payload === null ? topicsOf(channel) : [`${channel} ${payload}` as Topic];
        for (const topic of topics) for (const ring of watches.get(topic) ?? []) ring(topic);
      });
    }
  };
  const topicsOf = (channel: Channel) =>
    [...watches.keys()].filter((topic) => topic.startsWith(`${channel} `));

  const watch = (topics: readonly Topic[]): Watch => {
    listen();
    let heard = new Set<Topic>();
    let wake = () => {};
    const ring = (topic: Topic) => {
      heard.add(topic);
      wake();
    };
    for (const topic of topics) watches.set(topic, (watches.get(topic) ?? new Set()).add(ring));
    return {
      next: async (ms, signal) => {
        if (heard.size === 0) await sleep(ms, [signal, ending.signal], (woken) => (wake = woken));
        const news = heard;
        heard = new Set();
        return news;
      },
      close: () => {
        for (const topic of topics) {
          const rings = watches.get(topic);
          rings?.delete(ring);
          if (rings?.size === 0) watches.delete(topic);
        }
      },
    };
  };

  return {
    watch,
    timing: { ...usual, ...timing },
    withReadSlot: makeLimit(connections, 30_000),
    isEnding: () => ending.signal.aborted,
    acquire: (tenantId, what, most) => {
      const key = `${what} ${tenantId}`;
      const present = taken.get(key) ?? 0;
      if (present >= most) return null;
      taken.set(key, present + 1);
      waiting.inc({ what });
      let left = false;
      return () => {
        if (left) return;
        left = true;
        waiting.dec({ what });
        const rest = (taken.get(key) ?? 1) - 1;
        if (rest === 0) taken.delete(key);
        else taken.set(key, rest);
      };
    },
    end: () => ending.abort(),
  };
}

/** Until the time is over, a signal is aborted or the function given to `wakeable` is called. */
function sleep(
  ms: number,
  signals: readonly AbortSignal[],
  wakeable: (wake: () => void) => void,
): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) signal.addEventListener("abort", done, { once: true });
    wakeable(done);
  });
}
