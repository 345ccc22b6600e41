// The job rows of one installation as an outbox: rows without a custom resource, and cancellations that the custom resource
// lacks. Called by src/submit.ts and controllers/outbox.ts.
import { SchemaValidationError, sql } from "slonik";
import { z } from "zod";
import { type JobKind, jobKindNames } from "../../schemas/job-kind.ts";
import { runSettings } from "../../schemas/job-resource.ts";
import { trainingJobConfig } from "../../schemas/training-config.ts";
import type { Db } from "../driver/page.ts";
import { storable } from "../driver/storable.ts";
import { isOpen, tableOf } from "../job.ts";

const common = { tenantId: z.string(), cancelRequested: z.boolean(), settings: runSettings.nullable() };
/** W3C trace context of the request that created the job. */
const traceparent = z.string().nullable();
const submissions = {
  training: z.object({
    ...common,
    datasetId: z.string(),
    annotationSetId: z.string(),
    config: trainingJobConfig,
    traceparent,
  }),
  inference: z.object({ ...common, modelId: z.string(), shardCount: z.int(), traceparent }),
  embedding: z.object({ ...common, shardCount: z.int() }),
};
const ofRequest = sql.fragment`cancel_requested_at is not null as "cancelRequested", settings, traceparent`;
const columns = {
  training: sql.fragment`${ofRequest}, dataset_id as "datasetId", annotation_set_id as "annotationSetId", config`,
  inference: sql.fragment`${ofRequest}, model_id as "modelId", coalesce(shard_count, 1) as "shardCount"`,
  embedding: sql.fragment`false as "cancelRequested", null as settings, shard_count as "shardCount"`,
};

export type Submission = {
  [K in JobKind]: { kind: K } & z.infer<(typeof submissions)[K]>;
}[JobKind];

/**
 * Returns the data for the custom resource of an open job; null when the job has ended, has not been started, belongs to
 * another installation or is unknown. Rejects with MalformedJobError when the row is invalid.
 */
export async function maybeOneSubmission(
  db: Db,
  installation: string,
  kind: JobKind,
  id: string,
): Promise<Submission | null> {
  const isStarted = kind === "inference" ? sql.fragment`start_requested_at is not null` : sql.fragment`true`;
  try {
    const row = await db.maybeOne(sql.type(submissions[kind])`
      select tenant_id as "tenantId", ${columns[kind]} from ${tableOf(kind)}
      where id = ${id} and installation = ${installation} and ${isOpen} and ${isStarted}`);
    return row && ({ kind, ...row } as Submission);
  } catch (error) {
    if (!(error instanceof SchemaValidationError)) throw error;
    const fields = error.issues.map(({ path, message }) => `${path?.join(".")}: ${message}`).join("; ");
    throw new MalformedJobError(`cannot submit ${kind} job ${id}: its row is invalid: ${fields}`, {
      cause: error,
    });
  }
}

/** The row contains values that a custom resource must not have; retrying does not help. */
export class MalformedJobError extends Error {
  override name = "MalformedJobError";
}

/** Records that the custom resource exists. */
export async function markSubmitted(db: Db, kind: JobKind, id: string): Promise<void> {
  await db.query(sql.fragment`
    update ${tableOf(kind)} set submitted_at = coalesce(submitted_at, now()), submit_error = null
    where id = ${id}`);
}

/** Has the job submitted again, because its custom resource is missing. */
export async function markUnsubmitted(db: Db, kind: JobKind, id: string): Promise<void> {
  await db.query(sql.fragment`
    update ${tableOf(kind)} set submitted_at = null where id = ${id} and ${isOpen}`);
}

/**
 * Records why the last attempt to submit failed, for diagnosis; manyUnsubmitted also sorts such rows last. `statusMessage` is
 * what the job's tenant sees; null leaves it.
 */
