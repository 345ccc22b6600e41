// Lets at most `size` pieces of work run at once; the others wait in order. Used where work holds a connection.

export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

export function makeLimit(size: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= size) await new Promise<void>((resolve) => waiting.push(resolve));
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
