// A semaphore: at most `size` operations run at the same time; others wait in order, up to a time limit. Used for the
// pool's connections, for webhook outcomes, and by the API for work that holds a connection while it waits.

export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** The operation waited too long for the semaphore: the process is overloaded, or a backend does not respond. */
export class BusyError extends Error {
  override name = "BusyError";
}

/** Makes a semaphore. Work that waits for more than `maxWaitMs` is not run; its promise rejects with BusyError. */
export function makeSemaphore(size: number, maxWaitMs: number): Semaphore {
  let running = 0;
  const waiting: (() => void)[] = [];
  const acquire = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(new BusyError(`timed out after ${maxWaitMs} ms: all ${size} slots of the semaphore are busy`));
      }, maxWaitMs);
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(start);
    });
  return async (work) => {
    if (running >= size) await acquire();
    else running += 1;
    try {
      return await work();
    } finally {
      // Hands the slot directly to the next waiter, so that a new caller cannot take it in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
