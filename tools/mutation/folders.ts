// The rooms that mutation testing measures: which files it changes and which tests may notice. Called by main.ts.
export interface Room {
  readonly name: string;
  /** Globs of the files that get mutants. */
  readonly files: readonly string[];
  /** Files without mutants. */
  readonly without: readonly string[];
  /** Globs of the test files that may kill them. */
  readonly tests: readonly string[];
  /** The project of vitest.config.ts. */
  readonly project: "unit" | "real";
  /** Mutants to try; a room with fewer is measured in full. */
  readonly sample: number;
  /** Seconds of tests per mutant, the nearest tests first. A mutant that outlives them has survived. */
  readonly budgetSeconds: number;
}

export const rooms: readonly Room[] = [
  {
    name: "controllers/job",
    files: ["decide", "deadlines", "retry-budget", "status", "conditions", "pods"].map(
      (name) => `controllers/job/${name}.ts`,
    ),
    without: [],
    tests: ["test/controllers/*.test.ts", "test/controllers/queueing/*.test.ts"],
    project: "unit",
    sample: Number.POSITIVE_INFINITY,
    budgetSeconds: 30,
  },
  {
    name: "src/db",
    files: ["src/db/*.ts"],
    // Only the operator calls these. Their tests start a control plane, which takes minutes per mutant.
    without: ["adoption", "drift", "inference-job-end", "ingest", "purge-queue", "run", "run-pod"].map(
      (name) => `src/db/${name}.ts`,
    ),
    tests: ["test/db/*.test.ts", "test/api/*.test.ts", "test/webhooks/*.test.ts", "test/*.test.ts"],
    project: "real",
    sample: 130,
    budgetSeconds: 90,
  },
  {
    name: "src/api",
    files: ["src/api/*.ts"],
    without: [],
    tests: ["test/api/*.test.ts"],
    project: "real",
    sample: 130,
    budgetSeconds: 90,
  },
];

/** The room of worker.py, which knows its own files and tests. */
export const worker = { name: "images/worker", sample: 160 };
