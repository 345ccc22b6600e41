// The work queue of a controller: a key waits in it at most once, is never worked on twice at the same time, and comes
// back later and later while it keeps failing. Filled by store changes and timers, emptied by controller.ts.

export type QueueOptions = { baseBackoffMs?: number; maxBackoffMs?: number; random: () => number };

export class Queue {
  readonly #waiting = new Set<string>();
  readonly #busy = new Set<string>();
  /** Keys that were added again while they were worked on. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #options: Required<QueueOptions>;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = { baseBackoffMs: 200, maxBackoffMs: 30_000, ...options };
  }

  /** Keys that wait, without those that wait for a time. */
  get depth(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#busy.has(key)) {
      this.#again.add(key);
      return;
    }
    const taker = this.#waiting.has(key) ? undefined : this.#takers.shift();
    if (taker === undefined) {
      this.#waiting.add(key);
      return;
    }
    this.#busy.add(key);
    taker(key);
  }

  /** Adds the key after `ms`; of several such wishes for one key the earliest counts. */
  addAfter(key: string, ms: number): void {
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
        this.add(key);
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
    this.addAfter(key, ms);
    return ms;
  }

  /** The key went well: its next failure counts as the first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key; waits for one. undefined once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      this.#busy.add(key);
      return Promise.resolve(key);
    }
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Ends the work on a key that take() gave. */
  done(key: string): void {
    this.#busy.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  /** Nothing is given out any more. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
