// The static checks: formatters, linters, types, generated files. A flat list, each judged by its exit code; none needs a
// server or a compiled Kubernetes. Called by the suite "lint" of `make test` and by `make check`.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { cacheDir, repoDir } from "../cache.ts";

export interface Check {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const node = process.execPath;
const local = (...path: string[]) => join(repoDir, ...path);
const linter = (name: string) => join(cacheDir, "lint-venv", "bin", name);
const ruffConfig = `--config=${local("images/worker/ruff.toml")}`;
export const pythonFolders = ["images/worker", "tools", "test"];

export function staticChecks(): Check[] {
  return [
    // Long before "generated files", which writes some of its pages anew.
    { name: "site of the documentation", argv: ["make", "--no-print-directory", "-C", repoDir, "docs"] },
    {
      name: "biome",
      argv: [node, local("node_modules/@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."],
    },
    { name: "tsc", argv: [node, local("node_modules/typescript/bin/tsc"), "--noEmit"] },
    { name: "tsc of web", argv: [node, local("node_modules/typescript/bin/tsc"), "--noEmit", "-p", "web"] },
    { name: "first load of the dashboard", argv: [node, local("tools/web-size.ts")] },
    { name: "ruff check", argv: [linter("ruff"), "check", ruffConfig, "--no-cache", ...pythonFolders] },
    {
      name: "ruff format",
      argv: [linter("ruff"), "format", "--check", ruffConfig, "--no-cache", ...pythonFolders],
    },
    {
      name: "mypy",
      argv: [
        linter("mypy"),
        `--config-file=${local("images/worker/mypy.ini")}`,
        `--python-executable=${join(cacheDir, "venv", "bin", "python")}`,
        `--cache-dir=${join(cacheDir, "mypy")}`,
        "images/worker/plosive_worker",
      ],
    },
    { name: "shellcheck", argv: [linter("shellcheck"), ...shellScripts()] },
    { name: "generated files", argv: [node, local("tools/testing/clean-diff.ts")] },
  ];
}

function shellScripts(): string[] {
  const found = execFileSync("git", ["grep", "-lE", "^#!.*\\bbash$"], { cwd: repoDir, encoding: "utf8" });
  return found.split("\n").filter((file) => file !== "");
}

const helm = join(cacheDir, "bin", "helm");
const chart = local("charts/plosive");
const digest = `sha256:${"0".repeat(64)}`;
// Without a cluster helm assumes an old Kubernetes, which the chart refuses.
const chartSettings = [
  "--kube-version=1.36.0",
  "--set",
  ["server", "worker", "trainer", "postgres", "s3"]
    .map((name) => `images.${name}=example.test/${name}@${digest}`)
    .join(","),
];

/** The chart with its defaults, and with each of its values files. */
export function renderings(): Check[] {
  const template = [helm, "template", "plosive", chart, "--namespace=plosive", ...chartSettings];
  return [
    { name: "helm template", argv: template },
    { name: "helm template of an upgrade", argv: [...template, "--is-upgrade"] },
    ...["local", "production", "gpu", "openshift"].map((name) => ({
      name: `helm template with values-${name}.yaml`,
      argv: [...template, "--values", join(chart, `values-${name}.yaml`)],
    })),
  ];
}

export function chartChecks(): Check[] {
  return [
    { name: "helm lint", argv: [helm, "lint", "--strict", chart, ...chartSettings] },
    { name: "alert rules", argv: ["promtool", "check", "rules", join(chart, "files/alerts.yaml")] },
    ...renderings(),
    { name: "linters of the chart", argv: [node, local("tools/lint/chart/main.ts")] },
  ];
}
