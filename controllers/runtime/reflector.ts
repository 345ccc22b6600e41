// Keeps a store in sync with the API server: a watch that begins with all present objects (WatchList), then watches with
// bookmarks from the last resource version, for ever. API servers that do not offer WatchList are listed in pages first. A broken
// watch resumes from its last resource version; only an expired version (410) requires a new list. One per resource type,
// started by controllers/caches.ts on every replica.
import { isEndOfPresent, type Kube } from "../../src/kube/client.ts";
import { isExpired, isInvalid, KubeError } from "../../src/kube/errors.ts";
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

  /** Stores all objects, as they were at resource version `at`. */
  const storeAll = (objects: ReadonlyMap<string, T>, at: string | undefined) => {
    store.replace(objects);
    relists++;
    lastEventAt = Date.now();
    version = at;
    isSynced = true;
    setSynced();
  };

  const listPages = async (): Promise<void> => {
    const objects = new Map<string, T>();
    for (let next: string | undefined; ; ) {
      const page = await kube.list(type, namespace, {
        labelSelector,
        limit: pageSize,
        continue: next,
        signal: stop.signal,
      });
      for (const item of page.items) objects.set(item.metadata.name, store.trim(item));
      next = page.metadata.continue;
      if (!next) return storeAll(objects, page.metadata.resourceVersion ?? "0");
    }
  };

  /** Without a version, the watch brings all present objects first. */
  const watch = async (): Promise<void> => {
    let present: Map<string, T> | undefined = version === undefined ? new Map() : undefined;
    await kube.watch(type, namespace, {
      labelSelector,
      resourceVersion: version,
      // Randomized, so that the watches of all replicas do not end at the same time.
      timeoutSeconds: watchSeconds + Math.floor(random() * watchSeconds),
      inactivityMs,
      signal: stop.signal,
      onEvent: (event) => {
        const { type: what, object } = event;
        const { name, resourceVersion } = object.metadata;
        lastEventAt = Date.now();
        if (present === undefined) version = resourceVersion ?? version;
        if (what === "DELETED") {
          present?.delete(name);
          store.delete(object);
        } else if (what !== "BOOKMARK") {
          if (present === undefined) store.set(object);
          else present.set(name, store.trim(object));
        } else if (present !== undefined && isEndOfPresent(event)) {
          storeAll(present, resourceVersion);
          present = undefined;
        }
      },
    });
    if (present !== undefined)
      throw new KubeError(`the watch of ${type.plural} ended before it had sent all objects`, {
        status: 0,
        reason: "Unreachable",
      });
  };

  const loop = async () => {
    let failures = 0;
    let inPages = false;
    while (!stop.signal.aborted) {
      const began = Date.now();
      const isListing = version === undefined;
      const asPages = inPages;
      inPages = false;
      try {
        if (isListing && asPages) await listPages();
        await watch();
        failures = 0;
        // Prevents a tight loop when the server ends watches at once.
        if (Date.now() - began < 1_000) await pause(500 + 500 * random(), stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (isListing && !asPages && version === undefined) {
          const isRefused = isInvalid(error);
          // Not after a single quick failure, such as 429 while the API server starts: pages take much longer.
          inPages = isRefused || failures > 0 || Date.now() - began > 10_000;
          if (isRefused) continue;
        }
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
