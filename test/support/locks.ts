// Waits until other statements of the database wait for a lock, which a test holds. Used by tests on a real Postgres.
import { sql } from "slonik";
import { z } from "zod";
import type { Queries } from "../../src/db/job.ts";
import { poll } from "./poll.ts";

/** For transactions: their connection must be used, and it would see the sessions of the moment at which it looked first. */
const lookAgain = sql.type(z.object({}))`select from pg_stat_clear_snapshot()`;

/** Resolves when at least this many statements in the database of `pool` wait for a lock. */
export const untilLocked = (pool: Queries, statements = 1) =>
  poll(`${statements} statements to wait for a lock`, async () => {
    await pool.query(lookAgain);
    const waiting = await pool.oneFirst(sql.type(z.object({ n: z.number() }))`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return waiting >= statements;
  });
