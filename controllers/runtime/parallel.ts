// Several pieces of work at once, so many and no more. Used by the sweeps.

/** Begins them in order, `atOnce` at a time. Begins no more once one of them rejects, and then rejects with its error. */
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
