// A lock across processes, for work that does not fit into one transaction. Used by the confirm step of uploads.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";
import type { DatabasePool } from "./pool.ts";
import { tenantDatabase } from "./tenant-db.ts";

/**
 * Runs `work` under an advisory lock for `id`. The lock occupies one connection until `work` ends; `work` uses it for
 * its queries, as the tenant. The lock belongs to the connection, so it is released when the process is killed.
 */
export async function withLock<T>(
  pool: DatabasePool,
  tenantId: string,
  id: string,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const none = sql.type(z.object({}));
  return await pool.connect(async (connection, discard) => {
    await connection.query(none`select pg_advisory_lock(hashtextextended(${id}, 0))`);
    try {
      return await work(tenantDatabase(connection, tenantId));
    } finally {
      // If the unlock fails, the pool must not reuse the connection: it would still hold the lock.
      await connection.query(none`select pg_advisory_unlock(hashtextextended(${id}, 0))`).catch(discard);
    }
  });
}
