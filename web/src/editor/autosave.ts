// Saves the regions of one file by themselves. It compares what is shown with what the service has, sends the difference
// with If-Match, and tries again until the service has all of it. It knows no network: `steps` does the work. Called by
// document.ts.
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import {
  type Base,
  type Choice,
  type Conflict,
  countOps,
  decided,
  type Merged,
  merge,
  opsOf,
  type RegionMap,
  type Saved,
} from "./merge.ts";
import { type Region, type Regions, regionsOf } from "./region.ts";

/** What a failure means. */
export type Verdict =
  /** Try again later. */
  | { readonly is: "retry"; readonly reason: string }
  /** Others have changed the set: read it, merge, and go on. */
  | { readonly is: "read" }
  /** Wait until something outside has changed, such as the session. */
  | { readonly is: "wait"; readonly reason: string }
  /** The service will never accept it. */
  | { readonly is: "refused"; readonly reason: string }
  /** These of the regions that were sent are refused, by their index, and the others are not. */
  | { readonly is: "faulty"; readonly faults: readonly { readonly at: number; readonly reason: string }[] };

export interface Steps {
  /** Returns the ids in the order of the regions, and the set's new ETag; likewise the others. */
  create(regions: readonly Region[], etag: string): Promise<{ ids: readonly string[]; etag: string }>;
  change(changes: readonly Saved[], etag: string): Promise<{ etag: string }>;
  remove(ids: readonly string[], etag: string): Promise<{ etag: string }>;
  read(): Promise<{ theirs: readonly Saved[]; etag: string }>;
  judge(error: unknown): Verdict;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export type SavingState =
  | { readonly is: "saved" | "saving" | "waiting" }
  | { readonly is: "retrying" | "paused" | "refused"; readonly reason: string }
  | { readonly is: "conflict" };

export interface Autosave {
  readonly regions: ReadonlySignal<Regions>;
  readonly state: ReadonlySignal<SavingState>;
  readonly conflicts: ReadonlySignal<readonly Conflict[]>;
  /** Why the service refuses a region as it is. */
  readonly faults: ReadonlySignal<ReadonlyMap<string, string>>;
  /** How many changes are not saved. */
  readonly unsaved: ReadonlySignal<number>;
  /** What to keep over a reload. */
  snapshot(): { base: Base; regions: RegionMap; sent: RegionMap };
  set(regions: RegionMap): void;
  /** Saves now, or tries again now. */
  flush(): void;
  /** Gives up what is not saved. */
  revert(): void;
  decide(choiceOf: (conflict: Conflict) => Choice, newKey: () => string): void;
  stop(): void;
}

/** Changes of this time are saved together: the service limits the changes of an account per minute. */
const soonMs = 1_500;
const mostAtOnce = 500;
const retryAfterMs = [1_000, 2_000, 5_000, 15_000, 30_000];

export interface Start extends Pick<Merged, "base" | "regions" | "conflicts" | "disputed"> {
  readonly etag: string;
}

export function makeAutosave(
  start: Start,
  steps: Steps,
  on: { changed(): void; others(count: number): void },
): Autosave {
  let { base, etag, disputed } = start;
  let current: RegionMap = start.regions;
  let sent: RegionMap = new Map();
  let failures = 0;
  /** Readings of what others have done since the last success. */
  let readings = 0;
  let isRunning = false;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: AbortController | undefined;
  const regions = signal(regionsOf(current.values()));
  const state: Signal<SavingState> = signal({ is: "saved" });
  const conflicts: Signal<readonly Conflict[]> = signal(start.conflicts);
  const faults: Signal<ReadonlyMap<string, string>> = signal(new Map());
  const version = signal(0);
  const unsaved = computed(() => {
    version.value;
    return countOps(opsOf(base, current));
  });

  const show = (next: RegionMap) => {
    current = next;
    regions.value = regionsOf(next.values());
    noted();
  };
  const noted = () => {
    version.value++;
    on.changed();
  };

  /** What can be sent: without the regions that are refused as they are. */
  const sendable = () => {
    const ops = opsOf(base, current);
    const isFine = (key: string) => !faults.peek().has(key);
    return {
      deletes: ops.deletes.slice(0, mostAtOnce),
      changes: ops.changes.filter(({ region }) => isFine(region.key)).slice(0, mostAtOnce),
      creates: ops.creates.filter(({ key }) => isFine(key)).slice(0, mostAtOnce),
    };
  };

  const join = (found: { theirs: readonly Saved[]; etag: string }) => {
    const merged = merge(base, current, found.theirs, sent);
    base = merged.base;
    etag = found.etag;
    sent = new Map();
    disputed = merged.disputed;
    conflicts.value = merged.conflicts;
    show(merged.regions);
    if (merged.othersChanged > 0) on.others(merged.othersChanged);
  };

  async function send(ops: ReturnType<typeof sendable>): Promise<void> {
    const next = new Map(base);
    if (ops.deletes.length > 0) {
      const { deletes } = ops;
      ({ etag } = await steps.remove(
        deletes.map(({ id }) => id),
        etag,
      ));
      for (const { region } of deletes) next.delete(region.key);
    } else if (ops.changes.length > 0) {
      ({ etag } = await steps.change(ops.changes, etag));
      for (const saved of ops.changes) next.set(saved.region.key, saved);
    } else {
      const { creates } = ops;
      sent = new Map(creates.map((region) => [region.key, region]));
      on.changed();
      const answer = await steps.create(creates, etag);
      etag = answer.etag;
      sent = new Map();
      for (const [i, region] of creates.entries()) next.set(region.key, { id: answer.ids[i] ?? "", region });
    }
    base = next;
    noted();
  }

  /** Returns whether to go on. */
  async function afterFailure(error: unknown, tried: ReturnType<typeof sendable>): Promise<boolean> {
    const verdict = steps.judge(error);
    if (verdict.is === "read") {
      if (readings++ > 0) {
        state.value = { is: "retrying", reason: "the service has another version of the labels" };
        await pauseFor(readings - 2);
        if (isStopped) return false;
      }
      join(await steps.read());
      return true;
    }
    if (verdict.is === "faulty") {
      const regions = tried.changes.length > 0 ? tried.changes.map(({ region }) => region) : tried.creates;
      const next = new Map(faults.peek());
      for (const { at, reason } of verdict.faults) {
        const region = regions[at];
        // One that was corrected meanwhile is sent anew.
        if (region !== undefined && current.get(region.key) === region) next.set(region.key, reason);
      }
      const isNews =
        next.size > faults.peek().size || regions.some((region) => current.get(region.key) !== region);
      faults.value = next;
      sent = new Map();
      if (isNews) return true;
      state.value = { is: "refused", reason: "the service refuses the labels" };
      return false;
    }
    if (verdict.is === "retry") {
      state.value = { is: "retrying", reason: verdict.reason };
      await pauseFor(failures++);
      return true;
    }
    state.value = { is: verdict.is === "wait" ? "paused" : "refused", reason: verdict.reason };
    return false;
  }

  /** Waits before try number `n` of several, from 0. */
  async function pauseFor(n: number): Promise<void> {
    waiting = new AbortController();
    const [last = 0] = retryAfterMs.slice(-1);
    await steps.pause(retryAfterMs[n] ?? last, waiting.signal);
  }

  async function run(): Promise<void> {
    if (isRunning || isStopped) return;
    isRunning = true;
    try {
      while (!isStopped) {
        if (conflicts.peek().length > 0) {
          state.value = { is: "conflict" };
          return;
        }
        const ops = sendable();
        if (countOps(ops) === 0) {
          state.value =
            faults.peek().size > 0
              ? { is: "refused", reason: "the service refuses the marked labels as they are" }
              : { is: "saved" };
          return;
        }
        if (state.peek().is !== "retrying") state.value = { is: "saving" };
        try {
          // A request had no answer: the service may have added what it carried.
          if (sent.size > 0) join(await steps.read());
          else {
            await send(ops);
            readings = 0;
          }
          failures = 0;
          state.value = { is: "saving" };
        } catch (thrown) {
          let error = thrown;
          for (;;) {
            try {
              if (!(await afterFailure(error, ops))) return;
              break;
            } catch (again) {
              // Reading what others have done may fail too.
              error = again;
            }
          }
        }
      }
    } finally {
      isRunning = false;
    }
  }

  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void run();
    }, soonMs);
  };

  if (unsaved.peek() > 0) soon();
  if (start.conflicts.length > 0) state.value = { is: "conflict" };

  return {
    regions,
    state,
    conflicts,
    faults,
    unsaved,
    snapshot: () => ({ base: new Map([...base, ...disputed]), regions: current, sent }),
    set(next) {
      const fine = new Map([...faults.peek()].filter(([key]) => next.get(key) === current.get(key)));
      if (fine.size !== faults.peek().size) faults.value = fine;
      show(next);
      if (state.peek().is === "saved") state.value = { is: "waiting" };
      soon();
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      waiting?.abort();
      // What the service refused may be right by now: a type that was added again.
      faults.value = new Map();
      void run();
    },
    revert() {
      conflicts.value = [];
      disputed = new Map();
      faults.value = new Map();
      sent = new Map();
      state.value = { is: "saved" };
      show(new Map([...base].map(([key, { region }]) => [key, region])));
    },
    decide(choiceOf, newKey) {
      const open = conflicts.peek();
      conflicts.value = [];
      disputed = new Map();
      show(decided(current, open, choiceOf, newKey));
      void run();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      waiting?.abort();
    },
  };
}
