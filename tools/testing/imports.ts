// Which file of the repository needs which other: import lines, and paths in string literals (a test that starts
// "controllers/main.ts" or reads "docs/alerts.md" needs those). Read as text. Called by test/architecture.test.ts and
// tools/check.ts.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { repoDir } from "../cache.ts";

/** Paths of all files that git tracks or would add, in the repository. */
export function repositoryFiles(): string[] {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const text = execFileSync("git", args, { cwd: repoDir, encoding: "utf8", maxBuffer: 1 << 26 });
  return [...new Set(text.split("\0"))].filter((file) => file !== "" && existsSync(join(repoDir, file)));
}

export interface Import {
  readonly file: string;
  /** A path in the repository, or the name of a package. */
  readonly target: string;
  readonly isPackage: boolean;
}

const importLine =
  /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)|\nimport "([^"]+)"/g;

export function importsOf(file: string): Import[] {
  return [...readFileSync(join(repoDir, file), "utf8").matchAll(importLine)].map((match) => {
    const name = match[1] ?? match[2] ?? match[3] ?? "";
    if (!name.startsWith(".")) return { file, target: name, isPackage: true };
    return { file, target: relative(repoDir, join(repoDir, dirname(file), name)), isPackage: false };
  });
}

/** Files and folders of the repository that string literals of a file name, from its own folder or from the top. */
export function pathsNamedBy(file: string, known: ReadonlySet<string>): string[] {
  const text = readFileSync(join(repoDir, file), "utf8");
  return [...text.matchAll(/["'`]((?:\.{1,2}\/|[\w.-]+\/)[\w./-]+)["'`]/g)].flatMap(([, path = ""]) =>
    [join(dirname(file), path), join(path)].filter((candidate) => known.has(candidate)),
  );
}

/** For each file those that need it directly. Python's imports come from ruff (tools/check.ts). */
export function dependentsOf(files: readonly string[]): Map<string, Set<string>> {
  const folders = files.flatMap((file) => parents(file));
  const known = new Set([...files, ...folders]);
  const dependents = new Map<string, Set<string>>();
  const add = (target: string, file: string) => {
    const set = dependents.get(target) ?? new Set();
    dependents.set(target, set.add(file));
  };
  for (const file of files.filter((name) => /\.tsx?$/.test(name))) {
    for (const { target, isPackage } of importsOf(file)) if (!isPackage) add(target, file);
    for (const target of pathsNamedBy(file, known)) add(target, file);
  }
  return dependents;
}

/** The folders above a file, but not those at the top: nearly everything names "src". */
export function parents(file: string): string[] {
  const parts = file.split("/").slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join("/")).slice(1);
}

/** Circles of imports, each as its files in order; empty when there are none. */
export function circlesOf(imports: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { file, target, isPackage } of imports)
    if (!isPackage) targets.set(file, [...(targets.get(file) ?? []), target]);
  // Tarjan's strongly connected components: https://doi.org/10.1137/0201010
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string) => {
    index.set(file, index.size);
    low.set(file, index.get(file) ?? 0);
    stack.push(file);
    for (const target of targets.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      else if (!stack.includes(target)) continue;
      low.set(file, Math.min(low.get(file) ?? 0, low.get(target) ?? 0));
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1 || (targets.get(file) ?? []).includes(file)) circles.push(circle.sort());
  };
  for (const file of targets.keys()) if (!index.has(file)) visit(file);
  return circles;
}
