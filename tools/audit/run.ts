// Runs the programs that `make audit` is made of. Tells a source that cannot be reached ("not checked") from a program
// that failed (the audit fails). Called by the steps of tools/audit.
import { spawnSync } from "node:child_process";
import { repoDir } from "../cache.ts";

export interface Step {
  /** What was checked, for the step's line. */
  readonly checked: string;
  readonly findings: readonly string[];
  /** Why some or all of it was not checked: the step has not passed. */
  readonly unreachable?: string | undefined;
}

/** The source of a step (a registry, a database of advisories) did not answer. */
export class Unreachable extends Error {}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Itself if the exit code is 0; otherwise throws what the program wrote to stderr. */
  orThrow(): Outcome;
}

export function run(
  command: string,
  args: readonly string[],
  { cwd = repoDir, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Outcome {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  const outcome = {
    code: status,
    stdout,
    stderr,
    orThrow() {
      if (status !== 0) throw failure(`${command} ${args.join(" ")}`, stderr);
      return outcome;
    },
  };
  return outcome;
}

const network = new RegExp(
  [
    "no such host|name resolution|name or service not known|network is unreachable|timed out|i/o timeout",
    "connection (refused|reset)|failed to establish a new connection",
    "ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT",
    "403 Forbidden|405 Method Not Allowed|429 Too Many Requests|HTTP error \\d+",
    "50[0-4] (Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)",
  ].join("|"),
  "i",
);

/** The error to throw for a program that ended with `text` instead of a report. */
export function failure(command: string, text: string): Error {
  const reason = network.exec(text)?.[0];
  if (reason !== undefined) return new Unreachable(reason);
  return new Error(`${command} failed: ${text.trim().split("\n").slice(-5).join("\n")}`);
}

/** Calls `check` for each item. An item whose source cannot be reached hides nothing that is found in the others. */
export function each<T, R>(
  items: readonly T[],
  check: (item: T) => R,
): { results: R[]; unreachable?: string } {
  const results: R[] = [];
  const reasons: string[] = [];
  for (const item of items) {
    try {
      results.push(check(item));
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      reasons.push(error.message);
    }
  }
  return reasons.length === 0
    ? { results }
    : { results, unreachable: `${reasons.length} of ${items.length}: ${reasons[0]}` };
}
