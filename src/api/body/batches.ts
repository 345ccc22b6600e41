// A list that a worker thread has read, serialized in batches: the event loop takes it over one batch at a time. A thousand
// labels with many small objects in their extra data would otherwise stop it for 80 ms. Made by documents.ts, used by the routes
// of annotations.
import { setImmediate } from "node:timers/promises";
import { deserialize, serialize } from "node:v8";

export interface Batches<T> {
  readonly batches: readonly Uint8Array[];
  /** Never there; the type of the items. */
  readonly item?: T;
}

/** Taking over a batch takes two milliseconds at most. */
const batchSize = 25;

export function toBatches<T>(items: readonly T[]): Batches<T> {
  const batches: Uint8Array[] = [];
  for (let i = 0; i < items.length; i += batchSize) batches.push(serialize(items.slice(i, i + batchSize)));
  return { batches };
}

export async function itemsOf<T>({ batches }: Batches<T>): Promise<T[]> {
  const items: T[] = [];
  for (const batch of batches) {
    if (items.length > 0) await setImmediate();
    items.push(...(deserialize(batch) as T[]));
  }
  return items;
}
