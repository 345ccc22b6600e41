// The dashboard as it ships, built once for each version of its sources and kept in the cache. Called by dashboard-page.ts.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { cacheDir, repoDir } from "../../tools/cache.ts";

const all = join(cacheDir, "dashboards");

/** The folder of the built pages. Nobody may change it. */
export const dashboardFolder = (): string => join(all, versionOf());

/** Builds the pages into their folder, unless they are there. */
export async function buildDashboard(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  mkdirSync(all, { recursive: true });
  const made = mkdtempSync(join(all, ".new-"));
  const root = join(repoDir, "web");
  const before = process.env.NODE_ENV;
  // The test runner's own value would build pages for development.
  process.env.NODE_ENV = "production";
  try {
    const outDir = { outDir: made, emptyOutDir: true };
    await build({ root, configFile: join(root, "vite.config.ts"), logLevel: "error", build: outDir });
  } finally {
    process.env.NODE_ENV = before;
  }
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another test file has built the same.
    if (!existsSync(folder)) throw error;
    rmSync(made, { recursive: true });
  }
}

function versionOf(): string {
  const hash = createHash("sha256");
  const patterns = ["web/*.{ts,json,html}", "web/src/**/*.*", "client/*", "package-lock.json"];
  for (const path of globSync(patterns, { cwd: repoDir }).sort())
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(repoDir, path)))
      .update("\0");
  return hash.digest("hex").slice(0, 16);
}
