// Tests of one file that build on each other: a test that needs a failed test is skipped and names it, instead of
// failing for a second reason. Called by the end-to-end tests.
import { test } from "vitest";

export interface Step {
  readonly name: string;
  isDone: boolean;
}

/** A test that needs the results of these earlier tests; later ones may need it in turn. */
export function step(name: string, needed: readonly Step[], run: () => Promise<void>): Step {
  const made: Step = { name, isDone: false };
  test(name, async ({ skip }) => {
    const missing = needed.find(({ isDone }) => !isDone);
    // The run has failed already: the missing step failed, or was skipped because another one failed.
    if (missing !== undefined) skip(`it builds on "${missing.name}", which did not succeed`);
    await run();
    made.isDone = true;
  });
  return made;
}
