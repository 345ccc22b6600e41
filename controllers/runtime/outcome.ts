// The outcomes of a reconcile: it is settled or requeued after a time, it fails and is retried with backoff, or it
// fails in a way that a retry does not change. Used by controller.ts and the reconcilers.

export type Outcome = { requeueAfterMs?: number };

/** Nothing more to do until something changes. */
export const settled: Outcome = {};

/** Retried with backoff. Expected now and then, so it is logged at level info only. */
export class RetryError extends Error {
  override name = "RetryError";
}

/** Not retried until the object changes. */
export class TerminalError extends Error {
  override name = "TerminalError";
}
