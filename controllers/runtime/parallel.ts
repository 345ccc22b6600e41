// Runs work on many items with bounded concurrency. Used by the sweeps.

/**
 * Starts work on the items in order, `atOnce` at a time. After the first rejection it starts no more and rejects with
 * that error.
 */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < items.length && !failed) {
      try {
        await work(items[next++]!);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}
