// Reads of the API with a memory: a page that was seen shows at once what it knew, and reads it again. Events of the
// stream make it read again too.
import { effect, type Signal, signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { onEvents, type ServiceEvent } from "./live.ts";
import { state } from "./session.ts";

interface Entry {
  readonly data: Signal<unknown>;
  readonly error: Signal<unknown>;
  readonly isLoading: Signal<boolean>;
  readAt: number;
  /** Number of the newest read: an older answer that comes late is dropped. */
  turn: number;
  /** One of each component that shows the entry. */
  readonly reloads: Set<() => Promise<void>>;
}

export interface Resource<T> {
  readonly data: T | undefined;
  /** Why the last read failed. `data` may still be there, from a read before. */
  readonly error: unknown;
  readonly isLoading: boolean;
  /** The data belong to another key, for example to the page of the list before. */
  readonly isOther: boolean;
  /** The same function as long as the key is the same. */
  readonly reload: () => Promise<void>;
}

const entries = new Map<string, Entry>();
const mostEntries = 150;
/** A younger answer is not read again when its page is opened. */
const freshMs = 3_000;
/** Events come in bursts; a resource is read at most this often because of them. */
const liveEveryMs = 2_000;

function entryOf(key: string): Entry {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const oldest = [...entries].find(([, { reloads }]) => reloads.size === 0)?.[0];
  if (entries.size >= mostEntries && oldest !== undefined) entries.delete(oldest);
  const entry: Entry = {
    data: signal(undefined),
    error: signal(undefined),
    isLoading: signal(false),
    readAt: 0,
    turn: 0,
    reloads: new Set(),
  };
  entries.set(key, entry);
  return entry;
}

async function read(entry: Entry, load: () => Promise<unknown>): Promise<void> {
  const turn = ++entry.turn;
  entry.isLoading.value = true;
  try {
    const data = await load();
    if (turn !== entry.turn) return;
    entry.data.value = data;
    entry.error.value = undefined;
    entry.readAt = Date.now();
  } catch (error) {
    if (turn === entry.turn) entry.error.value = error;
  }
  if (turn === entry.turn) entry.isLoading.value = false;
}

/**
 * `key` names what `load` reads. `live` says which events change it.
 */
export function useResource<T>(
  key: string,
  load: () => Promise<T>,
  live?: (event: ServiceEvent) => boolean,
): Resource<T> {
  const entry = entryOf(key);
  // Of this entry alone: a timer or an event of the key before must not put the data of the present key into its entry.
  const { latest, reload } = useMemo(() => {
    const own = { load, live };
    return { latest: own, reload: () => read(entry, () => own.load()) };
  }, [entry]);
  Object.assign(latest, { load, live });
  useEffect(() => {
    entry.reloads.add(reload);
    if (Date.now() - entry.readAt > freshMs && !entry.isLoading.peek()) void reload();
    const soon = throttled(() => {
      // A read that takes long comes to its end, however many events there are.
      if (entry.isLoading.peek()) soon.run();
      else void reload();
    }, liveEveryMs);
    const stop = onEvents((event) => {
      if (latest.live?.(event) === true) soon.run();
    }, soon.run);
    return () => {
      stop();
      soon.cancel();
      entry.reloads.delete(reload);
    };
  }, [entry]);
  const before = useRef<unknown>(undefined);
  const own = entry.data.value;
  if (own !== undefined) before.current = own;
  return {
    data: (own ?? before.current) as T | undefined,
    error: entry.error.value,
    isLoading: entry.isLoading.value || (own === undefined && entry.error.value === undefined),
    isOther: own === undefined && before.current !== undefined,
    reload,
  };
}

/** After a change: reads again what is shown, and forgets the age of the rest, of all keys that begin with `prefix`. */
export async function refresh(prefix: string): Promise<void> {
  const concerned = [...entries].filter(([key]) => key.startsWith(prefix)).map(([, entry]) => entry);
  for (const entry of concerned) {
    entry.readAt = 0;
    // What is being read may be from before the change.
    entry.turn += 1;
    entry.isLoading.value = false;
  }
  await Promise.all(concerned.map(({ reloads: [reload] }) => reload?.()));
}

/** What failed because the session had ended is read again after the next sign-in. */
let wasSignedOut = false;
effect(() => {
  const { is } = state.value;
  if (is === "signed-in" && wasSignedOut) void refresh("");
  wasSignedOut = is === "signed-out";
});

/** Sets what a resource is known to be, from the answer to a change. */
export function know(key: string, data: unknown): void {
  const entry = entryOf(key);
  entry.turn++;
  entry.data.value = data;
  entry.error.value = undefined;
  entry.isLoading.value = false;
  entry.readAt = Date.now();
}

/** Runs at once, then at most once per interval, and not while nobody sees the page: it runs when the page is seen again. */
function throttled(work: () => void, everyMs: number): { run: () => void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  let isWanted = false;
  const go = () => {
    timer = undefined;
    if (!isWanted || document.hidden) return;
    isWanted = false;
    last = Date.now();
    work();
  };
  const run = () => {
    isWanted = true;
    timer ??= setTimeout(go, Math.max(50, last + everyMs - Date.now()));
  };
  document.addEventListener("visibilitychange", go);
  return {
    run,
    cancel: () => {
      isWanted = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", go);
    },
  };
}
