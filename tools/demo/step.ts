// A step of the demo: prints its title, measures its duration, and reports a failure with the attempted step and a
// hint. Called by play.ts.
export class StepError extends Error {
  readonly step: string;
  readonly hint: string;
  constructor(step: string, cause: unknown, hint: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.step = step;
    this.hint = hint;
  }
}

export interface StepOptions {
  /** Key of the step in the figures. */
  readonly name: string;
  /** The heading: the action and its object. */
  readonly title: string;
  /** What the user can do if the step fails. */
  readonly hint: string;
}

/** Returns a function that runs a step under a numbered heading, and the durations of all steps. */
export function makeSteps(say: (line: string) => void, total: number, clock: () => number = Date.now) {
  const ms = new Map<string, number>();
  let number = 0;
  async function step<T>({ name, title, hint }: StepOptions, run: () => Promise<T>): Promise<T> {
    number += 1;
    say(`\n[${number}/${total}] ${title}`);
    const started = clock();
    try {
      return await run();
    } catch (error) {
      throw new StepError(title, error, hint);
    } finally {
      ms.set(name, clock() - started);
    }
  }
  return { step, ms };
}
