// The work queue of a controller: a key waits in it at most once, is never worked on twice at the same time, and comes
// back later and later while it keeps failing. New objects come before events and those before what failed or was only
// noted for later, but none of the four ever waits for the end of the others. Filled by store changes and timers, emptied by
// controller.ts.

export type WorkqueueOptions = {
  baseBackoffMs?: number;
  maxBackoffMs?: number;
  random: () => number;
  /** How many keys of a lane may be worked on at the same time; where nothing is said, as many as there are workers. */
  atOnce?: Partial<Record<Lane, number>>;
};

/** Is told what happens to keys; the times are how long they waited and how long they were worked on. */
export type WorkqueueObserver = {
  added(): void;
  taken(seconds: number): void;
  done(seconds: number): void;
  retried(): void;
};

type Lane = "first" | "next" | "retry" | "later";
/** Whose turn it is, over and over; an empty lane leaves its turn to the others in this order. */
const order: readonly Lane[] = ["first", "next", "retry", "later"];
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
  /** Each key that is worked on, with its lane and the time at which the work began. */
  readonly #busy = new Map<string, { lane: Lane; since: number }>();
  /** Keys that were added again while they were worked on, with the time of that. */
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

  /** Keys that wait, without those that wait for a time. */
  get depth(): number {
    return order.reduce((sum, lane) => sum + this.#lanes[lane].size, 0);
  }

  /** How long each of the keys at work has been at work. */
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

  /** Adds a key for which somebody waits. */
  addFirst(key: string): void {
    this.#add(key, "first");
  }

  #add(key: string, lane: Lane): void {
    if (this.#closed || this.#again.has(key)) return;
    const present = order.find((each) => this.#lanes[each].has(key));
    if (present !== undefined) {
      if (order.indexOf(lane) < order.indexOf(present)) this.#move(key, present, lane);
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

  /** Adds the key after `ms`; of several such wishes for one key the earliest counts. */
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

  /** Adds the key after a time that grows with its failures in a row. Returns that time. */
  addAfterFailure(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const { baseBackoffMs, maxBackoffMs, random } = this.#options;
    const ms = Math.min(maxBackoffMs, baseBackoffMs * 2 ** Math.min(failures, 30)) * (0.5 + random() / 2);
    this.#observer?.retried();
    this.#addAfter(key, ms, "retry");
    return ms;
  }

  /** The key went well: its next failure counts as the first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key; waits for one. undefined once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  /** Ends the work on a key that take() gave. */
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

  /** Nothing is given out any more. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  /** Gives to those who wait for a key what may be worked on. */
  #serve(): void {
    while (this.#takers.length > 0) {
      const open = order.filter((lane) => this.#lanes[lane].size > 0 && this.#hasRoom(lane));
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
    // What it was to be looked at for later is seen now; whoever works on it says when again.
    clearTimeout(this.#timers.get(key)?.timer);
    this.#timers.delete(key);
    this.#busy.set(key, { lane, since: now });
    this.#observer?.taken((now - since) / 1000);
    return key;
  }
}
