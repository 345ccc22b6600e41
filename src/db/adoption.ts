// Checks for the adoption of a custom resource that the API does not need: the API knows the tenant from the key and
// divides the files into shards itself. Called by controllers/job/adopt.ts and by the insert functions of src/db.
import { sql } from "slonik";
import { z } from "zod";
import { tenantSuspended, validationFailed, valueError } from "../errors.ts";
import { type JobKind, resourceName } from "../schemas/job-kind.ts";
import type { Db } from "./driver/page.ts";
import { isOpen, tableOf } from "./job.ts";
import type { AppliedResource } from "./quota.ts";

/** The upper bound of files per shard in the contract with the workers. */
export const maxFilesPerShard = 1_000;

const fault = (field: readonly string[], clause: string) =>
  validationFailed([valueError(["spec", ...field], clause)]);

/** Rejects with validationFailed when the tenant is unknown, with tenantSuspended when it is suspended. */
export async function requireActiveTenant(db: Db, tenantId: string): Promise<void> {
  const suspended = await db
    .expecting(() => fault(["tenantId"], "there is no such tenant"))
    .oneFirst(sql.type(z.object({ suspended: z.boolean() }))`
    select suspended_at is not null as suspended from tenants where id = ${tenantId}`);
  if (suspended) throw tenantSuspended();
}

/** Throws validationFailed unless each shard gets from 1 to `maxFilesPerShard` files. */
export function requireShards(shards: number, files: number): void {
  if (shards > files)
    throw fault(["shards", "count"], `there are only ${files} files; use at most ${files} shards`);
  const least = Math.ceil(files / maxFilesPerShard);
  if (shards < least)
    throw fault(
      ["shards", "count"],
      `${files} files need at least ${least} shards of up to ${maxFilesPerShard} files`,
    );
}

/** Whether the purge queue holds this resource because its job was deleted through the API. */
export async function isQueuedForPurge(db: Db, kind: JobKind, resource: AppliedResource): Promise<boolean> {
  const { name, uid } = resource;
  // The targets of an adopted resource and of a resource that the API submitted.
  const targets = sql.array([`${resourceName(kind, uid)}/${name}`, name], "text");
  return await db.exists(sql.fragment`
    select from leftovers where at_once and kind = 'resource' and target = any(${targets})`);
}

/** Returns the open jobs that the installation adopted from a resource of this name; several when the name was reused. */
export async function manyAdopted(
  db: Db,
  installation: string,
  kind: JobKind,
  name: string,
): Promise<readonly string[]> {
  return await db.anyFirst(sql.type(z.object({ id: z.string() }))`
    select id from ${tableOf(kind)}
    where resource_name = ${name} and installation = ${installation} and ${isOpen}`);
}
