// Ranks test files by their distance to a change, and selects as many as fit into a budget of time. Pure. Called by
// tools/check.ts and tools/mutation/survey.ts.
import { basename, dirname } from "node:path";
import { parents } from "./imports.ts";

export interface Ranked {
  readonly file: string;
  /** Lower is nearer to the change. */
  readonly rank: number;
  readonly seconds: number;
}

/** What a test file that was never timed is expected to take. */
const unknownSeconds = 8;

/**
 * Test files that depend on a changed file, the nearest first: by steps of imports, ahead of others when the names or the
 * folders match (src/api/routes/webhook.ts: test/api/webhooks.test.ts).
 */
export function rankTests(
  changed: readonly string[],
  tests: readonly string[],
  dependents: ReadonlyMap<string, ReadonlySet<string>>,
  timings: Readonly<Record<string, number>>,
): Ranked[] {
  const ranks = new Map<string, number>();
  for (const change of changed) {
    const steps = stepsFrom(change, dependents);
    for (const test of tests) {
      const found = steps.get(test);
      if (found === undefined) continue;
      const rank =
        test === change
          ? -9
          : found - 3 * Number(sharesName(test, change)) - Number(sharesFolder(test, change));
      ranks.set(test, Math.min(rank, ranks.get(test) ?? Number.POSITIVE_INFINITY));
    }
  }
  return [...ranks]
    .map(([file, rank]) => ({ file, rank, seconds: timings[file] ?? unknownSeconds }))
    .sort((a, b) => a.rank - b.rank || a.seconds - b.seconds);
}

/** As many of the nearest as fit, and at least one. */
export function fitInto(
  budgetSeconds: number,
  ranked: readonly Ranked[],
): { chosen: Ranked[]; left: Ranked[] } {
  const chosen: Ranked[] = [];
  const left: Ranked[] = [];
  let used = 0;
  for (const one of ranked) {
    if (chosen.length > 0 && used + one.seconds > budgetSeconds) left.push(one);
    else {
      chosen.push(one);
      used += one.seconds;
    }
  }
  return { chosen, left };
}

/** The file, what needs it, and what names a folder above it; each with its distance. */
function stepsFrom(
  change: string,
  dependents: ReadonlyMap<string, ReadonlySet<string>>,
): Map<string, number> {
  const steps = new Map<string, number>([[change, 0]]);
  for (const folder of parents(change)) steps.set(folder, 1);
  const queue = [...steps.keys()];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const next = (steps.get(file) ?? 0) + 1;
    for (const dependent of dependents.get(file) ?? []) {
      if (steps.has(dependent)) continue;
      steps.set(dependent, next);
      queue.push(dependent);
    }
  }
  return steps;
}

const words = (file: string) =>
  basename(file)
    .replace(/(\.test)?\.\w+$/, "")
    .split(/[-_.]/)
    .filter((word) => word !== "test")
    .map((word) => word.replace(/s$/, ""));

function sharesName(test: string, change: string): boolean {
  const own = words(test);
  return words(change).every((word) => own.includes(word));
}

/** test/api has the tests of src/api, test/controllers those of controllers. */
function sharesFolder(test: string, change: string): boolean {
  const folder = dirname(change)
    .split("/")
    .filter((part) => part !== "src")[0];
  return folder !== undefined && test.split("/")[1] === folder;
}
