// A fetch that tries again where that is safe: while nothing answers or the service is starting or stopping, for calls
// that do nothing twice; and when the service says when to try again. Used by client.ts.

/** Calls that may have been carried out already when they broke off, and can be sent again all the same. */
const safe = ["GET", "HEAD"];
const longestPauseMs = 30_000;

export function makeRetryingFetch({
  retryForMs,
  timeoutMs,
}: {
  retryForMs: number;
  timeoutMs: number;
}): (request: Request) => Promise<Response> {
  return async (request) => {
    const deadline = Date.now() + retryForMs;
    const repeatable = safe.includes(request.method) || request.headers.has("Idempotency-Key");
    for (;;) {
      const answer = await tryOnce(request, timeoutMs);
      const waitMs = pauseBefore(answer, repeatable);
      if (waitMs === undefined || Date.now() + waitMs > deadline || request.signal.aborted) {
        if (answer instanceof Error) throw answer;
        return answer;
      }
      if (!(answer instanceof Error)) await answer.body?.cancel();
      await pause(waitMs, request.signal);
    }
  };
}

async function tryOnce(request: Request, timeoutMs: number): Promise<Response | Error> {
  try {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    return await fetch(request.clone(), { signal });
  } catch (error) {
    // fetch hides the reason (ECONNREFUSED, a timeout) in `cause`.
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const words = reason instanceof Error ? reason.message : String(reason);
    return new Error(`${request.method} ${request.url} got no answer: ${words}`, { cause: error });
  }
}

/** Milliseconds until the next try; undefined when there is to be none. */
function pauseBefore(answer: Response | Error, repeatable: boolean): number | undefined {
  if (answer instanceof Error) return repeatable ? 1_000 : undefined;
  const retryAfter = answer.headers.get("Retry-After");
  // A request that was refused for its rate was not carried out. Without Retry-After a quota is used up.
  if (answer.status === 429) return retryAfter === null ? undefined : inMs(retryAfter);
  if (answer.status === 409 && retryAfter !== null && repeatable) return inMs(retryAfter);
  if (answer.status === 502 || answer.status === 503) return repeatable ? inMs(retryAfter) : undefined;
  return undefined;
}

function inMs(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 1);
  return Math.min(longestPauseMs, Math.max(200, Number.isFinite(seconds) ? seconds * 1000 : 1000));
}

/** Ends early when the caller gives up; the next try then fails with the caller's reason. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
