// The interface between the job engine and one kind of job. Everything outside it is the same for all three kinds.
// Implemented by controllers/{training-job,inference-job,embedding-job}/adapter.ts.
import type { z } from "zod";
import type { IngestOutcome, ItemCounts, ShardRef } from "../../src/db/operator/ingest.ts";
import type { AppliedResource } from "../../src/db/quota.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import type { commonSpec, JobStatus } from "../../src/schemas/job-resource.ts";
import type { Verb } from "../../src/schemas/profile.ts";
import type { Result } from "../../src/schemas/worker.ts";

type CommonSpec = z.infer<z.ZodObject<typeof commonSpec>>;

/** A custom resource of any of the three kinds, with the fields that the engine reads. */
export type JobResource = KubeObject & { spec: CommonSpec; status?: JobStatus };

export type JobAdapter = {
  kind: JobKind;
  verb: Verb;
  type: ResourceType<JobResource>;
  /**
   * Creates the row of a custom resource that was applied with kubectl. Throws AppError where the API would refuse it.
   */
  adopt(cr: JobResource, resource: AppliedResource): Promise<void>;
  /**
   * Adds the row of a new job like this ended one, with the id `newId`. Throws AppError where the API would refuse it.
   * Undefined for kinds that cannot be retried.
   */
  retry?(cr: JobResource, id: string, newId: string): Promise<unknown>;
  /** Ingests the result of a shard. Throws InvalidResultError when the result does not fit the job. */
  ingest(ref: ShardRef, digest: string, result: Result): Promise<IngestOutcome>;
  /** Records that a shard has no usable result, while the job continues or succeeds without it. */
  failShard(ref: ShardRef, message: string): Promise<void>;
  /** Counts the items of an ended job from the rows; undefined for kinds whose items have no rows. */
  items(jobId: string): Promise<ItemCounts | undefined>;
  /**
   * Called after the row is completed and before the custom resource says so. The returned fields go into the status.
   */
  completed(cr: JobResource, jobId: string): Promise<Partial<JobStatus> & { modelId?: string }>;
};

/** The result does not fit the job. The shard counts as failed. */
export class InvalidResultError extends Error {
  override name = "InvalidResultError";
}
