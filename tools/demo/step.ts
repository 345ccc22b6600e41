// A step of the demo: says what it does, measures it, and turns a failure into what was attempted and what to try.
// Called by play.ts.
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
  /** What is attempted and on what, as a heading. */
  readonly title: string;
  /** What the reader can do when it fails. */
  readonly hint: string;
}

/** Returns a function that runs one step after the other under numbered headings. */
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
