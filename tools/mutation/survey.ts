// Which test files reach which mutants, and what the nearest of them say about one. Called by main.ts.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repoDir } from "../cache.ts";
import { fitInto, rankTests } from "../testing/related.ts";
import type { Folder } from "./folders.ts";
import type { Mutant } from "./mutants.ts";
import type { Order } from "./runner.ts";
import type { TestCopy } from "./test-copy.ts";

/** A test file without a mutant. */
export interface Surveyed {
  /** Of the file's text. */
  readonly hash: string;
  readonly seconds: number;
  /** Stryker's numbers of the mutants that it reaches; none when it fails by itself or is of another project. */
  readonly reached: readonly string[];
}
export type Survey = ReadonlyMap<string, Surveyed>;

export interface Verdict {
  /** "unclear": the test that failed also fails without the mutant, as on a busy machine. */
  readonly state: "killed" | "hung" | "survived" | "not reached" | "unclear";
  /** The test file that noticed the mutant. */
  readonly by?: string;
}

const say = (text: string) => void process.stdout.write(`${text}\n`);
export const hashOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Runs each test file of a folder once; `kept` are results for files that may not have changed since. */
export async function surveyTests(
  folder: Folder,
  copies: readonly TestCopy[],
  kept: Survey,
): Promise<Map<string, Surveyed>> {
  const queue = globSync([...folder.tests], { cwd: repoDir }).sort();
  const found = new Map<string, Surveyed>();
  const work = async (copy: TestCopy) => {
    for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
      const hash = hashOf(readFileSync(join(repoDir, test), "utf8"));
      const old = kept.get(test);
      if (old?.hash === hash) {
        found.set(test, old);
        continue;
      }
      const [answer] = (await copy.run({ active: "", tests: [test], survey: true }, 600)) ?? [];
      const isUsable = answer !== undefined && !answer.failed;
      if (!isUsable && answer?.reached.length !== 0)
        say(`left out: ${test} fails without a mutant: ${answer?.errors[0] ?? "it did not end"}`);
      found.set(test, { hash, seconds: answer?.seconds ?? 0, reached: isUsable ? answer.reached : [] });
    }
  };
  await Promise.all(copies.map(work));
  return found;
}

/** Runs the tests that reach a mutant, the nearest first, until one fails. */
export async function judge(
  copy: TestCopy,
  mutant: Mutant,
  folder: Folder,
  survey: Survey,
  dependents: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Verdict> {
  const { id, file, text } = mutant;
  const reaching = [...survey].filter(([, { reached }]) =>
    id === undefined ? reached.length > 0 : reached.includes(id),
  );
  const seconds = Object.fromEntries(reaching.map(([test, one]) => [test, one.seconds]));
  const ranked = rankTests([file], Object.keys(seconds), dependents, seconds);
  const { chosen } = fitInto(folder.budgetSeconds, ranked);
  if (chosen.length === 0) return { state: "not reached" };
  const order: Order = {
    active: text === undefined ? (id ?? "") : "",
    tests: chosen.map((one) => one.file),
    survey: false,
    ...(text === undefined ? {} : { replace: { file, text } }),
  };
  // Generous, so that slowness on a busy machine is not taken for an endless loop; the probe stops endless loops.
  const limit = 300 + 20 * chosen.reduce((sum, one) => sum + one.seconds, 0);
  const failed = await firstFailure(copy, order, limit);
  if (failed === undefined || failed === "hung") return { state: failed ?? "survived" };
  // A test with servers can fail on a busy machine: it has noticed the mutant if it passes without it right afterwards.
  if (
    folder.projects.includes("real") &&
    (await firstFailure(copy, { active: "", tests: [failed], survey: false }, limit))
  )
    return { state: "unclear", by: failed };
  return { state: "killed", by: failed };
}

async function firstFailure(copy: TestCopy, order: Order, limit: number): Promise<string | undefined> {
  const answers = await copy.run(order, limit);
  return answers === undefined ? "hung" : answers.find(({ failed }) => failed)?.test;
}
