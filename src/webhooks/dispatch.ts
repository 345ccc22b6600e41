// The background loops of every API process: number events, send deliveries, delete old events. Started by src/main.ts.
// Replicas share the work through the database. A notification wakes a loop; a timer does if the notification was lost.
import { Gauge } from "prom-client";
import type { Listener } from "../db/driver/listen.ts";
import { deleteOldEvents, numberEvents, oneEventLag } from "../db/event.ts";
import { startLoop } from "../loop.ts";
import { makeSender, type SenderDeps } from "./sender.ts";

export interface DispatchDeps extends SenderDeps {
  readonly listener: Listener;
}

export interface Dispatch {
  /** Stops the loops. Attempts in progress get `graceMs` to end, then they are aborted. */
  stop(graceMs: number): Promise<void>;
}

const pollMs = { number: 2_000, send: 2_000, delete: 60_000 };

export function startDispatch(deps: DispatchDeps): Dispatch {
  const { pool, listener, log, registry } = deps;
  const numbering = startLoop("number events", pollMs.number, log, async () => {
    const numbered = await numberEvents(pool);
    return numbered?.more === true;
  });
  const sender = makeSender(deps, () => sending.wake());
  const sending = startLoop("send deliveries", pollMs.send, log, async () => {
    await sender.start();
    return false;
  });
  const deleting = startLoop(
    "delete old events",
    pollMs.delete,
    log,
    async () => (await deleteOldEvents(pool)).more,
  );
  const unsubscribers = [
    listener.on("plosive_inbox", () => numbering.wake()),
    listener.on("plosive_deliveries", () => sending.wake()),
  ];
  measureLags(deps);

  return {
    stop: async (graceMs) => {
      for (const unsubscribe of unsubscribers) unsubscribe();
      await Promise.all([numbering.stop(), sending.stop(), deleting.stop()]);
      const cut = setTimeout(() => sender.abort(), graceMs);
      await sender.idle();
      clearTimeout(cut);
      registry.removeSingleMetric(lagName);
    },
  };
}

const lagName = "plosive_event_lag_seconds";

/** Registers a gauge that queries the database at each scrape. */
function measureLags({ pool, registry, log }: DispatchDeps): void {
  new Gauge({
    name: lagName,
    help: "Seconds that the oldest unnumbered event (numbering) and the oldest due delivery (delivery) have waited",
    labelNames: ["stage"],
    registers: [registry],
    async collect() {
      try {
        const lag = await oneEventLag(pool);
        this.set({ stage: "numbering" }, lag.inbox);
        this.set({ stage: "delivery" }, lag.deliveries);
      } catch (error) {
        // A rejection would fail the whole scrape, and the other metrics matter most while the database is down.
        this.reset();
        log.debug({ reason: String(error) }, "could not measure the lag of events");
      }
    },
  });
}
