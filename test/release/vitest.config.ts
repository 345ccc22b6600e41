// Releases: built from a clone, checked, pushed to a registry on this machine, installed from there. Called by
// tools/testing/trials.ts.
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "..", ".."),
  test: {
    name: "release",
    include: ["test/release/*.test.ts"],
    testTimeout: 1_800_000,
    // Images may have to be built first.
    hookTimeout: 3_600_000,
  },
});
