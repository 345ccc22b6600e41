// Where the tools keep what they build: binaries, clusters, images. Used by everything under tools/.
// Outside the work tree on purpose: `git clean` and a second clone must not cost another build.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const cacheDir = process.env.PLOSIVE_CACHE ?? join(homedir(), ".cache", "plosive");
export const repoDir = join(import.meta.dirname, "..");
export const cniDir = join(cacheDir, "cni");

/** Path of a pinned binary built by tools/build.sh; says how to get it when it is not there. */
export function tool(name: string): string {
  const path = join(cacheDir, "bin", name);
  if (!existsSync(path)) throw new Error(`${name} is not built yet (looked at ${path}): run \`make tools\``);
  return path;
}
