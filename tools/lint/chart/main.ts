// Linters of the chart with each of its values files: checkov, kube-score, and kubernetes-validate against the oldest and the newest
// Kubernetes; polaris too if PLOSIVE_POLARIS is the path of its program, because it is not on the Go module proxies that
// `make` builds from. Usage: tools/lint/chart/main.ts. Called by the suite "chart" of `make test` and by `make lint`. Exit code
// 0 only if each finding is accepted, with its reason, and each accepted one is still found.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { cacheDir, tool } from "../../cache.ts";
import { renderings } from "../../testing/checks.ts";
import { type Accepted, accepted } from "./accepted.ts";

const run = promisify(execFile);
const kubernetesVersions = ["1.31", "1.36"];
/** Kinds of other projects, for which kubernetes-validate has no schema. */
const foreign =
  /kind (PodMonitor|PrometheusRule|Certificate|ClusterQueue|LocalQueue|ResourceFlavor|Route|HTTPRoute) /;

const polarisProgram = process.env.PLOSIVE_POLARIS;

interface Finding {
  readonly linter: Accepted["linter"];
  readonly check: string;
  /** The rendering. */
  readonly file: string;
  readonly object: string;
}

/** stdout, also of a linter that ends with 1 because it found something. */
async function output(command: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(command, args, { maxBuffer: 1 << 28, env: { ...process.env, LOG_LEVEL: "ERROR" } }))
      .stdout;
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (code === 1 && stdout !== "") return stdout;
    throw new Error(`${basename(command)} failed (${code}): ${stderr.slice(-2_000)}`);
  }
}

const inVenv = (name: string): string => join(cacheDir, "chart-lint-venv", "bin", name);
const short = (kind: string, name: string): string => `${kind} ${name.replace(/^plosive-/, "")}`;

const checkovReport = z.object({
  results: z.object({
    failed_checks: z.array(z.object({ check_id: z.string(), resource: z.string(), file_path: z.string() })),
  }),
});

async function checkov(): Promise<Finding[]> {
  const args = [
    "--directory",
    folder,
    "--framework",
    "kubernetes",
    "--compact",
    "--quiet",
    "--skip-download",
    "--output",
    "json",
  ];
  const { results } = checkovReport.parse(JSON.parse(await output(inVenv("checkov"), args)));
  return results.failed_checks.map(({ check_id: check, resource, file_path }) => {
    const [kind = "", , name = ""] = resource.split(".");
    return { linter: "checkov", check, file: basename(file_path), object: short(kind, name) };
  });
}

const scoreReport = z.array(
  z.object({
    type_meta: z.object({ kind: z.string() }),
    object_meta: z.object({ name: z.string() }),
    checks: z.array(
      z.object({ check: z.object({ id: z.string() }), grade: z.number(), skipped: z.boolean() }),
    ),
  }),
);
/** kube-score's grade of a check without a finding. */
const perfect = 10;

async function kubeScore(file: string): Promise<Finding[]> {
  const program = tool("kube-score", "tools/build.sh kube-score");
  const args = ["score", "--output-format", "json", join(folder, file)];
  const report = scoreReport.parse(JSON.parse(await output(program, args)));
  return report.flatMap(({ type_meta, object_meta, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < perfect)
      .map(({ check }) => ({
        linter: "kube-score",
        check: check.id,
        file,
        object: short(type_meta.kind, object_meta.name),
      })),
  );
}

const polarisResults = z.record(z.string(), z.object({ Success: z.boolean() }));
const polarisReport = z.object({
  Results: z.array(
    z.object({
      Kind: z.string(),
      Name: z.string(),
      Results: polarisResults.nullish(),
      PodResult: z
        .object({
          Results: polarisResults.nullish(),
          ContainerResults: z.array(z.object({ Results: polarisResults })).nullish(),
        })
        .nullish(),
    }),
  ),
});

async function polaris(program: string, file: string): Promise<Finding[]> {
  const args = ["audit", "--audit-path", join(folder, file), "--format", "json"];
  const report = polarisReport.parse(JSON.parse(await output(program, args)));
  return report.Results.flatMap(({ Kind, Name, Results, PodResult }) =>
    [Results, PodResult?.Results, ...(PodResult?.ContainerResults ?? []).map((one) => one.Results)]
      .flatMap((results) => Object.entries(results ?? {}))
      .filter(([, { Success }]) => !Success)
      .map(([check]) => ({ linter: "polaris", check, file, object: short(Kind, Name) })),
  );
}

/** Lines about objects that this Kubernetes would not accept. */
async function invalid(files: readonly string[], version: string): Promise<string[]> {
  const paths = files.map((file) => join(folder, file));
  const text = await output(inVenv("kubernetes-validate"), [
    "--strict",
    "--kubernetes-version",
    version,
    ...paths,
  ]);
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("INFO") && !foreign.test(line));
}

const folder = mkdtempSync(join(tmpdir(), "plosive-chart-lint-"));
const problems = new Set<string>();
const used = new Set<(typeof accepted)[number]>();
try {
  const files = await Promise.all(
    renderings().map(async ({ name, argv: [helm = "", ...args] }) => {
      const file = `${name.replaceAll(/\W+/g, "-")}.yaml`;
      writeFileSync(join(folder, file), await output(helm, args));
      return file;
    }),
  );
  const found = await Promise.all([
    checkov(),
    ...files.map(kubeScore),
    ...(polarisProgram === undefined ? [] : files.map((file) => polaris(polarisProgram, file))),
  ]);
  for (const { linter, check, file, object } of found.flat()) {
    const reasons = accepted.filter(
      (one) =>
        one.linter === linter &&
        one.check === check &&
        file.includes(one.rendering ?? "") &&
        (one.objects?.test(object) ?? true),
    );
    if (reasons.length === 0) problems.add(`${file}: ${linter} ${check}: ${object}`);
    for (const reason of reasons) used.add(reason);
  }
  for (const version of kubernetesVersions)
    for (const line of await invalid(files, version)) problems.add(`Kubernetes ${version}: ${line}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const wasRun = ({ linter }: Accepted) => linter !== "polaris" || polarisProgram !== undefined;
for (const { linter, check } of accepted.filter((one) => wasRun(one) && !used.has(one)))
  problems.add(`accepted.ts: nothing finds ${linter} ${check} any more: remove the entry`);
console.log(
  problems.size === 0 ? `chart: ${used.size} kinds of findings, all accepted` : [...problems].join("\n"),
);
process.exitCode = problems.size === 0 ? 0 : 1;
