// The suites of `make test`, the fast ones first: a flat list. Called by tools/test.ts.
import { join } from "node:path";
import { cacheDir, repoDir } from "../cache.ts";
import { chartChecks, staticChecks } from "./checks.ts";
import { type Outcome, readExit, readJunit, readVitest } from "./report.ts";

export interface Command {
  readonly argv: readonly string[];
  readonly env?: Record<string, string>;
  /** Its stdout is not needed; errors are in stderr. */
  readonly quiet?: boolean;
  /** Judges from the exit code and the report file, if it wrote one. */
  readonly read: (report: string | undefined, exitCode: number | null) => Outcome;
}

export interface Suite {
  /** For --only. */
  readonly name: string;
  readonly title: string;
  readonly lane: Lane;
  /**
   * A suite that takes longer is ended and has failed. At least twice what it takes on two slow cores beside the other lanes:
   * the limit is there for what hangs.
   */
  readonly limitMinutes: number;
  /** `reportFile` is where a command of the suite leaves its report. */
  readonly commands: (reportFile: string) => readonly Command[];
}

/**
 * "checks" and "units" run first, side by side. Then "waiting", which mostly waits for a cluster, runs beside "computing", which keeps the
 * cores busy. The one of these two that finishes first runs the suites of "either". "background" needs little of the
 * processor: it computes at the lowest priority, and then waits. "trials" is the lane of tools/trials.ts,
 * "compat" that of tools/compat.ts.
 */
export type Lane =
  | "checks"
  | "units"
  | "waiting"
  | "computing"
  | "either"
  | "background"
  | "trials"
  | "compat";
export const lanes: readonly (readonly Lane[])[] = [
  ["checks", "units"],
  ["waiting", "computing", "background"],
];

const node = process.execPath;
const local = (...path: string[]) => join(repoDir, ...path);
const vitest = local("node_modules", "vitest", "vitest.mjs");
const python = join(cacheDir, "venv", "bin", "python");

/** A command whose exit code is the one thing to know. */
export const check = (name: string, ...argv: string[]): Command => ({
  argv,
  read: (_, exitCode) =>
    readExit(`${name}: ${argv.map((word) => word.replace(repoDir, ".")).join(" ")}`, exitCode),
});

export function vitestRun(reportFile: string, ...args: string[]): Command {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  return { argv: [node, vitest, "run", ...args, ...reporters], read: readVitest };
}

/** `flags` go to pytest. */
export function pytestRun(reportFile: string, paths: readonly string[], ...flags: string[]): Command {
  const options = ["-p", "no:cacheprovider", `--junitxml=${reportFile}`, ...flags];
  return {
    argv: [python, "-m", "pytest", ...options, ...paths.map((path) => local(path))],
    env: { PYTHONPATH: `${local("images/worker")}:${local("tools")}`, PYTHONDONTWRITEBYTECODE: "1" },
    read: readJunit,
  };
}

const detectionGate = "test/bench/detection/test_short.py";

export const suites: readonly Suite[] = [
  {
    name: "lint",
    title: "Formatter, linter, types, generated files",
    lane: "checks",
    limitMinutes: 20,
    commands: () => staticChecks().map(({ name, argv }) => check(name, ...argv)),
  },
  {
    name: "unit",
    title: "Unit tests",
    lane: "units",
    limitMinutes: 20,
    commands: (reportFile) => [vitestRun(reportFile, "--project=unit")],
  },
  {
    name: "chart",
    title: "Helm chart",
    lane: "checks",
    limitMinutes: 5,
    commands: () => chartChecks().map(({ name, argv }) => ({ ...check(name, ...argv), quiet: true })),
  },
  {
    name: "real",
    title: "API, database, object store and operator against real servers",
    lane: "computing",
    limitMinutes: 70,
    commands: (reportFile) => [vitestRun(reportFile, "--project=real", "--exclude=test/hostile/**")],
  },
  {
    name: "e2e",
    title: "The main job and its failures on a full cluster with kubelet and containers",
    lane: "waiting",
    limitMinutes: 60,
    commands: (reportFile) => [vitestRun(reportFile, "--config", local("test/e2e/vitest.config.ts"))],
  },
  {
    name: "worker",
    title: "Python workers on real sound; exports read by other programs",
    lane: "either",
    limitMinutes: 60,
    // Two processes; the longest file comes first.
    commands: (reportFile) => [
      pytestRun(
        reportFile,
        ["test/worker/test_verbs.py", "test/worker", "test/exchange", "test/bench/detection"],
        "--numprocesses=2",
        "--dist=loadfile",
        `--ignore=${local(detectionGate)}`,
      ),
    ],
  },
  {
    name: "detection",
    title: "Detection compared with the recorded figures",
    lane: "background",
    limitMinutes: 60,
    commands: (reportFile) => {
      const gate = pytestRun(reportFile, [detectionGate]);
      return [{ ...gate, argv: ["nice", "-n", "19", ...gate.argv] }];
    },
  },
  {
    name: "kueue",
    title: "The operator with the real Kueue",
    lane: "background",
    limitMinutes: 20,
    commands: (reportFile) => [vitestRun(reportFile, "--project=kueue")],
  },
  {
    name: "soak",
    title: "Caches and leader election over many watch renewals",
    lane: "background",
    limitMinutes: 10,
    commands: () => [
      check(
        "soak",
        node,
        "--expose-gc",
        "test/chaos/soak.ts",
        "--minutes=0.7",
        "--watch-seconds=1",
        "--idle-minutes=0",
      ),
    ],
  },
  {
    name: "hostile",
    title: "Hostile requests, kills and outages against real servers",
    lane: "either",
    limitMinutes: 40,
    commands: (reportFile) => [vitestRun(reportFile, "--project=real", "test/hostile/")],
  },
  {
    name: "contract",
    title: "The description by its linters, against the last release, and schemathesis in short",
    lane: "either",
    limitMinutes: 20,
    commands: () => contractChecks(),
  },
];

function contractChecks(): Command[] {
  const folder = local("tools/contract/npm");
  const inFolder = (...path: string[]) => join(folder, "node_modules", ...path);
  const description = local("openapi.json");
  return [
    check(
      "Spectral",
      node,
      inFolder("@stoplight/spectral-cli/dist/index.js"),
      "lint",
      description,
      `--ruleset=${join(folder, "spectral.yaml")}`,
      "--fail-severity=warn",
    ),
    {
      ...check(
        "Redocly",
        node,
        inFolder("@redocly/cli/bin/cli.js"),
        "lint",
        description,
        `--config=${join(folder, "redocly.yaml")}`,
      ),
      env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    },
    check("openapi-spec-validator", join(cacheDir, "contract-venv/bin/openapi-spec-validator"), description),
    check("oasdiff", node, local("tools/contract/breaking.ts")),
    check("schemathesis", node, local("tools/contract/schemathesis.ts"), "--seconds=75"),
  ];
}
