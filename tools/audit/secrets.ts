// Looks for secrets with gitleaks, by the rules and exceptions of .gitleaks.toml. Called by tools/audit/main.ts.
import { z } from "zod";
import { tool } from "../cache.ts";
import { failure, run, type Step } from "./run.ts";

const report = z.array(
  z.object({ RuleID: z.string(), File: z.string(), StartLine: z.number(), Commit: z.string() }),
);

export function secretsInHistory(): Step {
  const git = (...args: string[]) => run("git", args).orThrow().stdout.trim();
  const shallow = git("rev-parse", "--is-shallow-repository") === "true";
  return {
    checked: `${git("rev-list", "--count", "HEAD")} commits`,
    findings: gitleaks("git", "--log-opts=--full-history HEAD"),
    unreachable: shallow ? "this clone is shallow: git fetch --unshallow" : undefined,
  };
}

/** Also files that are not committed yet. */
export const secretsInTree = (): Step => ({
  checked: "all files of the work tree",
  findings: gitleaks("dir"),
});

function gitleaks(...what: string[]): string[] {
  const options = ["--no-banner", "--log-level=error", "--redact", "--report-format=json", "--report-path=-"];
  const { code, stdout, stderr } = run(tool("gitleaks"), [...what, ...options, "."]);
  // 1 is "secrets found", and also any error.
  if ((code !== 0 && code !== 1) || stdout.trim() === "") throw failure("gitleaks", stderr);
  return report
    .parse(JSON.parse(stdout))
    .map(({ RuleID, File, StartLine, Commit }) => `${File}:${StartLine} ${RuleID} ${Commit}`.trim());
}
