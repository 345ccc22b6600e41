// What the job engine must be told about a kind of job; everything else is the same for all three. Implemented by
// controllers/{training-job,inference-job,embedding-job}/adapter.ts.
import type { z } from "zod";
import type { IngestOutcome, ItemCounts, ShardRef } from "../../src/db/ingest.ts";
import type { AppliedResource } from "../../src/db/quota.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { JobKind } from "../../src/schemas/job-kind.ts";
import type { commonSpec, JobStatus } from "../../src/schemas/job-resource.ts";
import type { Verb } from "../../src/schemas/profile.ts";
import type { Result } from "../../src/schemas/worker.ts";

type CommonSpec = z.infer<z.ZodObject<typeof commonSpec>>;

/** A custom resource of any of the three kinds, as far as the engine looks at it. */
export type JobResource = KubeObject & { spec: CommonSpec; status?: JobStatus };

export type JobAdapter = {
  kind: JobKind;
  verb: Verb;
  type: ResourceType<JobResource>;
  /** Adds the row of a custom resource that was there first; throws AppError when the API would refuse it. */
  adopt(cr: JobResource, resource: AppliedResource): Promise<void>;
  /** Takes a shard's result in; throws InvalidResultError when it cannot be what this job asked for. */
  ingest(ref: ShardRef, digest: string, result: Result): Promise<IngestOutcome>;
  /** A shard ended without a usable result while the job goes on or succeeds without it. */
  failShard(ref: ShardRef, message: string): Promise<void>;
  /** How the items of an ended job ended, as the records have it; undefined where only the pods know. */
  items(jobId: string): Promise<ItemCounts | undefined>;
  /** After the row is completed and before the custom resource says so; what it returns goes into the status. */
  completed(cr: JobResource, jobId: string): Promise<Partial<JobStatus> & { modelId?: string }>;
};

/** The result contradicts what was asked for: the shard counts as failed. */
export class InvalidResultError extends Error {
  override name = "InvalidResultError";
}
