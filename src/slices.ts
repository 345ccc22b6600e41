// Work on long lists that lets other requests in between. Used by src/db/driver and src/api.
import { setImmediate } from "node:timers/promises";

/** A hundred rows of 60 KB would otherwise stop the event loop for 60 ms. */
const sliceMs = 4;

/** Maps all items in order. After each 4 ms of it the event loop goes on with other work. */
export async function inSlices<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  let begun = performance.now();
  for (const item of items) {
    results.push(map(item));
    if (performance.now() - begun < sliceMs) continue;
    await setImmediate();
    begun = performance.now();
  }
  return results;
}
