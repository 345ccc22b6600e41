// A training job's own limits in Kubernetes: the API server accepts windows of any length, and the maximum runtime
// ends the job.
import { sql } from "slonik";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { maybeOneJob } from "../../src/db/job.ts";
import { trainingJobs } from "../../src/kube/kinds.ts";
import { startPod } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import { insertTenant, insertTrainingJob } from "../support/rows.ts";
import { useOperator } from "../support/use-operator.ts";

const stage = useOperator();
const { cluster, database } = stage;

describe("max_runtime_seconds", () => {
  it("becomes the custom resource's active deadline, and fails a job that runs longer", async () => {
    const tenant = await insertTenant(database.pool);
    // In one transaction, so that the sweep does not submit the row before it has the limit.
    const id = await database.pool.transaction(async (tx) => {
      const job = await insertTrainingJob(tx, tenant);
      await tx.query(sql.type(z.object({}))`
        update training_jobs set config = config ||
          '{"max_runtime_seconds": 2, "chunk_size_ms": 9007199254740991, "stride_ms": 2147483648}'::jsonb
        where id = ${job}`);
      return job;
    });
    const pod = await stage.podOf(`tj-${id}-1`);
    const { spec } = await cluster.admin.get(trainingJobs, stage.ref(`tj-${id}`));
    expect(spec).toMatchObject({
      activeDeadlineSeconds: 2,
      config: { chunk_size_ms: 9_007_199_254_740_991, stride_ms: 2_147_483_648 },
    });
    expect(spec).not.toHaveProperty("config.max_runtime_seconds");
    await startPod(cluster.admin, pod);
    const row = await poll("the job to fail", async () => {
      const now = await maybeOneJob(database.pool, "training", id);
      return now?.status === "failed" ? now : null;
    });
    expect(row.error_message).toBe("The job ran longer than its limit of 2 s.");
  });
});
