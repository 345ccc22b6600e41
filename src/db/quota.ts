// What tenants may have and what they have. Where counting would take long the database keeps the number (migration
// 0005). Places for datasets, keys, webhooks and jobs are given one after the other. Of audio each announcement looks at
// it in a statement that it needs anyway: two at once may both find the last place free, so this quota is passed by as
// many as come at the same instant, and no more. Called by the create functions of this room.
import { sql } from "slonik";
import { z } from "zod";
import { quotaExceeded } from "../errors.ts";
import { type Usage as JobUsage, usage as jobUsage, usageColumns } from "./job.ts";
import type { Db } from "./page.ts";

/** Of audio; 0 is no limit. */
export interface AudioQuota {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

/** What a request that makes a job brings along besides. */
export interface JobRequest {
  /** Jobs that may wait; 0: no limit. */
  readonly maxWaiting: number;
  /** W3C trace context. */
  readonly traceparent: string | null;
  /** The custom resource that asks for the job, when it was there first. */
  readonly resource?: AppliedResource;
}
/** A custom resource that somebody made in Kubernetes; its uid becomes the job's id. */
export interface AppliedResource {
  readonly uid: string;
  readonly name: string;
}
/** What is there already needs no submitting. */
export const submittedAt = (resource: AppliedResource | undefined) =>
  resource === undefined ? sql.fragment`null` : sql.fragment`now()`;

/** The first event of a job: its message and data. */
export const madeBy = ({ resource }: JobRequest): [string, Record<string, string>] =>
  resource === undefined
    ? ["The job was created", {}]
    : [`The job was created in Kubernetes as ${resource.name}`, { resource: resource.name }];

export const plainJobRequest: JobRequest = { maxWaiting: 0, traceparent: null };

/** What a tenant has, in the words of GET /api/v1/usage. */
const usage = z.object({
  datasets: z.number(),
  audio_bytes: z.number(),
  audio_files_per_dataset: z.number(),
  annotations_per_set: z.number(),
  running_training_jobs: z.number(),
  waiting_training_jobs: z.number(),
  running_inference_jobs: z.number(),
  waiting_inference_jobs: z.number(),
  api_keys: z.number(),
  webhooks: z.number(),
});
export type Usage = z.infer<typeof usage>;

const waiting = sql.fragment`status in ('pending', 'queued')`;
const running = sql.fragment`status in ('running', 'cancelling')`;

/** Where a quota is for each dataset or set: what the largest one has. */
export async function usageOf(db: Db, tenantId: string): Promise<Usage> {
  return await db.one(sql.type(usage)`
    select (select count(*) from datasets where tenant_id = ${tenantId}) as datasets,
      coalesce((select audio_bytes from tenant_usage where tenant_id = ${tenantId}), 0) as audio_bytes,
      coalesce((select max(audio_files) from dataset_usage where tenant_id = ${tenantId}), 0) as audio_files_per_dataset,
      coalesce((select max(annotation_count) from annotation_sets where tenant_id = ${tenantId}), 0)
        as annotations_per_set,
      (select count(*) from training_jobs where tenant_id = ${tenantId} and ${running}) as running_training_jobs,
      (select count(*) from training_jobs where tenant_id = ${tenantId} and ${waiting}) as waiting_training_jobs,
      (select count(*) from inference_jobs where tenant_id = ${tenantId} and ${running}) as running_inference_jobs,
      (select count(*) from inference_jobs where tenant_id = ${tenantId} and ${waiting}) as waiting_inference_jobs,
      (select count(*) from api_keys where tenant_id = ${tenantId} and revoked_at is null) as api_keys,
      (select count(*) from webhooks where tenant_id = ${tenantId}) as webhooks`);
}

/** What a tenant's jobs have used, of those too that are deleted. */
export async function computeOf(db: Db, tenantId: string): Promise<JobUsage> {
  const used = await db.maybeOne(sql.type(jobUsage)`
    select ${usageColumns} from tenant_usage where tenant_id = ${tenantId}`);
  return used ?? { pod_seconds: 0, cpu_seconds: 0, gpu_seconds: 0, audio_seconds: 0 };
}

/** A condition: fewer than `most` of the tenant's rows of `table` pass `which`. */
export function hasPlace(table: string, tenantId: string, most: number, which = sql.fragment`true`) {
  return sql.fragment`(${most}::bigint = 0 or ${most}::bigint > (
    select count(*) from ${sql.identifier([table])} where tenant_id = ${tenantId} and ${which}))`;
}

type InTurns = "datasets" | "api_keys" | "webhooks" | JobTable;

/** Until the present transaction ends, others of the tenant that have come so far wait. The next statement sees all before. */
export async function takeTurn(tx: Db, table: InTurns, tenantId: string): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    select pg_advisory_xact_lock(hashtextextended(${`${table} ${tenantId}`}, 0))`);
}

type JobTable = "training_jobs" | "inference_jobs";

/** The same for jobs that have not begun. How many run at once is up to the operator. */
export const hasWaitingPlace = (table: JobTable, tenantId: string, most: number) =>
  hasPlace(table, tenantId, most, waiting);

/**
 * quotaExceeded when the tenant has more jobs that wait than it may, after the present one was made. The last step of its
 * transaction: until that has ended, others that have come so far wait.
 */
export async function requireWaitingPlace(
  tx: Db,
  kind: "training" | "inference",
  tenantId: string,
  most: number,
): Promise<void> {
  if (most === 0) return;
  const table: JobTable = `${kind}_jobs`;
  await takeTurn(tx, table, tenantId);
  const fits = await tx.oneFirst(sql.type(z.object({ fits: z.boolean() }))`
    select ${hasPlace(table, tenantId, most + 1, waiting)} as fits`);
  if (!fits) throw tooManyWaiting(kind, most);
}

/** quotaExceeded when the tenant has no room for so many bytes of audio more. */
export function requireBytes(present: number, added: number, { maxBytes }: AudioQuota): void {
  if (maxBytes > 0 && present + added > maxBytes)
    throw quotaExceeded(
      `An account has at most ${maxBytes} bytes of audio; it has ${present}, these would be ${added} more`,
    );
}

/** Bytes of audio that the tenant has, announced uploads included. */
export async function audioBytesOf(db: Db, tenantId: string): Promise<number> {
  const bytes = await db.maybeOneFirst(sql.type(z.object({ audio_bytes: z.number() }))`
    select audio_bytes from tenant_usage where tenant_id = ${tenantId}`);
  return bytes ?? 0;
}

export const tooManyWaiting = (kind: string, most: number) =>
  quotaExceeded(`An account has at most ${most} ${kind} jobs that wait; wait for some or cancel them`);
