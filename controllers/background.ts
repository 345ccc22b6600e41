// What every replica of the operator does for the API, whether it leads or not: sends deliveries, fetches files from URLs, and
// does background work.
// The replicas share this work through the database, and it goes on while Kubernetes is unreachable. Called by operator.ts.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Counter, type Registry } from "prom-client";
import type { OperatorConfig } from "../src/config.ts";
import { addDatabaseGauge } from "../src/database-gauge.ts";
import { makeListener } from "../src/db/driver/listen.ts";
import type { DatabasePool } from "../src/db/driver/pool.ts";
import {
  backgroundWorkKinds,
  doBackgroundWork,
  oldestBackgroundWork,
} from "../src/db/operator/background-work.ts";
import type { Log } from "../src/log.ts";
import { startLoop } from "../src/loop.ts";
import type { Storage } from "../src/storage/storage.ts";
import { startFetches } from "../src/uploads/fetches.ts";
import { startDispatch } from "../src/webhooks/dispatch.ts";
import { makeSecretBox } from "../src/webhooks/secret.ts";
import { sendDefaults } from "../src/webhooks/send.ts";

export type BackgroundDeps = {
  config: Pick<
    OperatorConfig,
    | "PLOSIVE_WEBHOOK_ALLOWED_ORIGINS"
    | "PLOSIVE_WEBHOOK_SECRET_KEY"
    | "PLOSIVE_UPLOAD_MAX_BYTES"
    | "PLOSIVE_QUOTA_BYTES"
  >;
  db: DatabasePool;
  storage: Storage;
  registry: Registry;
  log: Log;
  now: () => number;
};

export type Background = {
  /** Stops the loops. Attempts to deliver and to fetch get `graceMs` to end, then they are aborted. */
  stop(graceMs: number): Promise<void>;
};

export function startBackground({ config, db, storage, registry, log, now }: BackgroundDeps): Background {
  const listener = makeListener({
    url: db.configuration.connectionUri,
    role: "plosive_operator",
    log,
  });
  const outward = {
    ...sendDefaults,
    secrets: makeSecretBox(config.PLOSIVE_WEBHOOK_SECRET_KEY, randomBytes),
    allowed: config.PLOSIVE_WEBHOOK_ALLOWED_ORIGINS,
    log,
    registry,
  };
  const dispatch = startDispatch({
    ...outward,
    pool: db,
    listener,
    clock: { now },
    random: randomBytes,
  });
  const fetches = startFetches({
    ...outward,
    db,
    storage,
    maxBytes: config.PLOSIVE_UPLOAD_MAX_BYTES,
    quotaBytes: config.PLOSIVE_QUOTA_BYTES,
  });
  const pieces = new Counter({
    name: "plosive_background_pieces_total",
    help: "Pieces of background work that were done, by kind",
    labelNames: ["kind"],
    registers: [registry],
  });
  for (const kind of backgroundWorkKinds) pieces.inc({ kind }, 0);
  addDatabaseGauge({
    name: waitName,
    help: "Seconds since the oldest unfinished background work was requested",
    labelNames: [],
    registry,
    log,
    ask: async () => [{ labels: {}, value: await oldestBackgroundWork(db) }],
  });
  const work = startLoop("copy or delete rows in the background", 1_000, log, async () => {
    const begin = performance.now();
    const kind = await doBackgroundWork(db);
    if (kind === null) return false;
    pieces.inc({ kind });
    // Leaves the database half of the time to others.
    await pause(performance.now() - begin);
    return true;
  });
  return {
    stop: async (graceMs) => {
      await Promise.all([work.stop(), dispatch.stop(graceMs), fetches.stop(graceMs / 2)]);
      registry.removeSingleMetric(waitName);
      await listener.end();
    },
  };
}

const waitName = "plosive_background_oldest_wait_seconds";
