// A tagged clone of the repository with its installed packages, from which a release can be made. Called by release.test.ts.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repoDir } from "../../tools/cache.ts";

/** Returns the version. */
export function tagClone(folder: string): string {
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, stdio: "pipe" });
  execFileSync("git", ["clone", "--quiet", repoDir, folder]);
  execFileSync("cp", ["-a", join(repoDir, "node_modules"), join(folder, "node_modules")]);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  run("git", "tag", "--force", `v${version}`);
  return version;
}