export async function recordSubmitError(
  db: Db,
  kind: JobKind,
  id: string,
  error: string,
  statusMessage: string | null,
): Promise<void> {
  const shown = statusMessage === null ? null : storable(statusMessage.slice(0, 1000));
  await db.query(sql.fragment`
    update ${tableOf(kind)} set
      submit_error = ${storable(error.slice(0, 1000))}, status_message = coalesce(${shown}::text, status_message)
    where id = ${id} and submitted_at is null and ${isOpen}`);
}

const due = z.object({ id: z.string() });
export type JobRef = { kind: JobKind; id: string };

/**
 * Returns the installation's open jobs without a custom resource, oldest first; jobs whose submission failed come last.
 * `olderThanMs` leaves the API time to submit its new jobs itself. `except`: ids of jobs that are left out.
 */
export async function manyUnsubmitted(
  db: Db,
  options: { installation: string; olderThanMs: number; except: readonly string[]; limit: number },
): Promise<JobRef[]> {
  const found: JobRef[] = [];
  for (const kind of jobKindNames) {
    const since = kind === "inference" ? sql.fragment`start_requested_at` : sql.fragment`created_at`;
    const ids = await db.anyFirst(sql.type(due)`
      select id from ${tableOf(kind)}
      where submitted_at is null and ${isOpen} and installation = ${options.installation}
        and ${since} < now() - make_interval(secs => ${options.olderThanMs / 1000}::double precision)
        and id <> all(${sql.array(options.except, "uuid")})
      order by submit_error is not null, ${since} limit ${options.limit}`);
    found.push(...ids.map((id) => ({ kind, id })));
  }
  return found;
}

/** A job; `resource` is the custom resource's name if it is adopted, otherwise null (the name derives from the id). */
export type SubmittedJob = JobRef & { resource: string | null };

/** Returns the installation's jobs whose cancellation is not in their custom resource yet, but for the ids `except`. */
export async function manyCancels(
  db: Db,
  installation: string,
  except: readonly string[],
  limit: number,
): Promise<(SubmittedJob & { kind: "training" | "inference" })[]> {
  const found: (SubmittedJob & { kind: "training" | "inference" })[] = [];
  for (const kind of ["training", "inference"] as const) {
    const rows = await db.any(sql.type(z.object({ id: z.string(), resource: z.string().nullable() }))`
      select id, resource_name as resource from ${tableOf(kind)}
      where cancel_requested_at is not null and cancel_submitted_at is null and submitted_at is not null and ${isOpen}
        and installation = ${installation} and id <> all(${sql.array(except, "uuid")})
      order by cancel_requested_at limit ${limit}`);
    found.push(...rows.map((row) => ({ kind, ...row })));
  }
  return found;
}

/** Shows the job's tenant why its cancellation waits. */
export async function recordDeniedCancel(
  db: Db,
  kind: "training" | "inference",
  id: string,
  reason: string,
): Promise<void> {
  const message = storable(`The cluster rejects the cancellation: ${reason}`.slice(0, 1000));
  await db.query(sql.fragment`
    update ${tableOf(kind)} set status_message = ${message}
    where id = ${id} and ${isOpen} and status_message is distinct from ${message}::text`);
}

/** Records that the custom resource's spec contains the cancellation. */
export async function markCancelSubmitted(db: Db, kind: "training" | "inference", id: string): Promise<void> {
  await db.query(sql.fragment`
    update ${tableOf(kind)} set cancel_submitted_at = now() where id = ${id}`);
}

/** Returns how many seconds the installation's oldest row has waited for its custom resource; 0 when none waits. */
export function oneOutboxLag(db: Db, installation: string): Promise<number> {
  const waits = sql.fragment`submitted_at is null and ${isOpen} and installation = ${installation}`;
  return db.oneFirst(sql.type(z.object({ lag: z.number() }))`
    select coalesce(extract(epoch from now() - min(since)), 0)::double precision as lag from (
      select min(created_at) as since from training_jobs where ${waits}
      union all
      select min(created_at) from embedding_jobs where ${waits}
      union all
      select min(start_requested_at) from inference_jobs where ${waits} and start_requested_at is not null
    ) as waiting`);
}
