// Numbers events, deletes old ones, and measures their lag. Started by src/main.ts in every API process; the processes share
// the work through the database. A notification wakes a loop; a timer does if the notification was lost.
import type { Registry } from "prom-client";
import { addDatabaseGauge } from "./database-gauge.ts";
import type { Listener } from "./db/driver/listen.ts";
import type { Db } from "./db/driver/page.ts";
import { deleteOldEvents, numberEvents, oneEventLag } from "./db/event.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";

export interface EventsDeps {
  readonly pool: Db;
  readonly listener: Listener;
  readonly log: Log;
  readonly registry: Registry;
}

export function startEvents({ pool, listener, log, registry }: EventsDeps): Pick<Loop, "stop"> {
  const numbering = startLoop("number events", 2_000, log, async () => {
    const numbered = await numberEvents(pool);
    return numbered?.more === true;
  });
  const deleting = startLoop(
    "delete old events",
    60_000,
    log,
    async () => (await deleteOldEvents(pool)).more,
  );
  const unsubscribe = listener.on("plosive_inbox", () => numbering.wake());
  addDatabaseGauge({
    name: lagName,
    help: "Seconds that the oldest unnumbered event (numbering) and the oldest due delivery (delivery) have waited",
    labelNames: ["stage"],
    registry,
    log,
    async ask() {
      const lag = await oneEventLag(pool);
      return [
        { labels: { stage: "numbering" }, value: lag.inbox },
        { labels: { stage: "delivery" }, value: lag.deliveries },
      ];
    },
  });
  return {
    stop: async () => {
      unsubscribe();
      await Promise.all([numbering.stop(), deleting.stop()]);
      registry.removeSingleMetric(lagName);
    },
  };
}

const lagName = "plosive_event_lag_seconds";
