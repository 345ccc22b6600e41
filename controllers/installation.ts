// Keeps the name of the installation: two operators of one name on one database would both run every job. The leader writes
// its identity, the uid of its Lease, into the database again and again. It works only after the first time, which succeeds
// unless an operator with another identity has done so in the last half minute. Replicas of one operator share the Lease, so
// a fail-over does not wait. Started by operator.ts on the leader.

import type { DatabasePool } from "../src/db/driver/pool.ts";
import { holdInstallation, releaseInstallation } from "../src/db/operator/installation.ts";
import type { Log } from "../src/log.ts";
import { pause } from "./runtime/pause.ts";

export type NameKeeper = {
  /** Resolves to true when this operator has the name, and to false when it is stopped before. */
  held: Promise<boolean>;
  /** Resolves when another operator has taken the name after this one was silent. The process must exit at once. */
  lost: Promise<void>;
  /** Gives the name back, so that the operator of a new Lease need not wait. */
  stop(): Promise<void>;
};

export function keepName(options: {
  db: DatabasePool;
  name: string;
  identity: string;
  log: Log;
  everyMs?: number;
  staleMs?: number;
}): NameKeeper {
  const { db, name, identity, log, everyMs = 5_000, staleMs = 30_000 } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const { promise: held, resolve: hold } = Promise.withResolvers<boolean>();
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>();

  const loop = async () => {
    for (let isHeld = false; !signal.aborted; await pause(everyMs, signal)) {
      try {
        const isMine = await holdInstallation(db, name, identity, staleMs / 1_000);
        if (isMine) hold(true);
        else {
          log.error(
            { installation: name },
            "another operator on this database works for an installation of the same name; set another name in one of the two (chart value installation, PLOSIVE_INSTALLATION), or stop the other operator and wait for half a minute",
          );
          if (isHeld) return lose();
        }
        isHeld = isMine;
      } catch (err) {
        log.warn({ installation: name, err: String(err) }, "could not record the installation; retrying");
      }
    }
  };
  const running = loop();

  return {
    held,
    lost,
    async stop() {
      stopping.abort();
      hold(false);
      await running;
      await releaseInstallation(db, name, identity).catch((err: unknown) => {
        log.warn(
          { installation: name, err: String(err) },
          "could not give the name of the installation back",
        );
      });
    },
  };
}
