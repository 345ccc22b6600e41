// Keeps a store in sync with the API server: a paged list, then watches with bookmarks from the list's resource
// version, for ever. A broken watch resumes from its last resource version; only an expired version (410) requires a
// new list. One per resource type, started by controllers/caches.ts on every replica.
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
  /**
   * Objects per page. A page is in memory three times. With 50,000 pods, pages of 500 raise the memory peak by 60 MiB
   * over the default and save no time.
   */
  pageSize?: number;
  /** Upper bound of the backoff between two tries. */
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
      // Randomized, so that the watches of all replicas do not end at the same time.
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
        // Prevents a tight loop when the server ends watches at once.
        if (Date.now() - began < 1_000) await pause(500 + 500 * random(), stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (isExpired(error)) version = undefined;
        failures = Date.now() - began > 10_000 ? 1 : failures + 1;
        const backoffMs = Math.min(maxBackoffMs, 250 * 2 ** failures) * (0.5 + random() / 2);
        const waitMs = Math.max(backoffMs, retryAfterMs(error));
        const details = { plural: type.plural, err: message(error), waitMs: Math.round(waitMs) };
        log.warn(details, "could not list or watch; retrying");
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

/** The Retry-After of the API server in ms, at most 60 s; 0 without one. */
const retryAfterMs = (error: unknown) =>
  error instanceof KubeError ? Math.min(60, error.retryAfterSeconds ?? 0) * 1_000 : 0;
const message = (error: unknown) => (error instanceof Error ? error.message : String(error));
