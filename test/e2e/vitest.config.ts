// The end-to-end tests on a full cluster with kubelet and containers: one cluster for all, one file after the other,
// with timeouts of minutes. Called by tools/test.ts: `vitest run --config test/e2e/vitest.config.ts`.
import { basename, join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** In this order. They are independent, except that the last one takes the cluster down. */
const files = [
  "main-job",
  "dashboard",
  "commands",
  "failures",
  "resume",
  "network-policy",
  "gpu-pool",
  "monitoring",
  "kueue",
  "cluster-down",
];

class InOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => files.indexOf(basename(moduleId, ".test.ts"));
    return [...specifications].sort((a, b) => place(a) - place(b));
  }
}

const keeps = process.env.PLOSIVE_E2E_KEEP === "1";

export default defineConfig({
  root: join(import.meta.dirname, "..", ".."),
  test: {
    name: "e2e",
    include: files
      .filter((name) => !keeps || name !== "cluster-down")
      .map((name) => `test/e2e/${name}.test.ts`),
    globalSetup: ["test/e2e/global-setup.ts"],
    sequence: { sequencer: InOrder },
    fileParallelism: false,
    // The summary of a run prints only the first line of an error, so that line must show the whole value.
    chaiConfig: { truncateThreshold: 400 },
    // Most tests only wait, so they may run at once.
    maxConcurrency: 32,
    testTimeout: 600_000,
    // Cluster and chart start before the first test; images may have to be built first.
    hookTimeout: 1_800_000,
    // No bail: each file creates what it needs or uses the values of an earlier one (shared.ts), and steps.ts skips the
    // steps that build on a failed one. The last file checks the traces of the cluster even after failures.
    teardownTimeout: 120_000,
  },
});
