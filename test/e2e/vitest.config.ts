// The end-to-end test on a full cluster with kubelet and containers: one file after the other, minutes of patience.
// Called by tools/test.ts: `vitest run --config test/e2e/vitest.config.ts`.
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "..", ".."),
  test: {
    name: "e2e",
    include: ["test/e2e/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 600_000,
    // Cluster and chart come up in beforeAll; images may have to be built first.
    hookTimeout: 1_800_000,
    teardownTimeout: 120_000,
    // Steps build on each other: after the first failure the rest would only repeat it.
    bail: 1,
  },
});
