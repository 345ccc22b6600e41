// The seed of the random trials. In `make test` the commit's hash is the seed, so that a failure can be reproduced and the
// next commit runs another slice; `make trials` draws a new one. Called by tools/test.ts, tools/trials.ts and vitest.config.ts.
import { execFileSync } from "node:child_process";
import { repoDir } from "../cache.ts";

/** A number below 2^31 made of the commit's hash; 1 outside of a git checkout. */
export function commitSeed(): number {
  try {
    const head = execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: repoDir,
      encoding: "utf8",
      stdio: "pipe",
    });
    return Number.parseInt(head.slice(0, 8), 16) >>> 1;
  } catch {
    return 1;
  }
}
