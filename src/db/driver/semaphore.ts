// Semaphores with a time limit for waiting. Used for the pool's connections, for webhook outcomes, and by the API for what is
// scarce in a process.

export interface Semaphore {
  /** Runs `work` while it holds one unit. */
  <T>(work: () => Promise<T>): Promise<T>;
  /** Waits for units, and returns the function that releases them. */
  acquire(units?: number): Promise<() => void>;
}

/** The operation waited too long for the semaphore: the process is overloaded, or a backend does not respond. */
export class BusyError extends Error {
  override name = "BusyError";
}

/**
 * Makes a semaphore of `size` units. Operations wait in order. One that waits for more than `maxWaitMs` is not run; its
 * promise rejects with `timedOut()`.
 */
export function makeSemaphore(
  size: number,
  maxWaitMs: number,
  timedOut: () => Error = () =>
    new BusyError(`timed out after ${maxWaitMs} ms: all ${size} units of the semaphore are in use`),
): Semaphore {
  let free = size;
  const queue = new Set<{ readonly units: number; readonly begin: () => void }>();
  const take = (units: number) => {
    free -= units;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      free += units;
      serve();
    };
  };
  /** Nothing overtakes the first in the queue, or an operation that needs many units would never have them. */
  const serve = () => {
    for (const waiter of queue) {
      if (waiter.units > free) return;
      queue.delete(waiter);
      waiter.begin();
    }
  };
  const acquire = async (units = 1) => {
    if (queue.size === 0 && units <= free) return take(units);
    return await new Promise<() => void>((resolve, reject) => {
      const waiter = {
        units,
        begin: () => {
          clearTimeout(timer);
          resolve(take(units));
        },
      };
      const timer = setTimeout(() => {
        queue.delete(waiter);
        reject(timedOut());
        serve();
      }, maxWaitMs);
      queue.add(waiter);
    });
  };
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    const release = await acquire();
    try {
      return await work();
    } finally {
      release();
    }
  };
  return Object.assign(run, { acquire });
}

/** Acquires one after the other, and returns the function that releases both. */
export async function acquireBoth(
  first: () => Promise<() => void>,
  second: () => Promise<() => void>,
): Promise<() => void> {
  const releaseFirst = await first();
  try {
    const releaseSecond = await second();
    return () => {
      releaseSecond();
      releaseFirst();
    };
  } catch (error) {
    releaseFirst();
    throw error;
  }
}

/** Waits for units of the semaphore of one key, for example of one tenant, and returns the function that releases them. */
export type KeyedSemaphore = (key: string, units?: number) => Promise<() => void>;

/** Operations that hold or wait for the semaphore of one key. Further ones are rejected at once. */
const maxOperations = 500;

/** Makes the semaphore of a key when it is needed, and forgets it when nothing holds or waits for it. */
export function makeKeyedSemaphore(size: number, maxWaitMs: number, timedOut: () => Error): KeyedSemaphore {
  const known = new Map<string, { operations: number; readonly semaphore: Semaphore }>();
  return async (key, units) => {
    const entry = known.get(key) ?? { operations: 0, semaphore: makeSemaphore(size, maxWaitMs, timedOut) };
    if (entry.operations >= maxOperations) throw timedOut();
    known.set(key, entry);
    entry.operations += 1;
    const leave = () => {
      entry.operations -= 1;
      if (entry.operations === 0) known.delete(key);
    };
    try {
      const release = await entry.semaphore.acquire(units);
      return () => {
        release();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  };
}
