// Paths of the cache for built binaries, clusters and images. Used by everything under tools/. The cache is outside the
// work tree, so that `git clean` or a second clone does not cause a rebuild.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const cacheDir = process.env.PLOSIVE_CACHE ?? join(homedir(), ".cache", "plosive");
export const repoDir = join(import.meta.dirname, "..");
/** Where Node processes of tests keep what they have compiled: a run starts hundreds of them with the same code. */
export const compileCache = join(repoDir, ".plosive", "compiled");
export const cniDir = join(cacheDir, "cni");

/**
 * Returns the path of a pinned binary built by tools/build.sh; throws with the command to build it if it is missing.
 */
export function tool(name: string, command = "make tools"): string {
  const path = join(cacheDir, "bin", name);
  if (!existsSync(path)) throw new Error(`${name} is not built yet (looked at ${path}): run \`${command}\``);
  return path;
}

/** The same for a component of the tests' control plane: of the Kubernetes version in PLOSIVE_TEST_KUBERNETES, if it is set. */
export function controlPlaneTool(name: string): string {
  const version = process.env.PLOSIVE_TEST_KUBERNETES;
  if (version === undefined || name === "etcd") return tool(name);
  const family = `kubernetes-${version}`;
  return tool(join(family, name), `tools/build.sh ${family}`);
}
