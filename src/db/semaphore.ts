// Lets at most `size` pieces of work run at once; the others wait in order, but not for ever. Used for the connections
// of the pool, and by the API for work that holds one while it waits for something else.

export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

/** Its turn did not come in time: everything is busy, or what it waits for is away. */
export class BusyError extends Error {
  override name = "BusyError";
}

/** Work that has waited `maxWaitMs` for its turn rejects with BusyError and is not run. */
export function makeLimit(size: number, maxWaitMs: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  const turn = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(new BusyError(`waited ${maxWaitMs} ms in vain for one of ${size} places`));
      }, maxWaitMs);
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(start);
    });
  return async (work) => {
    if (running >= size) await turn();
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line, so that nobody can slip in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
