// A fetch that retries where it is safe. Requests that can be repeated without effect are retried while the service
// does not respond, starts or stops. Requests that were refused are retried when the service says so. Used by
// client.ts.

/** Methods that can be repeated even if the service has already processed the interrupted request. */
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
    // fetch puts the reason (ECONNREFUSED, a timeout) into `cause`.
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const words = reason instanceof Error ? reason.message : String(reason);
    return new Error(`${request.method} ${request.url} got no response: ${words}`, { cause: error });
  }
}

/** Returns the milliseconds until the next attempt; undefined for no further attempt. */
function pauseBefore(answer: Response | Error, repeatable: boolean): number | undefined {
  if (answer instanceof Error) return repeatable ? 1_000 : undefined;
  const retryAfter = answer.headers.get("Retry-After");
  // The service did not process a rate-limited request, so any method may be repeated. Without Retry-After, a quota is
  // used up, and waiting does not help.
  if (answer.status === 429) return retryAfter === null ? undefined : inMs(retryAfter);
  if (answer.status === 409 && retryAfter !== null && repeatable) return inMs(retryAfter);
  if (answer.status === 502 || answer.status === 503) return repeatable ? inMs(retryAfter) : undefined;
  return undefined;
}

function inMs(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 1);
  return Math.min(longestPauseMs, Math.max(200, Number.isFinite(seconds) ? seconds * 1000 : 1000));
}

/** Waits. Ends early if the caller aborts; the next attempt then fails with the caller's reason. */
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
