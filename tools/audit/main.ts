// `make audit`: secrets in the history and in the work tree, known vulnerabilities of what is pinned, licenses of what
// is shipped. One line a step. Exit code 1 on findings; with --strict also when a step could not reach its source.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repoDir } from "../cache.ts";
import { goAdvisories, npmAdvisories, pythonAdvisories } from "./advisories.ts";
import { policy } from "./allowed.ts";
import { licenseFindings, licensesDocument } from "./licenses.ts";
import { each, type Step } from "./run.ts";
import { secretsInHistory, secretsInTree } from "./secrets.ts";
import { sources } from "./shipped.ts";

const { values } = parseArgs({ options: { strict: { type: "boolean", default: false } } });
const say = (line: string) => process.stdout.write(`${line}\n`);

const steps: readonly [name: string, source: string, step: () => Step][] = [
  ["secrets in the history", "the whole history", secretsInHistory],
  ["secrets in the tree", "the tree", secretsInTree],
  ["npm advisories", "the advisory service", npmAdvisories],
  ["Python advisories", "the advisory service", pythonAdvisories],
  ["Go advisories", "the vulnerability database", goAdvisories],
  ["licenses", "the package index", licenses],
];

let failed = 0;
const unchecked: string[] = [];
for (const [name, source, step] of steps) {
  const title = name.padEnd(24);
  try {
    const { checked, findings, unreachable } = step();
    const result = findings.length > 0 ? `findings (${findings.length})` : "passed";
    if (unreachable === undefined) say(`${title}${result}: ${checked}`);
    else say(`${title}not checked: ${source} cannot be reached (${unreachable}). Checked: ${checked}`);
    for (const finding of findings) say(`  ${finding}`);
    if (findings.length > 0) failed++;
    if (unreachable !== undefined) unchecked.push(name);
  } catch (error) {
    say(`${title}failed: ${error instanceof Error ? error.message : String(error)}`);
    failed++;
  }
}
say(`\naudit: ${steps.length} steps, ${failed} with findings or errors, ${unchecked.length} not checked`);
if (unchecked.length > 0) say(`audit: could not reach the source of: ${unchecked.join(", ")}`);
process.exitCode = failed > 0 || (values.strict && unchecked.length > 0) ? 1 : 0;

function licenses(): Step {
  const { results: shipped, unreachable } = each(sources, ({ title, packages }) => ({
    title,
    packages: packages(),
  }));
  const packages = shipped.flatMap((part) => part.packages);
  const findings = licenseFindings(packages, policy);
  const file = join(repoDir, "docs/licenses.md");
  const document = licensesDocument(shipped, policy);
  // A table of only the packages whose index answered would be wrong.
  if (unreachable === undefined && (!existsSync(file) || readFileSync(file, "utf8") !== document)) {
    writeFileSync(file, document);
    findings.push("docs/licenses.md was not up to date. It is now: commit it");
  }
  return { checked: `${packages.length} packages that we ship`, findings, unreachable };
}
