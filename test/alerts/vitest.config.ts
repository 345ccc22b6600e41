// Alerts provoked on a full cluster of their own. Called by tools/testing/trials.ts.
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "..", ".."),
  test: {
    name: "alerts",
    include: ["test/alerts/*.test.ts"],
    globalSetup: ["test/e2e/global-setup.ts"],
    // Alerts of one failed fault would be unexpected ones of the next.
    bail: 1,
    testTimeout: 1_200_000,
    // Images may have to be built first.
    hookTimeout: 1_800_000,
    teardownTimeout: 120_000,
  },
});
