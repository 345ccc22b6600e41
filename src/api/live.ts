// Lets event streams (event-stream.ts) and long polls (wait.ts) wait for notifications of the database. Made by app.ts.
// The process has one listening connection. A notification only wakes the waiting requests, which then query the
// database.
import { Gauge, type Registry } from "prom-client";
import type { Channel, Listener } from "../db/driver/listen.ts";
import { BusyError, makeKeyedSemaphore, makeSemaphore } from "../db/driver/semaphore.ts";

/** A subscription: a channel, and the payload that wakes the subscriber. */
export type Topic = `${Channel} ${string}`;

/** Open a watch before the first query, so that no notification is lost between a query and the wait after it. */
export interface Watch {
  /**
   * Resolves with the topics notified since the last call. Waits until there are any, at most `ms` milliseconds, or
   * until `signal` is aborted or the process ends.
   */
  next(ms: number, signal: AbortSignal): Promise<ReadonlySet<Topic>>;
  close(): void;
}

export interface Live {
  watch(topics: readonly Topic[]): Watch;
  readonly timing: LiveTiming;
  /**
   * Runs a query of a waiting request. One of each tenant runs at a time, and all together leave connections of the pool for
   * the other requests. After a result that is not the last one, the tenant's next query begins once as much time has passed
   * again as this one took.
   */
  withReadSlot<T>(tenantId: string, query: () => Promise<T>, isLast?: (result: T) => boolean): Promise<T>;
  /** Whether the process is ending, so that event streams and long polls must end. */
  isEnding(): boolean;
  /**
   * Takes one of a tenant's `most` slots for streams or waits in this process, and returns the function that releases
   * it; null if no slot is free.
   */
  acquire(tenantId: string, what: "stream" | "wait", most: number): (() => void) | null;
  /** Ends all waits, now and in future. */
  end(): void;
}

export interface LiveTiming {
  /**
   * Interval of keep-alive comments in a stream, by which proxies keep the connection open and clients detect a dead
   * one. It is also the interval at which the API key of a waiting request is checked again.
   */
  readonly beatMs: number;
  /** A stream whose reader takes nothing for this long is closed. The client may reconnect with its Last-Event-ID. */
  readonly stallMs: number;
  /** How long a stream continues while the database is unavailable, so that its key cannot be checked. */
  readonly trustMs: number;
  /** Delay after which a client may reconnect when its stream has ended. */
  readonly retryMs: number;
}

const defaultTiming: LiveTiming = { beatMs: 15_000, stallMs: 60_000, trustMs: 60_000, retryMs: 2_000 };

const maxReadWaitMs = 30_000;
const ownReadsAreSlow = `timed out after ${maxReadWaitMs} ms: the tenant's other waiting requests are reading`;

const channels: readonly Channel[] = ["plosive_events", "plosive_jobs", "plosive_keys"];

interface LiveDeps {
  readonly listener: Listener;
  readonly registry: Registry;
  readonly timing?: Partial<LiveTiming>;
  /** Maximum number of database connections that all waiting requests together may use. */
  readonly connections: number;
}

export function makeLive({ listener, registry, timing = {}, connections }: LiveDeps): Live {
  const waiting = new Gauge({
    name: "plosive_waiting_requests",
    help: "Requests that wait for notifications: event streams (stream) and long polls (wait)",
    labelNames: ["what"],
    registers: [registry],
  });
  for (const what of ["stream", "wait"]) waiting.set({ what }, 0);
  const watches = new Map<Topic, Set<(topic: Topic) => void>>();
  const taken = new Map<string, number>();
  const ending = new AbortController();
  // The tenant's slot first: a query may wait for the tenant's share of connections while it holds one of the common slots.
  const tenantSlots = makeKeyedSemaphore(1, maxReadWaitMs, () => new BusyError(ownReadsAreSlow));
  const slots = makeSemaphore(connections, maxReadWaitMs);
  let listening = false;

  const listen = () => {
    if (listening) return;
    listening = true;
    for (const channel of channels) {
      listener.on(channel, (payload) => {
        // Null: the connection was lost, and notifications may have been lost with it. All subscribers are woken.
        const topics = payload === null ? topicsOf(channel) : [`${channel} ${payload}` as Topic];
        for (const topic of topics) for (const notify of watches.get(topic) ?? []) notify(topic);
      });
    }
  };
  const topicsOf = (channel: Channel) =>
    [...watches.keys()].filter((topic) => topic.startsWith(`${channel} `));

  const watch = (topics: readonly Topic[]): Watch => {
    listen();
    let notified = new Set<Topic>();
    let wake = () => {};
    const notify = (topic: Topic) => {
      notified.add(topic);
      wake();
    };
    for (const topic of topics) watches.set(topic, (watches.get(topic) ?? new Set()).add(notify));
    return {
      next: async (ms, signal) => {
        if (notified.size === 0) await sleep(ms, [signal, ending.signal], (woken) => (wake = woken));
        const topicsNow = notified;
        notified = new Set();
        return topicsNow;
      },
      close: () => {
        for (const topic of topics) {
          const subscribers = watches.get(topic);
          subscribers?.delete(notify);
          if (subscribers?.size === 0) watches.delete(topic);
        }
      },
    };
  };

  return {
    watch,
    timing: { ...defaultTiming, ...timing },
    withReadSlot: async (tenantId, query, isLast = () => true) => {
      const release = await tenantSlots(tenantId);
      let restMs = 0;
      try {
        return await slots(async () => {
          const begun = performance.now();
          const result = await query();
          if (!isLast(result)) restMs = performance.now() - begun;
          return result;
        });
      } finally {
        if (restMs > 0) setTimeout(release, restMs).unref();
        else release();
      }
    },
    isEnding: () => ending.signal.aborted,
    acquire: (tenantId, what, most) => {
      const key = `${what} ${tenantId}`;
      const used = taken.get(key) ?? 0;
      if (used >= most) return null;
      taken.set(key, used + 1);
      waiting.inc({ what });
      let released = false;
      return () => {
        if (released) return;
        released = true;
        waiting.dec({ what });
        const rest = (taken.get(key) ?? 1) - 1;
        if (rest === 0) taken.delete(key);
        else taken.set(key, rest);
      };
    },
    end: () => ending.abort(),
  };
}

/** Resolves after `ms`, when a signal is aborted, or when the function that `wakeable` receives is called. */
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
