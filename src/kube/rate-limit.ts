// A token bucket: so many requests a second, with a burst. Protects the API server from our own loops.
// Called by transport.ts before each request.

export type RateLimit = { take(signal?: AbortSignal): Promise<void> };

/** `take` resolves when the request may go; at once while tokens are left. */
export function makeRateLimit(options: { perSecond: number; burst: number }): RateLimit {
  let tokens = options.burst;
  let at = performance.now();
  return {
    async take(signal) {
      const now = performance.now();
      tokens = Math.min(options.burst, tokens + ((now - at) / 1000) * options.perSecond);
      at = now;
      // Debt is allowed and paid by waiting: callers are served in the order in which they came.
      tokens -= 1;
      if (tokens >= 0) return;
      const waitMs = (-tokens / options.perSecond) * 1000;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      signal?.throwIfAborted();
    },
  };
}
