// Creates the custom resource of a job row. The API calls it right after its commit; the operator's sweep calls it for
// rows that the API did not submit. Both may do so at once: the name comes from the row, so creation is idempotent. Jobs of
// other installations are left to them.
import type { Db } from "./db/driver/page.ts";
import {
  markSubmitted,
  maybeOneSubmission,
  recordSubmitError,
  type Submission,
} from "./db/operator/outbox.ts";
import type { Kube } from "./kube/client.ts";
import { isAlreadyExists, isDenied } from "./kube/errors.ts";
import { embeddingJobs, inferenceJobs, trainingJobs } from "./kube/kinds.ts";
import type { KubeObject, ResourceType } from "./kube/objects.ts";
import type { Log } from "./log.ts";
import { type JobKind, resourceName } from "./schemas/job-kind.ts";
import { traceparentAnnotation } from "./schemas/job-resource.ts";

export type JobRef = { kind: JobKind; id: string };
export type Submit = (job: JobRef) => Promise<void>;

export const resourceTypes: Record<JobKind, ResourceType> = {
  training: trainingJobs,
  inference: inferenceJobs,
  embedding: embeddingJobs,
};

/** How many pods of one job run at once, unless its settings or somebody who edits the custom resource say otherwise. */
const parallelism = 4;

/** Returns a function that rejects when it cannot create the custom resource; the operator's sweep then tries again. */
export function makeSubmit(deps: {
  db: Db;
  kube: Kube;
  installation: string;
  namespace: string;
  log: Log;
}): Submit {
  const { db, kube, installation, namespace, log } = deps;
  return async ({ kind, id }) => {
    const submission = await maybeOneSubmission(db, installation, kind, id);
    if (submission === null) return;
    try {
      await create(kind, resourceOf(submission, id, namespace), submission.tenantId);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const statusMessage = isDenied(error) ? `The cluster rejects the job: ${message}` : null;
      await recordSubmitError(db, kind, id, message, statusMessage).catch(() => undefined);
      throw error;
    }
    await markSubmitted(db, kind, id);
  };

  /** Creates the resource, unless it exists already. */
  async function create(kind: JobKind, object: JobObject, tenantId: string): Promise<void> {
    const type = resourceTypes[kind];
    const { name } = object.metadata;
    try {
      await kube.create(type, object);
      log.info({ kind, name }, "submitted a job");
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const present = (await kube.get(type, object.metadata)) as JobObject;
      if (present.spec.tenantId !== tenantId)
        throw new Error(`cannot submit a job: ${type.kind} ${name} exists and belongs to another tenant`);
    }
  }
}

type JobObject = KubeObject & { spec: { tenantId: string; [field: string]: unknown } };

/** Builds the custom resource of a row. Pure: the same row gives the same object. */
export function resourceOf(submission: Submission, id: string, namespace: string): JobObject {
  const { kind, tenantId, settings } = submission;
  const count = kind === "training" ? 1 : submission.shardCount;
  const own =
    kind === "training"
      ? trainingSpec(submission)
      : kind === "inference"
        ? { modelId: submission.modelId }
        : {};
  // One failed shard must not discard the results of the others: the job goes on while one shard can succeed.
  const retries = { perShard: 2, maxFailedShards: count - 1 };
  const { parallelism: most, ...run } = settings ?? { parallelism, retries };
  return {
    metadata: {
      name: resourceName(kind, id),
      namespace,
      labels: { "app.kubernetes.io/part-of": "plosive", "plosive.dev/tenant": tenantId },
      ...("traceparent" in submission && submission.traceparent !== null
        ? { annotations: { [traceparentAnnotation]: submission.traceparent } }
        : {}),
    },
    spec: {
      tenantId,
      shards: { count, parallelism: Math.min(count, most) },
      ...run,
      ...own,
      ...(submission.cancelRequested ? { cancel: { reason: "Cancelled by the client" } } : {}),
    },
  };
}

function trainingSpec({ datasetId, annotationSetId, config }: Submission & { kind: "training" }) {
  const { max_runtime_seconds: activeDeadlineSeconds, ...trainers } = config;
  return {
    datasetId,
    annotationSetId,
    config: trainers,
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
  };
}
