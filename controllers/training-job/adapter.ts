// Adapter of training jobs: a result becomes a model row and then a Model resource. Used by controllers/controllers.ts.

import { newId } from "../../src/db/driver/id.ts";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { maybeOneJob } from "../../src/db/job.ts";
import { ingestModel, type ModelRow, maybeOneModelOfJob } from "../../src/db/operator/ingest.ts";
import { insertTrainingJob, retryTrainingJob } from "../../src/db/training-job.ts";
import { validationFailed, valueError } from "../../src/errors.ts";
import type { Kube } from "../../src/kube/client.ts";
import { isAlreadyExists } from "../../src/kube/errors.ts";
import { models, trainingJobs } from "../../src/kube/kinds.ts";
import { keys } from "../../src/schemas/job-kind.ts";
import { type JobStatus, runSettingsOf } from "../../src/schemas/job-resource.ts";
import type { Resource } from "../../src/schemas/kind.ts";
import type { trainingJobKind } from "../../src/schemas/training-job.ts";
import { trainResult } from "../../src/schemas/worker.ts";
import { isNotFound } from "../../src/storage/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { InvalidResultError, type JobAdapter } from "../job/adapter.ts";
import { maxResultBytes } from "../job/results.ts";
import { buildModel } from "./build-model.ts";

type TrainingJobSpec = Resource<typeof trainingJobKind>["spec"];

/** Default time limit of a training, in REST and in the custom resource. */
const oneDaySeconds = 86_400;

type Artifacts = JobStatus["artifacts"];

export function trainingJobAdapter(deps: {
  db: DatabasePool;
  kube: Kube;
  storage: Storage;
  installation: string;
  namespace: string;
  /** Upper bound of waiting training jobs per tenant; 0 means no limit. */
  maxWaiting: number;
}): JobAdapter {
  const { db, kube, storage, installation, namespace, maxWaiting } = deps;
  const request = { maxWaiting, traceparent: null, installation };
  return {
    kind: "training",
    verb: "train",
    type: trainingJobs,
    async adopt(cr, resource) {
      const { tenantId, datasetId, annotationSetId, config, shards, activeDeadlineSeconds } =
        cr.spec as TrainingJobSpec;
      if (shards.count !== 1)
        throw validationFailed([valueError(["spec", "shards", "count"], "a training job has one shard")]);
      const limit =
        activeDeadlineSeconds === oneDaySeconds ? {} : { max_runtime_seconds: activeDeadlineSeconds };
      const job = {
        dataset_id: datasetId,
        annotation_set_id: annotationSetId,
        config: { ...config, ...limit },
      };
      const settings = runSettingsOf(cr.spec);
      await insertTrainingJob(db, tenantId, job, { ...request, resource, settings });
    },
    retry({ spec }, id, newId) {
      const settings = runSettingsOf(spec);
      return retryTrainingJob(db, spec.tenantId, id, { ...request, id: newId, settings });
    },
    async ingest(ref, digest, result) {
      if (result.kind !== "train") throw new InvalidResultError("The result is not a training result.");
      const tenant = await oneTenant(ref.jobId);
      for (const { name, size_bytes } of result.artifacts) {
        if (name.includes("/"))
          throw new InvalidResultError("The training result names an artifact with a path.");
        const head = await storage
          .head(keys.model(tenant, ref.jobId, ref.run, name))
          .catch((error: unknown) => {
            if (isNotFound(error)) throw new InvalidResultError(`The training did not upload ${name}.`);
            throw error;
          });
        if (head.sizeBytes !== size_bytes) {
          throw new InvalidResultError(
            `The uploaded ${name} has ${head.sizeBytes} bytes; the training result says ${size_bytes}.`,
          );
        }
      }
      for (const name of ["model.onnx", "card.json"]) {
        if (!result.artifacts.some((artifact) => artifact.name === name)) {
          throw new InvalidResultError(`The training result does not list ${name}.`);
        }
      }
      return ingestModel(db, ref, digest, result, newId());
    },
    // A training has a single shard, so it never continues without one.
    failShard: async () => undefined,
    items: async () => undefined,
    async completed(_cr, jobId) {
      const row = await maybeOneModelOfJob(db, jobId);
      if (row === null) return {};
      await kube.create(models, buildModel(row, namespace)).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
      return { modelId: row.id, artifacts: await artifactsOf(row) };
    },
  };

  /** The artifacts of the run that produced the model; undefined when its result has been purged. */
  async function artifactsOf({ tenantId, trainingJobId, objectStoreKey }: ModelRow): Promise<Artifacts> {
    const run = objectStoreKey.split("/").at(-2) ?? "";
    try {
      const bytes = await storage.readAll(keys.result(run, 0), maxResultBytes);
      const { artifacts } = trainResult.parse(JSON.parse(bytes.toString("utf8")));
      return artifacts.map(({ name, sha256, size_bytes }) => {
        return { name, key: keys.model(tenantId, trainingJobId, run, name), sha256, sizeBytes: size_bytes };
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function oneTenant(jobId: string): Promise<string> {
    const row = await maybeOneJob(db, "training", jobId);
    if (row === null) throw new InvalidResultError("The database has no such training job.");
    return row.tenant_id;
  }
}
