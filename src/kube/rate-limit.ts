// A rate limiter (token bucket: requests per second, with a burst). Protects the API server from loops in our own code.
// Called by transport.ts before each request.
import { setTimeout as pause } from "node:timers/promises";

export type RateLimit = { take(signal?: AbortSignal): Promise<void> };

/**
 * `take` resolves when the request may be sent: immediately while tokens are left. Rejects with the signal's reason once that is
 * aborted, and leaves the token to others.
 */
export function makeRateLimit(options: { perSecond: number; burst: number }): RateLimit {
  let tokens = options.burst;
  let at = performance.now();
  return {
    async take(signal) {
      const now = performance.now();
      tokens = Math.min(options.burst, tokens + ((now - at) / 1000) * options.perSecond);
      at = now;
      // The bucket may go negative: each caller waits for its own token, so callers are served in order of arrival.
      tokens -= 1;
      if (tokens >= 0) return;
      const waitMs = (-tokens / options.perSecond) * 1000;
      await pause(waitMs, undefined, { signal }).catch(() => {
        tokens += 1;
        throw signal?.reason;
      });
    },
  };
}
