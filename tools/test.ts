// `make test`: runs the fast suites first, then the others in two lanes side by side, and ends with one line that counts
// the tests. Usage: tools/test.ts [--only NAME]... Exit code 0 only when nothing failed. Called by make and .ci/run.
// Logs and reports of the last run stay in .plosive/test.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { repoDir } from "./cache.ts";
import { add, closingLine } from "./testing/report.ts";
import { type SuiteResult, type SuiteRun, startSuite } from "./testing/run-suite.ts";
import { commitSeed } from "./testing/seed.ts";
import { lanes, type Suite, suites } from "./testing/suites.ts";
import { timingTable } from "./testing/timing-table.ts";
import { keepTimings } from "./testing/timings.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
const unknown = values.only.filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `tools/test.ts: unknown suite ${unknown.join(", ")}; the suites are ${suites.map((one) => one.name).join(", ")}\n`,
  );
  process.exit(2);
}

const say = (text: string) => process.stdout.write(`${text}\n`);
const folder = join(repoDir, ".plosive", "test");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const started = Date.now();
const env = { PLOSIVE_TEST_SEED: process.env.PLOSIVE_TEST_SEED ?? String(commitSeed()) };
const running = new Map<string, SuiteRun>();
const results: SuiteResult[] = [];

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    for (const run of running.values()) run.end();
    process.exit(130);
  });
}

async function play(suite: Suite): Promise<void> {
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
}

/** Once a minute, the last line that each running suite has written. */
const progress = setInterval(() => {
  const minutes = ((Date.now() - started) / 60_000).toFixed(0);
  for (const [name, { log }] of running) {
    const lines = stripVTControlCharacters(readFileSync(log, "utf8")).trimEnd().split("\n");
    say(`    ${minutes} min  ${name.padEnd(8)} ${lines.at(-1)?.trim().slice(0, 120) ?? ""}`);
  }
}, 60_000);

const wanted = suites.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
for (const group of lanes) {
  await Promise.all(
    group.map(async (lane) => {
      for (const suite of wanted.filter((one) => one.lane === lane)) await play(suite);
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
const minutes = ((Date.now() - started) / 60_000).toFixed(1);
say(`\nall suites in ${minutes} min; random trials with PLOSIVE_TEST_SEED=${env.PLOSIVE_TEST_SEED}`);
say(closingLine(total));
process.exitCode = total.failed.length > 0 ? 1 : 0;
