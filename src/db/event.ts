// Events of a tenant, in the order of their numbers: whoever sees one has seen, or can see, all with smaller numbers
// (migration 0007 says why). Read by the routes of events; numbered by src/webhooks/dispatch.ts.
import { sql } from "slonik";
import { z } from "zod";
import type { EventType } from "../schemas/event.ts";
import { type Db, type Page, type PageRequest, selectPage } from "./page.ts";

const row = z.object({
  id: z.number(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  created_at: z.number(),
});
export type EventRow = z.infer<typeof row>;

const columns = sql.fragment`seq as id, type, data, created_at`;

/** One page of the tenant's events of the last 24 hours, newest first. */
export async function listEvents(
  db: Db,
  tenantId: string,
  query: PageRequest & { types?: readonly EventType[]; after?: number },
): Promise<Page<EventRow>> {
  const types =
    query.types === undefined
      ? sql.fragment`true`
      : sql.fragment`type = any(${sql.array([...query.types], "text")})`;
  const from = sql.fragment`events where tenant_id = ${tenantId} and seq > ${query.after ?? 0} and ${types}`;
  return await selectPage(db, row, { columns, from, order: sql.fragment`id desc` }, query);
}

/** The next events after a number, in order. */
export async function manyEventsAfter(
  db: Db,
  tenantId: string,
  after: number,
  limit: number,
): Promise<readonly EventRow[]> {
  return await db.any(sql.type(row)`
    select ${columns} from events where tenant_id = ${tenantId} and seq > ${after} order by seq limit ${limit}`);
}

/** `own`: the number of the tenant's newest event, 0 without any. `given`: the last number given to any event. */
export async function oneEventPosition(db: Db, tenantId: string): Promise<{ own: number; given: number }> {
  return await db.one(sql.type(z.object({ own: z.number(), given: z.number() }))`
    select (select coalesce(max(seq), 0) from events where tenant_id = ${tenantId})::bigint as own,
      last_event_seq() as given`);
}

// With 20 webhooks for each event these are 4,000 deliveries: far within the statement timeout, which would otherwise end
// the same step again and again.
const stampBatch = 200;

/** Numbers what is committed and makes its deliveries. Null: another process is at it. `more`: call again. */
export async function stampEvents(db: Db): Promise<{ stamped: number; more: boolean } | null> {
  const stamped = await db.oneFirst(sql.type(z.object({ stamped: z.number().nullable() }))`
    select stamp_events(${stampBatch}) as stamped`);
  return stamped === null ? null : { stamped, more: stamped === stampBatch };
}

const forgetBatch = 5_000;

/** Deletes events older than 24 hours and deliveries that ended 7 days ago, a part at a time. `more`: call again. */
export async function forgetEvents(db: Db): Promise<{ more: boolean }> {
  const gone = await db.oneFirst(sql.type(z.object({ gone: z.number() }))`
    select forget_events(${forgetBatch}) as gone`);
  return { more: gone >= forgetBatch };
}

/** Age in seconds of the oldest event without a number, and of the oldest delivery that is due. */
export async function oneEventLag(db: Db): Promise<{ inbox: number; deliveries: number }> {
  return await db.one(sql.type(z.object({ inbox: z.number(), deliveries: z.number() }))`
    select inbox, deliveries from event_lags()`);
}
