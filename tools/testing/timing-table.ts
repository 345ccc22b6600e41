// The table at the end of `make test`: per suite its tests, wall clock and processor time, then the 20 slowest files. Pure.
// Called by run-suites.ts.
import { closingLine } from "./report.ts";
import type { SuiteResult } from "./run-suite.ts";

const slowest = 20;

export function timingTable(results: readonly SuiteResult[]): string {
  const seconds = (value: number | undefined) => (value === undefined ? "?" : value.toFixed(0)).padStart(7);
  const suites = results.map(
    ({ suite, outcome, seconds: wall, cpuSeconds }) =>
      `${suite.name.padEnd(9)}${closingLine(outcome).padEnd(38)}${seconds(wall)}${seconds(cpuSeconds)}`,
  );
  const files = results
    .flatMap(({ suite, outcome }) => (outcome.files ?? []).map((file) => ({ ...file, suite: suite.name })))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, slowest)
    .map(
      ({ name, seconds: wall, suite }) =>
        `${suite.padEnd(9)}${name.padEnd(70)}${wall.toFixed(0).padStart(5)}`,
    );
  return [
    `${"suite".padEnd(47)}${"wall s".padStart(7)}${"CPU s".padStart(7)}`,
    ...suites,
    ...(files.length === 0 ? [] : [`\nthe ${files.length} slowest files${"s".padStart(68)}`, ...files]),
  ].join("\n");
}
