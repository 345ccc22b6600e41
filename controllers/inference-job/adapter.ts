// Inference jobs for the engine: what becomes of their results. Called by controllers/controllers.ts.
import { failShard, ingestDetections, oneModelTypesOfInference } from "../../src/db/ingest.ts";
import type { Database } from "../../src/db/job.ts";
import { inferenceJobs } from "../../src/kube/kinds.ts";
import { InvalidResultError, type JobAdapter } from "../job/adapter.ts";
import { checkDetections } from "./check.ts";

export function inferenceJobAdapter({ db }: { db: Database }): JobAdapter {
  return {
    kind: "inference",
    verb: "detect",
    type: inferenceJobs,
    async ingest(ref, digest, result) {
      if (result.kind !== "detect") throw new InvalidResultError("The result is not one of a detection.");
      const types = await oneModelTypesOfInference(db, ref.jobId);
      const wrong = checkDetections(result, types);
      if (wrong !== undefined) throw new InvalidResultError(wrong);
      return ingestDetections(db, ref, digest, result);
    },
    failShard: (ref, message) => failShard(db, "inference", ref, message),
    completed: async () => ({}),
  };
}
