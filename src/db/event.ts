// Events of a tenant in the order of their numbers: a reader who sees one can see all with smaller numbers (migration
// 0007 explains the sequencer). Called by the routes of events and by src/events.ts.
import { sql } from "slonik";
import { z } from "zod";
import type { EventType } from "../schemas/event.ts";
import { type Db, fits, type Page, type PageRequest, selectPage } from "./driver/page.ts";

const row = z.object({
  id: z.number(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  created_at: z.number(),
});
export type EventRow = z.infer<typeof row>;

const columns = sql.fragment`seq as id, type, data, created_at`;

/** Returns one page of the tenant's events of the last 24 hours, newest first. */
export async function listEvents(
  db: Db,
  tenantId: string,
  query: PageRequest & { types?: readonly EventType[]; after?: number },
): Promise<Page<EventRow>> {
  const isAfter = sql.fragment`seq > ${query.after ?? 0}`;
  const from = sql.fragment`events where ${fits({ tenant_id: tenantId, type: query.types }, isAfter)}`;
  return await selectPage(db, row, { columns, from, order: sql.fragment`id desc` }, query);
}

/** Returns the next events after a number, in order. */
export const manyEventsAfter = (db: Db, tenantId: string, after: number, limit: number) =>
  db.any(sql.type(row)`
    select ${columns} from events where tenant_id = ${tenantId} and seq > ${after} order by seq limit ${limit}`);

/**
 * `own`: number of the tenant's newest event, or 0. `given`: the last number that an event of the tenant received; the event
 * may be deleted since. `db` is the tenant's.
 */
export async function oneEventPosition(db: Db, tenantId: string): Promise<{ own: number; given: number }> {
  return await db.one(sql.type(z.object({ own: z.number(), given: z.number() }))`
    select (select coalesce(max(seq), 0) from events where tenant_id = ${tenantId})::bigint as own,
      last_event_seq() as given`);
}

// With 20 webhooks per event a batch makes 4,000 deliveries, far within the statement timeout. A larger batch might
// time out again on every retry.
const numberBatch = 200;

/** Numbers committed events and adds their deliveries. Null: another process is doing it. `more`: call again. */
export async function numberEvents(db: Db): Promise<{ numbered: number; more: boolean } | null> {
  const numbered = await db.oneFirst(sql.type(z.object({ numbered: z.number().nullable() }))`
    select stamp_events(${numberBatch}) as numbered`);
  return numbered === null ? null : { numbered, more: numbered === numberBatch };
}

const deleteBatch = 5_000;

/** Deletes one batch of events older than 24 hours and of deliveries that ended 7 days ago. `more`: call again. */
export async function deleteOldEvents(db: Db): Promise<{ more: boolean }> {
  const gone = await db.oneFirst(sql.type(z.object({ gone: z.number() }))`
    select forget_events(${deleteBatch}) as gone`);
  return { more: gone >= deleteBatch };
}

/** Returns how many seconds the oldest unnumbered event (`inbox`) and the oldest due delivery have waited. */
export async function oneEventLag(db: Db): Promise<{ inbox: number; deliveries: number }> {
  return await db.one(sql.type(z.object({ inbox: z.number(), deliveries: z.number() }))`
    select inbox, deliveries from event_lags()`);
}
