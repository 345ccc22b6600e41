// The background loops of every API process: number events, send deliveries, delete old events. Started by src/main.ts.
// Replicas share the work through the database. A notification wakes a loop; a timer does if the notification was lost.
import { Gauge } from "prom-client";
import { deleteOldEvents, numberEvents, oneEventLag } from "../db/event.ts";
import type { Listener } from "../db/listen.ts";
import type { Log } from "../log.ts";
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

interface Loop {
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Runs `work` now, when woken, and every `everyMs`; never twice at once. `work` returns true when more is left to do.
 */
function startLoop(what: string, everyMs: number, log: Log, work: () => Promise<boolean>): Loop {
  let awake = true;
  let ended = false;
  let interrupt = () => {};
  const run = async () => {
    while (!ended) {
      awake = false;
      try {
        awake = (await work()) || awake;
      } catch (error) {
        log.warn({ reason: String(error) }, `could not ${what}; trying again`);
        // After a failure the loop pauses even if it is woken; only stop() cuts the pause short.
        await rest(Math.min(everyMs, 1_000));
        continue;
      }
      if (!awake && !ended) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, everyMs);
          interrupt = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    }
  };
  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      interrupt = () => {
        if (!ended) return;
        clearTimeout(timer);
        resolve();
      };
    });
  const done = run();
  return {
    wake: () => {
      awake = true;
      interrupt();
    },
    stop: async () => {
      ended = true;
      interrupt();
      await done;
    },
  };
}
