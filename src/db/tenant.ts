// Tenants: one account each. Called by the bootstrap Job and plosive-admin (src/admin); api-key.ts manages their keys.
import { sql } from "slonik";
import { z } from "zod";
import { rowsPerPiece } from "./annotation-copy.ts";
import { newId } from "./driver/id.ts";
import type { Db } from "./driver/page.ts";

/** Adds a tenant and returns its id. */
export async function insertTenant(db: Db, name: string, id = newId()): Promise<string> {
  await db.query(sql.fragment`insert into tenants (id, name) values (${id}, ${name})`);
  return id;
}

/** Adds the tenant with this id unless it exists. */
export async function ensureTenant(db: Db, id: string, name: string): Promise<void> {
  await db.query(sql.fragment`
    insert into tenants (id, name) values (${id}, ${name}) on conflict (id) do nothing`);
}

/** Whether plosive-admin erased the tenant with this id. */
export async function wasErased(db: Db, id: string): Promise<boolean> {
  return await db.exists(sql.fragment`
    select from audit_log where action = 'tenant.erased' and reason = ${id}`);
}

const row = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.number(),
  suspended_at: z.number().nullable(),
  /** Number of keys that are not revoked, also while the tenant is suspended. */
  keys: z.number(),
});
export type TenantRow = z.infer<typeof row>;

const columns = sql.fragment`t.id, t.name, t.created_at, t.suspended_at, (
  select count(*) from api_keys k where k.tenant_id = t.id and k.revoked_at is null) as keys`;

/** Returns all tenants, oldest first. */
export async function listTenants(db: Db): Promise<readonly TenantRow[]> {
  return await db.any(sql.type(row)`select ${columns} from tenants t order by created_at, id`);
}

/** Returns the tenant, or null. */
export async function maybeOneTenant(db: Db, id: string): Promise<TenantRow | null> {
  return await db.maybeOne(sql.type(row)`select ${columns} from tenants t where id = ${id}`);
}

/** Suspends a tenant (all its keys are refused) or resumes it. Returns whether that changed anything. */
export async function suspendTenant(db: Db, id: string, isSuspended: boolean): Promise<boolean> {
  const changed = await db.query(sql.fragment`
    update tenants set suspended_at = case when ${isSuspended} then now() end
    where id = ${id} and (suspended_at is not null) <> ${isSuspended}`);
  return changed.rowCount === 1;
}

/** Suspends the tenant, requests the cancellation of its jobs, and returns how many jobs have not ended. */
export async function beginErasure(db: Db, id: string): Promise<number> {
  return await db.oneFirst(sql.type(z.object({ jobs: z.number() }))`select begin_erasure(${id}) as jobs`);
}

const piece = z.object({ part: z.string().nullable(), deleted: z.number() });

/**
 * Deletes the next rows of a tenant whose jobs have ended, and returns their table and number. `part` is null when the
 * tenant is gone; `deleted` is then the number of entries that it has in the purge queue.
 */
export async function erasePiece(db: Db, id: string): Promise<z.infer<typeof piece>> {
  return await db.one(sql.type(piece)`select part, deleted from erase_piece(${id}, ${rowsPerPiece})`);
}

/** Adds an entry to the audit log. The statements that change keys log themselves (api-key.ts). */
export async function auditTenant(
  db: Db,
  id: string,
  action: "tenant.created" | "tenant.suspended" | "tenant.resumed" | "tenant.embedded_again",
  by: string,
): Promise<void> {
  await db.query(sql.fragment`
    insert into audit_log (tenant_id, action, request_id) values (${id}, ${action}, ${by})`);
}
