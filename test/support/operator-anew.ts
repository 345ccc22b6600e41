// An operator for each test, in its own namespace, which the test may stop and start again: `const stage =
// useOperatorAnew()`. For tests in which the operator is what fails; other tests share one (use-operator.ts).
import { createHash } from "node:crypto";
import { sql } from "slonik";
import { afterEach, beforeEach } from "vitest";
import type { DetectResult } from "../../src/schemas/worker.ts";
import { type TestNamespace, useCluster } from "./kube.ts";
import { jobsOf, runOperator, type TestOperator } from "./operator.ts";
import { useDatabase } from "./postgres.ts";
import { insertTenant } from "./rows.ts";
import { useStorage } from "./s3.ts";

export function useOperatorAnew() {
  const cluster = useCluster();
  const database = useDatabase();
  const store = useStorage();
  const stage = {
    cluster,
    database,
    store,
    space: undefined as unknown as TestNamespace,
    tenant: "",
    /** The operator that is stopped after the test. A test that starts another one assigns it here. */
    operator: undefined as unknown as TestOperator,
    start: () =>
      runOperator({
        cluster,
        namespace: stage.space,
        databaseUrl: database.url,
        storage: store.config,
      }),
    jobNames: async () =>
      (await jobsOf(cluster.admin, stage.space.name)).map(({ metadata }) => metadata.name),
  };
  beforeEach(async () => {
    stage.space = await cluster.namespace();
    stage.tenant = await insertTenant(database.pool);
    stage.operator = await stage.start();
  });
  afterEach(async () => {
    // The operators of other tests must not see the rows of this one.
    await stage.operator.stop();
    for (const table of ["detections", "inference_jobs", "models", "training_jobs", "embedding_jobs"])
      await database.execute(sql.fragment`delete from ${sql.identifier([table])}`);
  });
  return stage;
}

/** A result with one click in one file. */
export function detectionsOf(run: string, shard: number, file: string): DetectResult {
  const detections = [{ artifact_type: "click", start_ms: 10, end_ms: 20, confidence: 0.9 }];
  const sha256 = createHash("sha256").update(file).digest("hex");
  const facts = { duration_ms: 1000, sample_rate_hz: 8000, channels: 1, sha256, size_bytes: 10 };
  return {
    version: 1,
    kind: "detect",
    run,
    shard,
    items: [{ id: file, status: "completed", ...facts, detections }],
  };
}
