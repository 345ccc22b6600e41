// The size of random and long trials. `make test` runs a slice that the commit determines (vitest.config.ts), so
// that a failure is reproducible; `make trials` sets PLOSIVE_TRIALS=full and draws a new seed. Called by test files.

export const isFull = process.env.PLOSIVE_TRIALS === "full";

/** The seed of all random choices of a trial. PLOSIVE_TEST_SEED repeats a run. */
export const seed = Number(process.env.PLOSIVE_TEST_SEED ?? 1);

/** The number of rounds: `slice` in `make test`, `full` in `make trials`. */
export const rounds = ({ slice, full }: { slice: number; full: number }): number => (isFull ? full : slice);

/** The next of the points 0, 1, 2, ... to try: all of them, or every `step`-th, starting where the seed says. */
export function nextPoint(step: number, last?: number): number {
  if (isFull) return last === undefined ? 0 : last + 1;
  return last === undefined ? seed % step : last + step;
}

/** All cases, or `count` of them, which depend on the seed. */
export function sliceOf<T>(cases: readonly T[], count: number): T[] {
  if (isFull) return [...cases];
  return cases.filter((_, i) => (i + cases.length - (seed % cases.length)) % cases.length < count);
}
