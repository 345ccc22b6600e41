// Waits for a condition instead of sleeping. Used by tests on real servers.

/**
 * Calls `probe` until it neither throws nor returns undefined or false. At the deadline it fails with the last error.
 */
export async function poll<T>(
  what: string,
  probe: () => Promise<T> | T,
  timeoutMs = 180_000,
): Promise<Exclude<T, undefined | false | null>> {
  const started = Date.now();
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false && value !== null) {
        return value as Exclude<T, undefined | false | null>;
      }
      last = value;
    } catch (error) {
      last = error;
    }
    const waitedMs = Date.now() - started;
    if (waitedMs > timeoutMs) {
      throw new Error(`timed out after ${timeoutMs / 1000} s waiting for ${what}`, { cause: last });
    }
    // Long waits probe less often, because each probe costs the servers work: at most a twentieth of the wait is lost.
    const pauseMs = Math.min(250, Math.max(50, waitedMs / 20));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
