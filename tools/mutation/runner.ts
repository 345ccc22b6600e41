// A process that runs one test file after another in a copy of the repository, with one vitest for all of them, which
// saves its start. The parent (test-copy.ts) sends an Order per mutant and kills the process when a mutant hangs.
// Usage: runner.ts COPY PROJECT[,PROJECT]
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createVitest, type Vitest } from "vitest/node";

export interface Order {
  /** Empty: no mutant. */
  readonly active: string;
  readonly tests: readonly string[];
  /** A file to replace during these tests, for mutants without a switch. */
  readonly replace?: { readonly file: string; readonly text: string };
  /** Whether to go on after a failure and to report the mutants that each file reached. */
  readonly survey: boolean;
}

export interface Answer {
  readonly test: string;
  readonly failed: boolean;
  readonly seconds: number;
  readonly reached: readonly string[];
  readonly errors: readonly string[];
}

const [, , copy = "", projects = ""] = process.argv;
const reachedFile = join(copy, "reached.txt");
const vitest = await createVitest("test", {
  config: join(copy, "vitest.config.ts"),
  root: copy,
  project: projects.split(","),
  watch: false,
  maxWorkers: 1,
  reporters: [{}],
  coverage: { enabled: false },
  onConsoleLog: () => false,
});
for (const one of vitest.projects)
  one.config.setupFiles = [join(copy, "tools/mutation/probe.ts"), ...one.config.setupFiles];

process.on("message", (order: Order) => void run(order));
process.on("disconnect", () => void vitest.close().then(() => process.exit(0)));
process.send?.("ready");

async function run({ active, tests, replace, survey }: Order): Promise<void> {
  const path = replace === undefined ? "" : join(copy, replace.file);
  const before = replace === undefined ? "" : readFileSync(path, "utf8");
  if (replace !== undefined) change(path, replace.text);
  const answers: Answer[] = [];
  try {
    for (const test of tests) {
      answers.push(await runFile(vitest, test, active, survey));
      if (answers.at(-1)?.failed && !survey) break;
    }
  } finally {
    if (replace !== undefined) change(path, before);
  }
  process.send?.(answers);
}

function change(path: string, text: string): void {
  writeFileSync(path, text);
  vitest.invalidateFile(path);
}

async function runFile(ctx: Vitest, test: string, active: string, survey: boolean): Promise<Answer> {
  ctx.state.filesMap.clear();
  ctx.state.errorsSet.clear();
  ctx.provide("activeMutant", active);
  ctx.provide("reachedFile", survey ? reachedFile : "");
  ctx.config.bail = survey ? 0 : 1;
  rmSync(reachedFile, { force: true });
  const began = performance.now();
  const specifications = await ctx.globTestSpecifications([join(copy, test)]);
  const { testModules, unhandledErrors } = await ctx.runTestSpecifications(specifications, false);
  const seconds = (performance.now() - began) / 1000;
  const errors = [
    ...testModules.flatMap((one) => [
      ...one.errors(),
      ...[...one.children.allTests("failed")].flatMap((failed) => failed.result().errors ?? []),
    ]),
    ...unhandledErrors,
  ].map((error) => String((error as Error).message ?? error).slice(0, 200));
  const failed = errors.length > 0 || testModules.length === 0 || testModules.some((one) => !one.ok());
  return { test, failed, seconds, reached: survey ? reachedIds() : [], errors };
}

function reachedIds(): string[] {
  try {
    return [...new Set(readFileSync(reachedFile, "utf8").split(/\s+/))].filter((id) => id !== "");
  } catch {
    return [];
  }
}
