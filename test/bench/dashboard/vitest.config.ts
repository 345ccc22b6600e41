// The benchmark of the dashboard. It runs in vitest, because it uses the servers and pages of the tests.
// Called by `make bench-dashboard`.
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "..", "..", ".."),
  test: {
    name: "bench-dashboard",
    include: ["test/bench/dashboard/measure.ts"],
    globalSetup: ["test/support/servers.ts"],
    testTimeout: 900_000,
    hookTimeout: 300_000,
  },
});
