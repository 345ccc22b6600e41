// The database of a process that may start before Postgres and before the set-up job has migrated it. Called by the main files of the
// operator and of the run endpoint.
import type { OperatorConfig } from "../src/config.ts";
import { isMigrated } from "../src/db/driver/migrate.ts";
import { type DatabasePool, makeDatabase, statementTimeoutMs } from "../src/db/driver/pool.ts";
import type { Log } from "../src/log.ts";
import { pause } from "./runtime/pause.ts";

/** Waits for Postgres and for the migrations instead of crashing. Undefined when `signal` is aborted before. */
export async function connectedDatabase(
  config: Pick<OperatorConfig, "PLOSIVE_DATABASE_URL" | "PLOSIVE_DATABASE_POOL">,
  log: Log,
  signal: AbortSignal,
): Promise<DatabasePool | undefined> {
  let pool: DatabasePool | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      pool ??= await makeDatabase(config, statementTimeoutMs.operator, "plosive_operator");
      if (await isMigrated(pool)) return pool;
      log.info("waiting for the database to be migrated");
    } catch (error) {
      log.warn({ err: String(error) }, "could not use Postgres; retrying");
    }
    await pause(Math.min(5_000, 500 * 2 ** failures), signal);
  }
  await pool?.end();
  return undefined;
}
