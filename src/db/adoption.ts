// What is asked of a job that begins as a custom resource, besides what the API asks of its requests: the API knows its
// tenant by the key, and splits the files itself. Called by controllers/job/adopt.ts and by the insert functions of this
// room.
import { sql } from "slonik";
import { z } from "zod";
import { tenantSuspended, validationFailed, valueError } from "../errors.ts";
import { type JobKind, resourceName } from "../schemas/job-kind.ts";
import { type Queries, tableOf } from "./job.ts";
import type { AppliedResource } from "./quota.ts";

/** What one pod can be given: the most that the contract with the workers takes. */
export const mostFilesPerShard = 1_000;

const fault = (field: readonly string[], clause: string) =>
  validationFailed([valueError(["spec", ...field], clause)]);

/** validationFailed when the tenant is unknown, tenantSuspended. */
export async function requireActiveTenant(db: Queries, tenantId: string): Promise<void> {
  const suspended = await db.maybeOneFirst(sql.type(z.object({ suspended: z.boolean() }))`
    select suspended_at is not null as suspended from tenants where id = ${tenantId}`);
  if (suspended === null) throw fault(["tenantId"], "there is no such tenant");
  if (suspended) throw tenantSuspended();
}

/** validationFailed unless each shard has between one and as many files as a pod takes. */
export function requireShards(shards: number, files: number): void {
  if (shards > files)
    throw fault(["shards", "count"], `there are only ${files} files: give at most ${files} shards`);
  const least = Math.ceil(files / mostFilesPerShard);
  if (shards < least)
    throw fault(["shards", "count"], `${files} files need at least ${least} shards of ${mostFilesPerShard}`);
}

/** Whether the resource is about to be deleted because its job was deleted through the API. */
export async function isLeftBehind(db: Queries, kind: JobKind, resource: AppliedResource): Promise<boolean> {
  const { name, uid } = resource;
  // One that began in Kubernetes, or one that the API had made.
  const targets = sql.array([`${resourceName(kind, uid)}/${name}`, name], "text");
  return await db.oneFirst(sql.type(z.object({ left: z.boolean() }))`
    select exists (select from leftovers where at_once and kind = 'resource' and target = any(${targets})) as left`);
}

/** The open jobs whose custom resource had this name; several when the name was used again. */
export async function manyAdopted(db: Queries, kind: JobKind, name: string): Promise<readonly string[]> {
  return await db.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from ${tableOf(kind)}
    where resource_name = ${name} and status not in ('completed', 'failed', 'cancelled')`);
}
