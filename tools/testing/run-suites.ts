// Runs suites in lanes, shows how far they are, and prints the summary. Called by tools/test.ts, tools/trials.ts and tools/compat.ts.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { repoDir } from "../cache.ts";
import { add, closingLine } from "./report.ts";
import { type SuiteResult, type SuiteRun, startSuite } from "./run-suite.ts";
import type { Suite } from "./suites.ts";
import { timingTable } from "./timing-table.ts";
import { keepTimings } from "./timings.ts";

const say = (text: string) => void process.stdout.write(`${text}\n`);

/** Those that were asked for; ends the process with code 2 when a name is unknown. */
export function pick<T extends { readonly name: string }>(all: readonly T[], names: readonly string[]): T[] {
  const unknown = names.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(", ");
    process.stderr.write(`there is no ${unknown.join(", ")}; there are ${known}\n`);
    process.exit(2);
  }
  return all.filter(({ name }) => names.length === 0 || names.includes(name));
}

/**
 * Runs the groups of lanes one after the other, the lanes of a group side by side, the suites of a lane in turn. Of "waiting"
 * and "computing", the lane that finishes first runs the suites of "either". Ends with the closing line and sets the exit
 * code. Logs and reports stay in .plosive/<folder>.
 */
export async function runSuites(
  suites: readonly Suite[],
  options: { lanes: readonly (readonly string[])[]; folder: string; seed: number; env?: NodeJS.ProcessEnv },
): Promise<void> {
  const folder = join(repoDir, ".plosive", options.folder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const env = { ...options.env, PLOSIVE_TEST_SEED: String(options.seed) };
  const started = Date.now();
  const minutes = () => ((Date.now() - started) / 60_000).toFixed(1);
  const running = new Map<string, SuiteRun>();
  const results: SuiteResult[] = [];
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      for (const run of running.values()) run.end();
      process.exit(130);
    });
  }
  const runOne = async (suite: Suite) => {
    say(`━━━ ${suite.name} begins: ${suite.title}`);
    const run = startSuite(suite, folder, env);
    running.set(suite.name, run);
    const result = await run.result;
    running.delete(suite.name);
    results.push(result);
    const rule = "━".repeat(Math.max(3, 90 - suite.name.length - suite.title.length));
    say(`\n━━━ ${suite.name}: ${suite.title} ${rule}`);
    if (existsSync(run.log)) process.stdout.write(readFileSync(run.log));
    say(`─── ${suite.name}: ${closingLine(result.outcome)} in ${result.seconds.toFixed(0)} s\n`);
  };
  const progress = setInterval(() => {
    for (const [name, { log }] of running) say(`    ${minutes()} min  ${name.padEnd(9)} ${lastLine(log)}`);
  }, 60_000);
  const takesOthers = ["waiting", "computing"];
  const either = suites.filter((one) => one.lane === "either");
  for (const group of options.lanes) {
    await Promise.all(
      group.map(async (lane) => {
        for (const suite of suites.filter((one) => one.lane === lane)) await runOne(suite);
        while (takesOthers.includes(lane) && either.length > 0) await runOne(either.shift()!);
      }),
    );
  }
  clearInterval(progress);

  const total = add(results.map(({ outcome }) => outcome));
  keepTimings(total.files ?? []);
  say(`━━━ Summary\n${timingTable(results)}`);
  for (const [title, names] of [
    ["Failed", total.failed],
    ["Skipped", total.skipped],
  ] as const) {
    if (names.length > 0) say(`\n${title}:\n${names.map((name) => `  ${name}`).join("\n")}`);
  }
  say(`\nall suites in ${minutes()} min; PLOSIVE_TEST_SEED=${options.seed} repeats the random trials`);
  say(closingLine(total));
  process.exitCode = total.failed.length > 0 ? 1 : 0;
}

function lastLine(log: string): string {
  const lines = stripVTControlCharacters(readFileSync(log, "utf8")).trimEnd().split("\n");
  return lines.at(-1)?.trim().slice(0, 120) ?? "";
}
