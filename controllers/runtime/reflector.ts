// Keeps a store equal to the API server: a paged list, then watches with bookmarks from where the list ended, for ever.
// A broken watch goes on from its last position; only a position that is too old (410) costs a new list.
// One per resource type, started by controllers/caches.ts on every replica.
import type { Kube } from "../../src/kube/client.ts";
import { isExpired, KubeError } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import { pause } from "./pause.ts";
import type { Store } from "./store.ts";

export type ReflectorOptions<T extends KubeObject> = {
  kube: Kube;
  type: ResourceType<T>;
  namespace: string;
  labelSelector?: string;
  store: Store<T>;
  log: Log;
  random: () => number;
  /** A page is in memory three times over: of 50,000 pods one of 500 costs 60 MiB more at the peak, and saves no time. */
  pageSize?: number;
  /** Longest wait between two tries. */
  maxBackoffMs?: number;
  inactivityMs?: number;
  /** Shortest life of a watch; the longest is twice that. */
  watchSeconds?: number;
};

export type Reflector = {
  /** Resolves after the first complete list. */
  synced: Promise<void>;
  isSynced(): boolean;
  relists(): number;
  /** When the API server last sent anything for this type, in ms since 1970. */
  lastEventAt(): number;
  stop(): Promise<void>;
};

/** Starts listing and watching at once. */
export function startReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { kube, type, namespace, labelSelector, store, log, random } = options;
  const { pageSize = 200, maxBackoffMs = 8_000, inactivityMs = 100_000, watchSeconds = 240 } = options;
  const stop = new AbortController();
  const { promise: synced, resolve: setSynced } = Promise.withResolvers<void>();
  let isSynced = false;
  let relists = 0;
  let lastEventAt = 0;
  let version: string | undefined;

  const list = async (): Promise<string> => {
    const items: T[] = [];
    let next: string | undefined;
    for (;;) {
      const page = await kube.list(type, namespace, {
        labelSelector,
        limit: pageSize,
        continue: next,
        signal: stop.signal,
      });
      for (const item of page.items) items.push(store.trim(item));
      next = page.metadata.continue;
      if (next) continue;
      store.replace(items);
      relists++;
      lastEventAt = Date.now();
      return page.metadata.resourceVersion ?? "0";
    }
  };

  const watch = async (from: string): Promise<void> => {
    await kube.watch(type, namespace, {
      labelSelector,
      resourceVersion: from,
      // Random, so that the watches of all replicas do not end together.
      timeoutSeconds: watchSeconds + Math.floor(random() * watchSeconds),
      inactivityMs,
      signal: stop.signal,
      onEvent: ({ type: what, object }) => {
        lastEventAt = Date.now();
        version = object.metadata.resourceVersion ?? version;
        if (what === "BOOKMARK") return;
        if (what === "DELETED") store.delete(object);
        else store.set(object);
      },
    });
  };

  const loop = async () => {
    let failures = 0;
    while (!stop.signal.aborted) {
      const began = Date.now();
      try {
        version ??= await list();
        if (!isSynced) {
          isSynced = true;
          setSynced();
        }
        await watch(version);
        failures = 0;
        // A server that ends watches at once must not be asked in a tight loop.
        if (Date.now() - began < 1_000) await pause(500 + 500 * random(), stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (isExpired(error)) version = undefined;
        failures = Date.now() - began > 10_000 ? 1 : failures + 1;
        const backoffMs = Math.min(maxBackoffMs, 250 * 2 ** failures) * (0.5 + random() / 2);
        const waitMs = Math.max(backoffMs, askedFor(error));
        const words = { plural: type.plural, err: message(error), waitMs: Math.round(waitMs) };
        log.warn(words, "could not list or watch; trying again");
        await pause(waitMs, stop.signal);
      }
    }
  };
  const running = loop();

  return {
    synced,
    isSynced: () => isSynced,
    relists: () => relists,
    lastEventAt: () => lastEventAt,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** How long the API server wants to be left alone. */
const askedFor = (error: unknown) =>
  error instanceof KubeError ? Math.min(60, error.retryAfterSeconds ?? 0) * 1_000 : 0;
const message = (error: unknown) => (error instanceof Error ? error.message : String(error));
