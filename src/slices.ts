// Long work that lets other work in between. Used by src/db/driver, src/api and controllers/runtime.
import { setImmediate } from "node:timers/promises";

/** A hundred rows of 60 KB would otherwise stop the event loop for 60 ms. */
const sliceMs = 4;

/**
 * Returns a function to call between pieces of work. After 4 ms it returns a promise that resolves when the event loop has done its
 * other work. Loops that share the function share the 4 ms.
 */
export function makeSlices(): () => Promise<void> | undefined {
  let begun = performance.now();
  let others: Promise<void> | undefined;
  return () => {
    if (others === undefined && performance.now() - begun >= sliceMs) {
      others = setImmediate().then(() => {
        begun = performance.now();
        others = undefined;
      });
    }
    return others;
  };
}

/** Maps all items in order. After each 4 ms of it the event loop goes on with other work. */
export async function inSlices<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  const nextSlice = makeSlices();
  for (const item of items) {
    results.push(map(item));
    const others = nextSlice();
    if (others !== undefined) await others;
  }
  return results;
}
