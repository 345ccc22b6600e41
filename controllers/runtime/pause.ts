// Cancellable sleeps. Used by every loop of the operator.

/** Resolves after `ms`, or at once when the signal is aborted. Never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/**
 * Resolves `ms` after `begun` (performance.now()), when the step before began: slow steps follow each other as often as fast ones. A
 * step that took longer than half of `ms` is followed by a pause of that length all the same.
 */
export const pauseSince = (begun: number, ms: number, signal: AbortSignal): Promise<void> =>
  pause(Math.max(ms / 2, begun + ms - performance.now()), signal);
