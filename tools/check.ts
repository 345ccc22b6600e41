// `make check`: what a developer runs after each edit: linters, types and unit tests of everything. It also runs the tests
// with real servers that are nearest to the changes since a base, within a time budget. It names the related tests that it
// left out.
// Usage: tools/check.ts [--base REV] [--budget SECONDS]. Exit code 0 only when nothing failed.
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cacheDir, repoDir } from "./cache.ts";
import { type Check, chartChecks, pythonFolders, staticChecks } from "./testing/checks.ts";
import { dependentsOf, repositoryFiles } from "./testing/imports.ts";
import { fitInto, type Ranked, rankTests } from "./testing/related.ts";
import { readTimings } from "./testing/timings.ts";

const { values } = parseArgs({
  options: { base: { type: "string", default: "HEAD" }, budget: { type: "string", default: "60" } },
});
const say = (text: string) => void process.stdout.write(`${text}\n`);
const started = Date.now();
const node = process.execPath;
const vitest = [node, join(repoDir, "node_modules/vitest/vitest.mjs"), "run", "--reporter=dot"];
/** Checks at the same time: the smallest machine has two cores. */
const atOnce = 2;

/** These take minutes; only `make test` and `make trials` run them. */
const needsCluster = (file: string) =>
  /^test\/(alerts|drill|e2e|release)\//.test(file) || file.includes("/kueue");

const changed = changedSince(values.base || "HEAD");
const files = repositoryFiles();
const budget = Number(values.budget);
say(`check: ${changed.length} files changed since ${values.base || "HEAD"}`);
const related = chooseTests();
const checks: Check[] = [
  ...related,
  ...staticChecks(),
  { name: "unit tests", argv: [...vitest, "--project=unit"] },
  ...(changed.some((file) => file.startsWith("charts/"))
    ? prepared(chartChecks(), "helm", "kube-score")
    : []),
];
const failed = await runAll(checks);
const seconds = ((Date.now() - started) / 1000).toFixed(0);
say(
  failed.length === 0
    ? `check: all ${checks.length} checks passed in ${seconds} s`
    : `check: ${failed.length} of ${checks.length} checks failed in ${seconds} s: ${failed.join(", ")}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

function changedSince(base: string): string[] {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: repoDir, encoding: "utf8" }).split("\0");
  try {
    const tracked = git("diff", "--name-only", "--no-renames", "-z", base, "--");
    const added = git("ls-files", "--others", "--exclude-standard", "-z");
    return [...tracked, ...added].filter((file) => file !== "");
  } catch {
    process.stderr.write(
      `check: git does not know the base ${base}; give a commit or a branch: make check BASE=main\n`,
    );
    process.exit(2);
  }
}

/** The tests with real servers and the Python tests that are nearest to the change. */
function chooseTests(): Check[] {
  const dependents = dependentsOf(files);
  for (const [file, users] of Object.entries(pythonDependents()))
    dependents.set(file, new Set([...(dependents.get(file) ?? []), ...users]));
  const isUnit = new Set(unitTests());
  const isServed = (file: string) => file.endsWith(".test.ts") && !isUnit.has(file) && !needsCluster(file);
  const isPython = (file: string) => /(^|\/)test_\w+\.py$/.test(file);
  const timings = readTimings();
  const rank = (tests: string[]) => rankTests(changed, tests, dependents, timings);
  const cluster = rank(files.filter((file) => file.endsWith(".test.ts") && needsCluster(file)));
  if (cluster.length > 0)
    say(`check: not run: ${cluster.length} related files of the suites e2e and kueue (make test)`);
  const served = choose("tests with real servers", rank(files.filter(isServed)), budget * 1.6);
  const python = choose("Python tests", rank(files.filter(isPython)), budget);
  return [
    ...(served.length === 0
      ? []
      : prepared(
          [{ name: "tests with servers", argv: [...vitest, "--project=real", ...served] }],
          "etcd",
          "kubernetes",
          "versitygw",
          "helm",
        )),
    ...(python.length === 0
      ? []
      : [
          {
            name: "Python tests",
            argv: [
              join(cacheDir, "venv/bin/python"),
              "-m",
              "pytest",
              "-q",
              "-p",
              "no:cacheprovider",
              ...python,
            ],
            env: {
              PYTHONPATH: ["images/worker", "tools"].map((folder) => join(repoDir, folder)).join(":"),
              PYTHONDONTWRITEBYTECODE: "1",
            },
          },
        ]),
  ];
}

function choose(what: string, ranked: readonly Ranked[], seconds: number): string[] {
  const { chosen, left } = fitInto(seconds, ranked);
  if (ranked.length > 0) say(`check: ${what}: ${chosen.map(({ file }) => file).join(" ")}`);
  if (left.length > 0)
    say(
      `check: left out, over the budget of ${budget} s: ${left.length} more related files (BUDGET=600 runs more, make test all)`,
    );
  return chosen.map(({ file }) => file);
}

function unitTests(): string[] {
  const args = [...vitest.slice(1, 2), "list", "--project=unit", "--filesOnly", "--json"];
  const found = JSON.parse(execFileSync(node, args, { cwd: repoDir, encoding: "utf8" })) as {
    file: string;
  }[];
  return found.map(({ file }) => file.slice(repoDir.length + 1));
}

function pythonDependents(): Record<string, string[]> {
  const ruff = join(cacheDir, "lint-venv/bin/ruff");
  const args = [
    "analyze",
    "graph",
    "--direction=dependents",
    "--config=images/worker/ruff.toml",
    ...pythonFolders,
  ];
  return JSON.parse(
    execFileSync(ruff, args, { cwd: repoDir, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  );
}

/** Builds what the checks need, if it is not there, and brings the test servers up. */
function prepared(wanted: Check[], ...families: string[]): Check[] {
  execFileSync("bash", [join(repoDir, "tools/build.sh"), ...families], { stdio: "inherit" });
  if (families.includes("etcd"))
    execFileSync(node, [join(repoDir, "tools/dev.ts"), "up"], { stdio: "inherit" });
  return wanted;
}

async function runAll(all: readonly Check[]): Promise<string[]> {
  const failures: string[] = [];
  const queue = [...all];
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift())
      if (!(await run(check))) failures.push(check.name);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return failures;
}

/** Prints the output of a check only when it failed. */
function run({ name, argv: [program = "", ...args], env }: Check): Promise<boolean> {
  const began = Date.now();
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: repoDir,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8");
      });
    const end = (passed: boolean) => {
      say(`${passed ? "  ok  " : "FAILED"} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      if (!passed) say(output.trimEnd());
      resolve(passed);
    };
    child.once("error", (error) => {
      output += `${program} cannot be started: ${error.message}. Run \`make deps\` first.`;
      end(false);
    });
    child.once("close", (code) => end(code === 0));
  });
}
