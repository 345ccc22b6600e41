// A lock that holds across processes, for work that no single transaction covers. Used by the upload's confirm step.
import { sql } from "slonik";
import { z } from "zod";
import type { Db } from "./page.ts";
import type { DatabasePool } from "./pool.ts";
import { tenantDatabase } from "./tenant-db.ts";

/**
 * Runs `work` while no other process runs work for the same id. It costs one connection for as long as it takes, which
 * `work` gets for its queries as the tenant; the lock goes with that connection, so a killed process never leaves it
 * behind.
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
      // The next one on this connection would keep the lock without knowing, so then it goes with the connection.
      await connection.query(none`select pg_advisory_unlock(hashtextextended(${id}, 0))`).catch(discard);
    }
  });
}
