// Adapter of inference jobs: checks results and stores their detections. Used by controllers/controllers.ts.

import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { insertInferenceJob } from "../../src/db/inference-job.ts";
import { retryInferenceJob } from "../../src/db/inference-job-end.ts";
import {
  failShard,
  ingestDetections,
  itemCountsOf,
  oneModelTypesOfInference,
} from "../../src/db/operator/ingest.ts";
import { validationFailed, valueError } from "../../src/errors.ts";
import { inferenceJobs } from "../../src/kube/kinds.ts";
import { effectiveConfig, type inferenceJobKind } from "../../src/schemas/inference-job.ts";
import { runSettingsOf } from "../../src/schemas/job-resource.ts";
import type { Resource } from "../../src/schemas/kind.ts";
import { InvalidResultError, type JobAdapter } from "../job/adapter.ts";
import { checkDetections } from "./check.ts";

type InferenceJobSpec = Resource<typeof inferenceJobKind>["spec"];

export function inferenceJobAdapter({
  db,
  installation,
  maxWaiting,
  maxFiles,
}: {
  db: DatabasePool;
  installation: string;
  /** Upper bound of waiting inference jobs per tenant; 0 means no limit. */
  maxWaiting: number;
  /** Upper bound of the files in a tenant's inference jobs; 0 means no limit. */
  maxFiles: number;
}): JobAdapter {
  const request = { maxWaiting, maxFiles, traceparent: null, installation };
  return {
    kind: "inference",
    verb: "detect",
    type: inferenceJobs,
    async adopt(cr, resource) {
      const { tenantId, modelId, datasetId, audioFileIds, config, shards } = cr.spec as InferenceJobSpec;
      if (datasetId === undefined && audioFileIds === undefined)
        throw validationFailed([
          valueError(
            ["spec", "datasetId"],
            "give datasetId or audioFileIds; only the REST API can create uploads",
          ),
        ]);
      const job = {
        modelId,
        config: effectiveConfig(config ?? {}),
        audioFileIds: audioFileIds ?? null,
        datasetId: datasetId ?? null,
        shards: shards.count,
      };
      await insertInferenceJob(db, tenantId, job, { ...request, resource, settings: runSettingsOf(cr.spec) });
    },
    retry: ({ spec }, id, newId) =>
      retryInferenceJob(db, spec.tenantId, id, { ...request, id: newId, settings: runSettingsOf(spec) }),
    async ingest(ref, digest, result) {
      if (result.kind !== "detect") throw new InvalidResultError("The result is not a detection result.");
      const types = await oneModelTypesOfInference(db, ref.jobId);
      const wrong = checkDetections(result, types);
      if (wrong !== undefined) throw new InvalidResultError(wrong);
      return ingestDetections(db, ref, digest, result);
    },
    failShard: (ref, message) => failShard(db, "inference", ref, message),
    items: (jobId) => itemCountsOf(db, "inference", jobId),
    completed: async () => ({}),
  };
}
