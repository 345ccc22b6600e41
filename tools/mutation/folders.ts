// The folders that mutation testing measures: which files it changes and which tests may notice. Called by main.ts.
export interface Folder {
  readonly name: string;
  /** Globs of the files that get mutants. */
  readonly files: readonly string[];
  /** Files without mutants. */
  readonly without: readonly string[];
  /** Globs of the test files that may kill them. */
  readonly tests: readonly string[];
  /** The projects of vitest.config.ts. */
  readonly projects: readonly ("unit" | "real")[];
  /** Mutants to try; a folder with fewer is measured in full. */
  readonly sample: number;
  /** Seconds of tests per mutant, the nearest tests first. A mutant that outlives them has survived. */
  readonly budgetSeconds: number;
}

export const folders: readonly Folder[] = [
  {
    name: "controllers/job",
    files: ["decide", "deadlines", "retry-budget", "status", "conditions", "pods"].map(
      (name) => `controllers/job/${name}.ts`,
    ),
    without: [],
    tests: ["test/controllers/*.test.ts", "test/controllers/queueing/*.test.ts"],
    projects: ["unit"],
    sample: Number.POSITIVE_INFINITY,
    budgetSeconds: 30,
  },
  {
    name: "src/db",
    files: ["src/db/*.ts", "src/db/driver/*.ts", "src/db/operator/*.ts"],
    // Only the operator calls these. Their tests start a control plane, which takes minutes per mutant.
    without: [
      ...["adoption", "inference-job-end"],
      ...["drift", "ingest", "job-state", "purge-queue", "run", "run-pod"].map((name) => `operator/${name}`),
    ].map((name) => `src/db/${name}.ts`),
    tests: ["test/db/*.test.ts", "test/api/*.test.ts", "test/webhooks/*.test.ts", "test/*.test.ts"],
    projects: ["unit", "real"],
    sample: 130,
    budgetSeconds: 90,
  },
  {
    name: "src/api",
    files: ["src/api/*.ts", "src/api/body/*.ts"],
    without: [],
    tests: ["test/api/*.test.ts"],
    projects: ["unit", "real"],
    sample: 130,
    budgetSeconds: 90,
  },
];

/** The folder of worker.py, which knows its own files and tests. */
export const worker = { name: "images/worker", sample: 160 };
