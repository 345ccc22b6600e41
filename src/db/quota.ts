// Quotas and usage of tenants. Triggers maintain the numbers that would take long to count (migration 0005). Quotas of
// datasets, annotation sets, keys, webhooks and jobs are exact: an advisory lock serializes creation. The quotas of audio
// and of a tenant's annotations are checked without a lock, in a statement that the request needs anyway, so requests at the
// same instant may together exceed them by what they add themselves. Called by the create functions of src/db.
import { sql } from "slonik";
import { z } from "zod";
import { annotationSetFull, quotaExceeded, tooManyAnnotations } from "../errors.ts";
import { defaultInstallation } from "../schemas/installation.ts";
import type { RunSettings } from "../schemas/job-resource.ts";
import { usage as inRest } from "../schemas/usage.ts";
import { countRows, type Db } from "./driver/page.ts";
import { type Usage as JobUsage, usage as jobUsage, usageColumns } from "./job.ts";

/** Quotas of audio; 0: no limit. */
export interface AudioQuota {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** Quotas of annotations; 0: no limit. */
export interface AnnotationQuota {
  readonly perSet: number;
  readonly perTenant: number;
  readonly sets: number;
}
export const unlimitedAnnotations: AnnotationQuota = { perSet: 0, perTenant: 0, sets: 0 };

/** The number of the tenant's annotations, with those that copies under way have still to add. */
export const annotationsOf = (tenantId: string) => sql.fragment`
  select coalesce(sum(greatest(annotation_count, (copying ->> 'total')::bigint)), 0)::bigint
  from annotation_sets where tenant_id = ${tenantId}`;

/** Rejects with quotaExceeded when a set with `inSet` annotations, or a tenant with `inAll`, is above its quota. */
export function requireAnnotations(
  inSet: number,
  inAll: number,
  { perSet, perTenant }: AnnotationQuota,
): void {
  if (perSet > 0 && inSet > perSet) throw annotationSetFull(perSet);
  if (perTenant > 0 && inAll > perTenant) throw tooManyAnnotations(perTenant);
}

/** Further properties of a request that creates a job. */
export interface JobRequest {
  /** Quota of waiting jobs; 0: no limit. */
  readonly maxWaiting: number;
  /** Quota of files in inference jobs; 0 or undefined: no limit. */
  readonly maxFiles?: number;
  /** W3C trace context. */
  readonly traceparent: string | null;
  /** The installation that runs the job. */
  readonly installation: string;
  /** The custom resource, if the job is adopted. */
  readonly resource?: AppliedResource;
  /** Id of the job, if it does not have the one of its resource; by default a new one. */
  readonly id?: string;
  /** How the job runs; a retried job has those of the first one by default. */
  readonly settings?: RunSettings;
}
/** A custom resource that a person applied; its uid becomes the job's id. */
export interface AppliedResource {
  readonly uid: string;
  readonly name: string;
}
/** The settings of a job as a value for its row. */
export const settingsJson = ({ settings }: JobRequest) =>
  sql.fragment`${settings === undefined ? null : JSON.stringify(settings)}::jsonb`;

/** The value of submitted_at: an adopted job has its custom resource already. */
export const submittedAt = (resource: AppliedResource | undefined) =>
  resource === undefined ? sql.fragment`null` : sql.fragment`now()`;

/** Message and data of a job's first event. */
export const creationEvent = ({ resource }: JobRequest): [string, Record<string, string>] =>
  resource === undefined
    ? ["The job was created", {}]
    : [`The job was created in Kubernetes as ${resource.name}`, { resource: resource.name }];

export const plainJobRequest: JobRequest = {
  maxWaiting: 0,
  traceparent: null,
  installation: defaultInstallation,
};

/** A tenant's usage, with the members of GET /api/v1/usage. */
const usage = z.record(inRest.shape.quotas.keyof(), z.number());
export type Usage = z.infer<typeof usage>;

const waiting = sql.fragment`status in ('pending', 'queued')`;
const running = sql.fragment`status in ('running', 'cancelling')`;

/** Returns the tenant's usage. For quotas per dataset or set it is that of the largest one. */
export async function usageOf(db: Db, tenantId: string): Promise<Usage> {
  return await db.one(sql.type(usage)`
    select (select count(*) from datasets where tenant_id = ${tenantId}) as datasets,
      coalesce((select audio_bytes from tenant_usage where tenant_id = ${tenantId}), 0) as audio_bytes,
      coalesce((
        select max(u.audio_files) from datasets d join dataset_usage u on u.tenant_id = d.tenant_id and u.dataset_id = d.id
        where d.tenant_id = ${tenantId}), 0) as audio_files_per_dataset,
      coalesce((select max(annotation_count) from annotation_sets where tenant_id = ${tenantId}), 0)
        as annotations_per_set,
      (select count(*) from annotation_sets where tenant_id = ${tenantId}) as annotation_sets,
      (${annotationsOf(tenantId)}) as annotations,
      (select count(*) from training_jobs where tenant_id = ${tenantId} and ${running}) as running_training_jobs,
      (select count(*) from training_jobs where tenant_id = ${tenantId} and ${waiting}) as waiting_training_jobs,
      (select count(*) from inference_jobs where tenant_id = ${tenantId} and ${running}) as running_inference_jobs,
      (select count(*) from inference_jobs where tenant_id = ${tenantId} and ${waiting}) as waiting_inference_jobs,
      coalesce((select inference_files from tenant_usage where tenant_id = ${tenantId}), 0) as inference_files,
      (select count(*) from api_keys where tenant_id = ${tenantId} and revoked_at is null) as api_keys,
      (select count(*) from webhooks where tenant_id = ${tenantId}) as webhooks`);
}

/** Returns the compute usage of a tenant's jobs, deleted jobs included. */
export async function computeOf(db: Db, tenantId: string): Promise<JobUsage> {
  const used = await db.maybeOne(sql.type(jobUsage)`
    select ${usageColumns} from tenant_usage where tenant_id = ${tenantId}`);
  return used ?? { pod_seconds: 0, cpu_seconds: 0, gpu_seconds: 0, audio_seconds: 0 };
}

type QuotaTable = "datasets" | "annotation_sets" | "api_keys" | "dashboard_sessions" | "webhooks" | JobTable;

/**
 * Takes the tenant's advisory lock for a table. Other transactions of the tenant block here until this one ends, so the
 * next statement sees everything that earlier ones committed.
 */
export async function lockQuota(tx: Db, table: QuotaTable, tenantId: string): Promise<void> {
  await tx.query(sql.fragment`
    select pg_advisory_xact_lock(hashtextextended(${`${table} ${tenantId}`}, 0))`);
}

type JobTable = "training_jobs" | "inference_jobs";

/**
 * Rejects with `exceeded()` when `max` of the tenant's rows of `table` match `which` (0: no limit). Other transactions of the
 * tenant that reach it block until this one ends.
 */
export async function requireBelowQuota(
  tx: Db,
  table: QuotaTable,
  tenantId: string,
  max: number,
  exceeded: () => Error,
  which = sql.fragment`true`,
): Promise<void> {
  if (max === 0) return;
  await lockQuota(tx, table, tenantId);
  const from = sql.fragment`${sql.identifier([table])} where tenant_id = ${tenantId} and ${which}`;
  if ((await countRows(tx, from)) >= max) throw exceeded();
}

/**
 * An SQL condition: the tenant has fewer than `max` waiting jobs of `table` (0: no limit). The operator limits how many jobs run at
 * once.
 */
export const isBelowWaitingQuota = (table: JobTable, tenantId: string, max: number) => sql.fragment`(
  ${max}::bigint = 0 or ${max}::bigint > (
    select count(*) from ${sql.identifier([table])} where tenant_id = ${tenantId} and ${waiting}))`;

/**
 * Rejects with quotaExceeded when the tenant has more than `max` waiting jobs (0: no limit), the one just added
 * included. Call it last in the transaction, because of its lock.
 */
export async function requireWaitingQuota(
  tx: Db,
  kind: "training" | "inference",
  tenantId: string,
  max: number,
): Promise<void> {
  if (max === 0) return;
  const exceeded = () => waitingQuotaExceeded(kind, max);
  await requireBelowQuota(tx, `${kind}_jobs`, tenantId, max + 1, exceeded, waiting);
}

/** Throws quotaExceeded when `added` bytes of audio, besides those `present`, would exceed the quota. */
export function requireBytes(present: number, added: number, { maxBytes }: AudioQuota): void {
  if (maxBytes > 0 && present + added > maxBytes)
    throw quotaExceeded(
      `An account has at most ${maxBytes} bytes of audio; it has ${present}, and these files would add ${added}`,
    );
}

/**
 * Rejects with quotaExceeded when the tenant's inference jobs have `max` files or more (0: no limit). Called before files are
 * added: a dataset may have 100,000, which take seconds to add.
 */
export async function requireInferenceFiles(db: Db, tenantId: string, max = 0): Promise<void> {
  if (max === 0) return;
  const present = await db.maybeOneFirst(sql.type(z.object({ inference_files: z.number() }))`
    select inference_files from tenant_usage where tenant_id = ${tenantId}`);
  if ((present ?? 0) >= max)
    throw quotaExceeded(
      `The inference jobs of an account have at most ${max} files; they have ${present}. Delete jobs that you no longer need`,
    );
}

/** Returns the bytes of audio that the tenant owns, unconfirmed uploads included. */
export async function audioBytesOf(db: Db, tenantId: string): Promise<number> {
  const bytes = await db.maybeOneFirst(sql.type(z.object({ audio_bytes: z.number() }))`
    select audio_bytes from tenant_usage where tenant_id = ${tenantId}`);
  return bytes ?? 0;
}

export const waitingQuotaExceeded = (kind: string, max: number) =>
  quotaExceeded(
    `An account has at most ${max} waiting ${kind} jobs; wait until some have started, or cancel some`,
  );
