// The workqueue of a controller. A key is in it at most once, is never processed twice at the same time, and is retried
// with exponential backoff while it fails. It has four lanes, in order of priority: new objects, events, retries and
// delayed keys; weighted round-robin prevents starvation of the lower ones. Filled by store changes and timers; emptied
// by controller.ts.

export type WorkqueueOptions = {
  baseBackoffMs?: number;
  maxBackoffMs?: number;
  random: () => number;
  /** Most keys of a lane that are processed at the same time. Default: the number of workers. */
  atOnce?: Partial<Record<Lane, number>>;
};

/** Receives counts for metrics. `seconds` is the waiting time in taken() and the processing time in done(). */
export type WorkqueueObserver = {
  added(): void;
  taken(seconds: number): void;
  done(seconds: number): void;
  retried(): void;
};

type Lane = "first" | "next" | "retry" | "later";
/** Lanes by priority. */
const lanes: readonly Lane[] = ["first", "next", "retry", "later"];
/**
 * The round-robin schedule. When the lane of a turn is empty or at its limit, the first other lane by priority takes
 * it.
 */
const turns: readonly Lane[] = [
  "first",
  "first",
  "next",
  "first",
  "first",
  "next",
  "first",
  "retry",
  "next",
  "later",
];

export class Workqueue {
  /** Each key with the time at which it was added. */
  readonly #lanes: Record<Lane, Map<string, number>> = {
    first: new Map(),
    next: new Map(),
    retry: new Map(),
    later: new Map(),
  };
  /** Keys in progress, with their lane and start time. */
  readonly #busy = new Map<string, { lane: Lane; since: number }>();
  /** Keys that were added again while in progress, with the time of that. */
  readonly #again = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #options: Required<WorkqueueOptions>;
  #closed = false;
  #turn = 0;
  #observer: WorkqueueObserver | undefined;

  constructor(options: WorkqueueOptions) {
    this.#options = { baseBackoffMs: 200, maxBackoffMs: 30_000, atOnce: {}, ...options };
  }

  /** Number of keys that are ready, without delayed ones. */
  get depth(): number {
    return lanes.reduce((sum, lane) => sum + this.#lanes[lane].size, 0);
  }

  /** Processing time of each key in progress, in seconds. */
  workSeconds(): number[] {
    const now = performance.now();
    return [...this.#busy.values()].map(({ since }) => (now - since) / 1000);
  }

  observe(observer: WorkqueueObserver): void {
    this.#observer = observer;
  }

  add(key: string): void {
    this.#add(key, "next");
  }

  /** Adds a key to the lane of new objects, whose creators wait for them. */
  addFirst(key: string): void {
    this.#add(key, "first");
  }

  #add(key: string, lane: Lane): void {
    if (this.#closed || this.#again.has(key)) return;
    const present = lanes.find((each) => this.#lanes[each].has(key));
    if (present !== undefined) {
      if (lanes.indexOf(lane) < lanes.indexOf(present)) this.#move(key, present, lane);
      return;
    }
    const now = performance.now();
    this.#observer?.added();
    if (this.#busy.has(key)) {
      this.#again.set(key, now);
      return;
    }
    this.#lanes[lane].set(key, now);
    this.#serve();
  }

  #move(key: string, from: Lane, to: Lane): void {
    const since = this.#lanes[from].get(key) ?? performance.now();
    this.#lanes[from].delete(key);
    this.#lanes[to].set(key, since);
  }

  /** Adds the key after `ms`. The earliest of several delays of one key counts. */
  addAfter(key: string, ms: number): void {
    this.#addAfter(key, ms, "later");
  }

  #addAfter(key: string, ms: number, lane: Lane): void {
    if (this.#closed) return;
    const at = performance.now() + ms;
    const present = this.#timers.get(key);
    if (present !== undefined) {
      if (present.at <= at) return;
      clearTimeout(present.timer);
    }
    // Node's timers hold at most 24.8 days.
    const timer = setTimeout(
      () => {
        this.#timers.delete(key);
        this.#add(key, lane);
      },
      Math.min(ms, 2_000_000_000),
    );
    this.#timers.set(key, { at, timer });
  }

  /** Adds the key after a backoff that grows with its consecutive failures. Returns the backoff in ms. */
  addAfterFailure(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseBackoffMs, maxBackoffMs, random } = this.#options;
    const ms = Math.min(maxBackoffMs, baseBackoffMs * 2 ** Math.min(failures, 30)) * (0.5 + random() / 2);
    this.#observer?.retried();
    this.#addAfter(key, ms, "retry");
    return ms;
  }

  /** Resets the key's failure count after a success. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Waits for the next key. Resolves with undefined once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  /** Ends the processing of a key that take() returned. */
  done(key: string): void {
    const began = this.#busy.get(key)?.since;
    if (began !== undefined) this.#observer?.done((performance.now() - began) / 1000);
    this.#busy.delete(key);
    const since = this.#again.get(key);
    this.#again.delete(key);
    if (this.#closed) return;
    if (since !== undefined) this.#lanes.next.set(key, since);
    this.#serve();
  }

  /** Closes the queue: take() returns no more keys. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  /** Hands ready keys to waiting takers. */
  #serve(): void {
    while (this.#takers.length > 0) {
      const open = lanes.filter((lane) => this.#lanes[lane].size > 0 && this.#hasRoom(lane));
      if (open.length === 0) return;
      this.#turn = (this.#turn + 1) % turns.length;
      const turn = turns[this.#turn]!;
      this.#takers.shift()!(this.#begin(open.includes(turn) ? turn : open[0]!));
    }
  }

  #hasRoom(lane: Lane): boolean {
    const most = this.#options.atOnce[lane] ?? Number.POSITIVE_INFINITY;
    return [...this.#busy.values()].filter((work) => work.lane === lane).length < most;
  }

  /** The oldest key of the lane. */
  #begin(lane: Lane): string {
    const [key, since] = this.#lanes[lane].entries().next().value!;
    this.#lanes[lane].delete(key);
    const now = performance.now();
    // This reconcile covers the delayed one too, and requests a new delay if it needs one.
    clearTimeout(this.#timers.get(key)?.timer);
    this.#timers.delete(key);
    this.#busy.set(key, { lane, since: now });
    this.#observer?.taken((now - since) / 1000);
    return key;
  }
}
