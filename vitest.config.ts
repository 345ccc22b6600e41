// How `vitest run` groups the tests: "unit" (no servers, seconds), "real" (Postgres, S3, control plane) and "kueue"
// (the same with Kueue, which is built for it).
// Called by tools/test.ts and by hand: `node_modules/.bin/vitest run test/api`. The end-to-end test has its own
// configuration (test/e2e/vitest.config.ts), so that nobody starts a whole cluster unasked.
import { globSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { compileCache } from "./tools/cache.ts";
import { commitSeed } from "./tools/testing/seed.ts";

// A test needs real servers exactly when it imports what starts them, so its author decides by writing the test and
// no list is kept by hand: test/support/{postgres,s3,kube,api,dashboard-page,use-operator,operator-anew}.ts, or one of the starters in tools/.
const starters =
  /from\s+"[^"]*(?:support\/(?:postgres|postgres-image|s3|kube|api|dashboard-page|servers|operator|use-operator|operator-anew|adoption)|tools\/(?:postgres|s3)|cluster\/control-plane)\.ts"/;
const files = globSync("test/**/*.test.ts", {
  cwd: import.meta.dirname,
  exclude: ["test/{alerts,drill,e2e,release}/**"],
}).sort();
const importing = (pattern: RegExp) =>
  files.filter((file) => pattern.test(readFileSync(`${import.meta.dirname}/${file}`, "utf8")));
const kueue = importing(/from\s+"[^"]*tools\/kueue\.ts"/);
const real = importing(starters).filter((file) => !kueue.includes(file));
const unit = files.filter((file) => !real.includes(file) && !kueue.includes(file));
const servers = {
  globalSetup: ["test/support/servers.ts"],
  // Waits of a test (test/support/poll.ts) and the start of a control plane take minutes on a busy machine.
  testTimeout: 300_000,
  hookTimeout: 300_000,
};

export default defineConfig({
  test: {
    // Of the random trials (test/support/trial.ts).
    env: {
      PLOSIVE_TEST_SEED: process.env.PLOSIVE_TEST_SEED ?? String(commitSeed()),
      NODE_COMPILE_CACHE: compileCache,
    },
    // The summary of a run prints only the first line of an error, so that line must show the whole value.
    chaiConfig: { truncateThreshold: 400 },
    // Two files at once: the machine that everything must run on has two cores, and control planes take theirs.
    maxWorkers: 2,
    teardownTimeout: 30_000,
    projects: [
      { test: { name: "unit", include: unit, testTimeout: 30_000, sequence: { groupOrder: 0 } } },
      { test: { name: "real", include: real, ...servers, sequence: { groupOrder: 1 } } },
      { test: { name: "kueue", include: kueue, ...servers, sequence: { groupOrder: 2 } } },
    ],
  },
});
