// Refuses connection poolers that do not keep sessions. In one that lends its connections for a transaction, a client's role,
// statement timeout and prepared statements would hold for other clients too. Called by pool.ts.
import { randomUUID } from "node:crypto";
import type { Connection } from "./connection.ts";

/** Only clients of a pooler take them. */
const rounds = 20;

type Lend = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/** Rejects if two connections share a session of the server. `lend` needs room for two; without a pooler it lends one. */
export async function refuseSharedSessions(lend: Lend): Promise<void> {
  await lend(async (one) => {
    const [{ pid } = { pid: 0 }] = (await one.query<{ pid: number }>("select pg_backend_pid() as pid")).rows;
    // A pooler gives its clients process numbers of its own.
    if (pid === (one as unknown as { processID: number }).processID) return;
    await lend(async (other) => {
      const mark = randomUUID();
      await one.query("select set_config('app.session', $1, false)", [mark]);
      // One round misses a pooler whose connections another client uses at that moment, and callers try again after a refusal.
      for (let round = 0; round < rounds; round++) {
        await other.query("begin");
        // If `other` has the connection of `one`, there may be none left for `one`.
        const isShared = (await markOf(other)) === mark || (await markOf(one)) !== mark;
        await other.query("rollback");
        // Twice without a transaction, for a pooler that lends its connections in turn.
        if (isShared || (await markOf(one)) !== mark || (await markOf(one)) !== mark)
          throw new Error(
            "the database is behind a connection pooler that does not keep sessions, so the rights of one client would hold for another: set `pool_mode = session` in pgbouncer",
          );
      }
    });
  });
}

async function markOf(connection: Connection): Promise<string | null | undefined> {
  const text = "select current_setting('app.session', true) as mark";
  return (await connection.query<{ mark: string | null }>(text)).rows[0]?.mark;
}
