// Runs one suite: its commands one after the other, their output in a log file, processes that they leave running ended and
// counted as failures. Called by run-suites.ts.
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileCache, repoDir } from "../cache.ts";
import { type CpuMeter, makeCpuMeter } from "./cpu-meter.ts";
import { endProcessesWith, processesWith } from "./leftovers.ts";
import { add, type Outcome } from "./report.ts";
import type { Command, Suite } from "./suites.ts";

export interface SuiteResult {
  readonly suite: Suite;
  readonly outcome: Outcome;
  readonly seconds: number;
  /** Processor seconds; undefined where they cannot be measured. */
  readonly cpuSeconds: number | undefined;
}

/** Every process of a suite inherits this variable, also servers that detach themselves. */
const markName = "PLOSIVE_TEST_SUITE";

export interface SuiteRun {
  readonly log: string;
  readonly result: Promise<SuiteResult>;
  /** Ends all its processes at once. */
  end(): void;
}

/** Starts a suite. Log and report are written to `folder`; `env` is added to the environment of its commands. */
export function startSuite(suite: Suite, folder: string, env: NodeJS.ProcessEnv): SuiteRun {
  const mark = `${suite.name}-${process.pid}-${Date.now()}`;
  const log = join(folder, `${suite.name}.log`);
  const end = () => void endProcessesWith(markName, mark);
  const started = Date.now();
  const meter = makeCpuMeter(mark);
  const runAll = async (): Promise<SuiteResult> => {
    const deadline = started + suite.limitMinutes * 60_000;
    const reportFile = join(folder, `${suite.name}.report`);
    const outcomes: Outcome[] = [];
    const output = openSync(log, "w");
    for (const command of suite.commands(reportFile)) {
      const limitMs = Math.max(0, deadline - Date.now());
      const environment = {
        ...process.env,
        NODE_COMPILE_CACHE: compileCache,
        ...env,
        ...command.env,
        [markName]: mark,
      };
      const { exitCode, trouble } = await run(command, meter, output, environment, limitMs, end);
      const read = command.read(readIfThere(reportFile), exitCode);
      outcomes.push(trouble === undefined ? read : { ...read, failed: [...read.failed, trouble] });
      const left = await endLeftovers(mark);
      if (left.length > 0)
        outcomes.push({ passed: 0, failed: [`left running: ${left.join("; ")}`], skipped: [] });
    }
    closeSync(output);
    if (outcomes.length === 0)
      outcomes.push({ passed: 0, failed: ["the suite has no commands"], skipped: [] });
    const all = add(outcomes);
    const outcome = { ...all, failed: all.failed.map((name) => `[${suite.name}] ${name}`) };
    const cpuSeconds = meter.seconds();
    meter.close();
    return { suite, outcome, seconds: (Date.now() - started) / 1000, cpuSeconds };
  };
  return { log, result: runAll(), end };
}

/** In a session of its own, so that Ctrl-C reaches run-suites.ts alone, which then ends everything. */
function run(
  { argv, quiet = false }: Command,
  meter: CpuMeter,
  output: number,
  env: NodeJS.ProcessEnv,
  limitMs: number,
  end: () => void,
): Promise<{ exitCode: number | null; trouble?: string }> {
  return new Promise((resolve) => {
    const [program = "", ...args] = meter.wrap(argv);
    const stdio = ["ignore", quiet ? "ignore" : output, output] as const;
    const child = spawn(program, args, { cwd: repoDir, stdio: [...stdio], env, detached: true });
    let trouble: string | undefined;
    const timer = setTimeout(() => {
      const silent = ((Date.now() - fstatSync(output).mtimeMs) / 1000).toFixed(0);
      const minutes = (limitMs / 60_000).toFixed(0);
      trouble = `ended after ${minutes} min, the limit of the suite, ${silent} s after its last output: ${argv.join(" ")}`;
      end();
    }, limitMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      trouble = `${argv[0]} cannot be started: ${error.message}. Run \`make deps tools\` first.`;
      resolve({ exitCode: 127, trouble });
    });
    child.once("exit", (exitCode) => {
      clearTimeout(timer);
      resolve({ exitCode, trouble });
    });
  });
}

/** Gives processes five seconds to end by themselves, then ends and names those that are left. */
async function endLeftovers(mark: string): Promise<string[]> {
  const deadline = Date.now() + 5_000;
  while (processesWith(markName, mark).length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return endProcessesWith(markName, mark).map(({ pid, command }) => `${command.slice(0, 120)} (${pid})`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
