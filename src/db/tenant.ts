// Tenants: one account each. Made by the bootstrap Job and by plosive-admin (src/admin); their keys are in api-key.ts.
import { sql } from "slonik";
import { z } from "zod";
import { newId } from "./id.ts";
import type { Db } from "./page.ts";

const idRow = z.object({ id: z.string() });

/** Makes a tenant and returns its id. */
export async function insertTenant(db: Db, name: string, id = newId()): Promise<string> {
  return await db.oneFirst(
    sql.type(idRow)`insert into tenants (id, name) values (${id}, ${name}) returning id`,
  );
}

/** Makes the tenant with this id unless it is there. */
export async function ensureTenant(db: Db, id: string, name: string): Promise<void> {
  await db.query(
    sql.type(idRow)`insert into tenants (id, name) values (${id}, ${name}) on conflict (id) do nothing`,
  );
}

const row = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.number(),
  suspended_at: z.number().nullable(),
  /** How many open its doors or will again when it is resumed. */
  keys: z.number(),
});
export type TenantRow = z.infer<typeof row>;

const columns = sql.fragment`t.id, t.name, t.created_at, t.suspended_at, (
  select count(*) from api_keys k where k.tenant_id = t.id and k.revoked_at is null) as keys`;

/** All of them, oldest first. */
export async function listTenants(db: Db): Promise<readonly TenantRow[]> {
  return await db.any(sql.type(row)`select ${columns} from tenants t order by created_at, id`);
}

export async function maybeOneTenant(db: Db, id: string): Promise<TenantRow | null> {
  return await db.maybeOne(sql.type(row)`select ${columns} from tenants t where id = ${id}`);
}

/** Since when all its keys are refused; null: they are not. Whether that changed anything. */
export async function suspendTenant(db: Db, id: string, isSuspended: boolean): Promise<boolean> {
  const changed = await db.query(sql.type(idRow)`
    update tenants set suspended_at = case when ${isSuspended} then now() end
    where id = ${id} and (suspended_at is not null) <> ${isSuspended}`);
  return changed.rowCount === 1;
}

/** For whoever looks into what was done. What is done with keys is noted where that is done (api-key.ts). */
export async function noteTenant(
  db: Db,
  id: string,
  action: "tenant.created" | "tenant.suspended" | "tenant.resumed" | "tenant.embedded_again",
  by: string,
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    insert into audit_log (tenant_id, action, request_id) values (${id}, ${action}, ${by})`);
}
