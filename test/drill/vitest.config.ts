// The drill: backups, a restore to an earlier moment, a restore on an empty cluster, and a new installation, while jobs run. Called by
// tools/testing/trials.ts.
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: join(import.meta.dirname, "..", ".."),
  test: {
    name: "drill",
    include: ["test/drill/*.test.ts"],
    // A control plane and a cluster at once are too much for two cores.
    fileParallelism: false,
    testTimeout: 1_200_000,
    // Images may have to be built first.
    hookTimeout: 3_600_000,
  },
});
