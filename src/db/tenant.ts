// Tenants: one account each. Made by the bootstrap Job; their keys are in api-key.ts.
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
