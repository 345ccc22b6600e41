// Adapter of embedding jobs: stores where the embeddings of each file are. Used by controllers/controllers.ts.

import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { insertEmbeddingJob } from "../../src/db/operator/embedding-job.ts";
import { failShard, ingestEmbeddings, itemCountsOf } from "../../src/db/operator/ingest.ts";
import { embeddingJobs } from "../../src/kube/kinds.ts";
import { InvalidResultError, type JobAdapter } from "../job/adapter.ts";

export function embeddingJobAdapter({
  db,
  installation,
}: {
  db: DatabasePool;
  installation: string;
}): JobAdapter {
  return {
    kind: "embedding",
    verb: "embed",
    type: embeddingJobs,
    adopt: (cr, resource) =>
      insertEmbeddingJob(db, installation, cr.spec.tenantId, cr.spec.shards.count, resource),
    async ingest(ref, digest, result) {
      if (result.kind !== "embed") throw new InvalidResultError("The result is not an embedding result.");
      return ingestEmbeddings(db, ref, digest, result);
    },
    failShard: (ref, message) => failShard(db, "embedding", ref, message),
    items: (jobId) => itemCountsOf(db, "embedding", jobId),
    completed: async () => ({}),
  };
}
