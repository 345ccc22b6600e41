// The three ways in which a reconcile ends: it is settled (or asks to be looked at later), it failed and is tried
// again with back-off, or it failed in a way that trying again does not change. Used by controller.ts and reconcilers.

export type Outcome = { requeueAfterMs?: number };

/** Nothing more to do until something changes. */
export const settled: Outcome = {};

/** Tried again with back-off; expected now and then, so it is logged as a warning only. */
export class RetryError extends Error {
  override name = "RetryError";
}

/** Not tried again before the object changes. */
export class TerminalError extends Error {
  override name = "TerminalError";
}
