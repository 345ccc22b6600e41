// `make test`: runs every suite with its output as it comes, and ends with one line that counts the tests.
// Usage: tools/test.ts [--only NAME]... Exit code 0 only when nothing failed. Called by make and .ci/run.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repoDir } from "./cache.ts";
import { endProcessesWith, processesWith } from "./testing/leftovers.ts";
import { add, closingLine, type Outcome } from "./testing/report.ts";
import { type Command, type Suite, suites } from "./testing/suites.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true, default: [] } } });
const unknown = values.only.filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `no suite named ${unknown.join(", ")}; there are ${suites.map((one) => one.name).join(", ")}\n`,
  );
  process.exit(2);
}

const say = (text: string) => process.stdout.write(`${text}\n`);
const reports = mkdtempSync(join(tmpdir(), "plosive-reports-"));
// Everything that a suite starts inherits it, also servers and clusters that detach themselves, and is found by it.
const mark = { name: "PLOSIVE_TEST_RUN", value: `${process.pid}-${Date.now()}` };
const started = Date.now();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    endProcessesWith(mark.name, mark.value);
    rmSync(reports, { recursive: true, force: true });
    process.exit(130);
  });
}

const results: { suite: Suite; outcome: Outcome; seconds: number }[] = [];
for (const suite of suites) {
  if (values.only.length > 0 && !values.only.includes(suite.name)) continue;
  say(
    `\n━━━ ${suite.name}: ${suite.title} ${"━".repeat(Math.max(3, 90 - suite.name.length - suite.title.length))}`,
  );
  const suiteStarted = Date.now();
  const outcome = await runSuite(suite);
  const seconds = (Date.now() - suiteStarted) / 1000;
  results.push({ suite, outcome, seconds });
  say(`─── ${suite.name}: ${closingLine(outcome)} in ${seconds.toFixed(0)} s`);
}
rmSync(reports, { recursive: true, force: true });

const total = add(results.map(({ outcome }) => outcome));
say("\n━━━ Summary");
for (const { suite, outcome, seconds } of results) {
  say(`${suite.name.padEnd(8)} ${closingLine(outcome).padEnd(36)} ${seconds.toFixed(0).padStart(5)} s`);
}
for (const [title, names] of [
  ["Failed", total.failed],
  ["Skipped", total.skipped],
] as const) {
  if (names.length > 0) say(`\n${title}:\n${names.map((name) => `  ${name}`).join("\n")}`);
}
say(`\nall suites in ${((Date.now() - started) / 60_000).toFixed(1)} min`);
say(closingLine(total));
process.exitCode = total.failed.length > 0 ? 1 : 0;

async function runSuite(suite: Suite): Promise<Outcome> {
  const reportFile = join(reports, `${suite.name}.report`);
  const deadline = Date.now() + suite.limitMinutes * 60_000;
  const outcomes: Outcome[] = [];
  for (const command of suite.commands(reportFile)) {
    const exitCode = await run(command, deadline - Date.now());
    outcomes.push(command.read(readIfThere(reportFile), exitCode));
    const left = await endLeftovers();
    if (left.length > 0)
      outcomes.push({ passed: 0, failed: [`left running: ${left.join("; ")}`], skipped: [] });
  }
  if (outcomes.length === 0)
    return { passed: 0, failed: [`${suite.name}: there is nothing to run`], skipped: [] };
  const all = add(outcomes);
  return { ...all, failed: all.failed.map((name) => `[${suite.name}] ${name}`) };
}

/** Its own session, so that Ctrl-C reaches this program alone, which then ends everything. */
function run(
  { argv: [command = "", ...args], env, quiet = false }: Command,
  limitMs: number,
): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: repoDir,
      stdio: ["ignore", quiet ? "ignore" : "inherit", "inherit"],
      env: { ...process.env, ...env, [mark.name]: mark.value },
      detached: true,
    });
    const end = () => {
      say(
        `\ntest: ended after ${(limitMs / 60_000).toFixed(0)} min, its limit: ${command} ${args.join(" ")}`,
      );
      endProcessesWith(mark.name, mark.value);
    };
    const timer = setTimeout(end, Math.max(0, limitMs));
    child.once("error", (error) => {
      clearTimeout(timer);
      say(`test: ${command} cannot be started: ${error.message}. Run \`make deps tools\` first.`);
      resolve(127);
    });
    child.once("exit", (exitCode) => {
      clearTimeout(timer);
      resolve(exitCode);
    });
  });
}

/** What a suite started has to be gone soon after it; what is not is ended and named. */
async function endLeftovers(): Promise<string[]> {
  const deadline = Date.now() + 5_000;
  while (processesWith(mark.name, mark.value).length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return endProcessesWith(mark.name, mark.value).map(
    ({ pid, command }) => `${command.slice(0, 120)} (${pid})`,
  );
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
