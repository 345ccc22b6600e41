// The dashboard as it ships, built once for each version of its sources and kept in the cache. Called by dashboard-page.ts.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
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
  const { NODE_ENV } = process.env;
  // The test runner's own value would build pages for development.
  process.env.NODE_ENV = "production";
  try {
    const outDir = { outDir: made, emptyOutDir: true };
    await build({ root, configFile: join(root, "vite.config.ts"), logLevel: "error", build: outDir });
    // Other users read it too.
    chmodSync(made, 0o755);
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    // Another test file may have built the same.
    if (!existsSync(folder)) throw error;
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
  removeOld();
}

const kept = 8;

/** Another test file may be removing it. */
const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Other clones may use the newest ones. */
function removeOld(): void {
  const folders = readdirSync(all)
    .map((name) => join(all, name))
    .sort((a, b) => timeOf(b) - timeOf(a));
  for (const old of folders.slice(kept)) rmSync(old, { recursive: true, force: true });
}

function versionOf(): string {
  const hash = createHash("sha256").update(process.version);
  // vite.config.ts bundles limits of openapi.json into the pages.
  const sources = [
    "web/*.{ts,json,html}",
    "web/src/**/*.*",
    "client/**/*.ts",
    "openapi.json",
    "package-lock.json",
  ];
  for (const path of globSync(sources, { cwd: repoDir }).sort())
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(repoDir, path)))
      .update("\0");
  return hash.digest("hex").slice(0, 16);
}
