// Waits until other statements of the database wait for a lock, which a test holds. Used by tests on a real Postgres.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "../../src/db/driver/page.ts";
import { poll } from "./poll.ts";

/** Inside a transaction Postgres shows the sessions as they were at the first look. This makes it look again. */
const lookAgain = sql.type(z.object({}))`select from pg_stat_clear_snapshot()`;

/** Resolves when at least this many statements in this database wait for a lock. */
export const untilLocked = (db: Db, statements = 1) =>
  poll(`${statements} statements to wait for a lock`, async () => {
    await db.query(lookAgain);
    const waiting = await db.oneFirst(sql.type(z.object({ n: z.number() }))`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return waiting >= statements;
  });
