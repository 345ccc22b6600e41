// The workqueue of a controller. A key is in it at most once, is never processed twice at the same time, and is retried
// with exponential backoff while it fails. Keys have one of four priorities; weighted round-robin orders them, so that
// none starves. Filled by store changes and timers; emptied by controller.ts.

export type WorkqueueOptions = {
  baseBackoffMs?: number;
  maxBackoffMs?: number;
  random: () => number;
};

/** Receives counts for metrics. `seconds` is the waiting time in taken() and the processing time in done(). */
export type WorkqueueObserver = {
  added(): void;
  taken(seconds: number): void;
  done(seconds: number): void;
  retried(): void;
};

/** Highest first: new objects, whose creators wait for them; events; keys that failed; keys that were added with a delay. */
const priorities = ["new", "event", "retry", "delayed"] as const;
export type Priority = (typeof priorities)[number];
/** The round-robin schedule. If no key has the priority of a turn, a key of the highest priority takes it. */
const turns: readonly Priority[] = [
  "new",
  "new",
  "event",
  "new",
  "new",
  "event",
  "new",
  "retry",
  "event",
  "delayed",
];

export class Workqueue {
  /** Each key with the time at which it was added. */
  readonly #ready: Record<Priority, Map<string, number>> = {
    new: new Map(),
    event: new Map(),
    retry: new Map(),
    delayed: new Map(),
  };
  /** Keys in progress, with their start time. */
  readonly #busy = new Map<string, number>();
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
    this.#options = { baseBackoffMs: 200, maxBackoffMs: 30_000, ...options };
  }

  /** Number of keys that are ready, without delayed ones. */
  get depth(): number {
    return priorities.reduce((sum, priority) => sum + this.#ready[priority].size, 0);
  }

  /** Processing time of each key in progress, in seconds. */
  workSeconds(): number[] {
    const now = performance.now();
    return [...this.#busy.values()].map((since) => (now - since) / 1000);
  }

  observe(observer: WorkqueueObserver): void {
    this.#observer = observer;
  }

  /** Adds a key, or raises the priority of one that waits already. */
  add(key: string, priority: Priority = "event"): void {
    if (this.#closed || this.#again.has(key)) return;
    const present = priorities.find((each) => this.#ready[each].has(key));
    if (present !== undefined) {
      if (priorities.indexOf(priority) < priorities.indexOf(present)) this.#move(key, present, priority);
      return;
    }
    const now = performance.now();
    this.#observer?.added();
    if (this.#busy.has(key)) {
      this.#again.set(key, now);
      return;
    }
    this.#ready[priority].set(key, now);
    this.#serve();
  }

  #move(key: string, from: Priority, to: Priority): void {
    const since = this.#ready[from].get(key) ?? performance.now();
    this.#ready[from].delete(key);
    this.#ready[to].set(key, since);
  }

  /** Adds the key after `ms`. The earliest of several delays of one key counts. */
  addAfter(key: string, ms: number, priority: Priority = "delayed"): void {
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
        this.add(key, priority);
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
    this.addAfter(key, ms, "retry");
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
    const began = this.#busy.get(key);
    if (began !== undefined) this.#observer?.done((performance.now() - began) / 1000);
    this.#busy.delete(key);
    const since = this.#again.get(key);
    this.#again.delete(key);
    if (this.#closed) return;
    if (since !== undefined) this.#ready.event.set(key, since);
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
      const waiting = priorities.filter((priority) => this.#ready[priority].size > 0);
      if (waiting.length === 0) return;
      this.#turn = (this.#turn + 1) % turns.length;
      const turn = turns[this.#turn]!;
      this.#takers.shift()!(this.#begin(waiting.includes(turn) ? turn : waiting[0]!));
    }
  }

  /** The oldest key of the priority. */
  #begin(priority: Priority): string {
    const [key, since] = this.#ready[priority].entries().next().value!;
    this.#ready[priority].delete(key);
    const now = performance.now();
    // This reconcile covers the delayed one too, and requests a new delay if it needs one.
    clearTimeout(this.#timers.get(key)?.timer);
    this.#timers.delete(key);
    this.#busy.set(key, now);
    this.#observer?.taken((now - since) / 1000);
    return key;
  }
}
