// A digest of all rows of the database, which shows that a refused request has changed nothing. Called by the tests of
// this folder.
import { sql } from "slonik";
import { z } from "zod";
import type { DatabasePool } from "../../src/db/driver/pool.ts";

/** Request counters, rate limits, idempotency keys and locks: changes there do not affect clients' resources. */
const notOwned = /^(schema_migrations|rate_|failed_|audit|idempotency|leases)/;
/** The sequencer moves events from one table to the other a moment later, so only their total is compared. */
const eventTables = ["event_inbox", "event_positions", "events"];
/** The last use of a key, to the minute. */
const volatile = ["last_used_at"];

/** The digest of each table. Equal digests mean that no row was added, deleted or changed. */
export async function digestOfTables(db: DatabasePool): Promise<Readonly<Record<string, string>>> {
  const names = await db.anyFirst(sql.type(z.object({ table_name: z.string() }))`
    select table_name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by table_name`);
  const digests: Record<string, string> = {};
  for (const name of names.filter((table) => !notOwned.test(table) && !eventTables.includes(table))) {
    digests[name] = await db.oneFirst(sql.type(z.object({ digest: z.string() }))`
      with lines as (select (to_jsonb(t) - ${sql.array(volatile, "text")})::text as line from ${sql.identifier([name])} t)
      select count(*) || ' rows ' || coalesce(md5(string_agg(md5(line), '' order by md5(line))), '') as digest
      from lines`);
  }
  digests.events = await db.oneFirst(sql.type(z.object({ count: z.string() }))`
    select (select count(*) from event_inbox) + (select count(*) from events) || ' events' as count`);
  return digests;
}
