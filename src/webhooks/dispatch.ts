// What every API process does besides answering: numbers events, sends deliveries, forgets what is old. Started by
// src/main.ts. Replicas share the work through the database; a notification wakes them, a clock does where it was lost.
import { Gauge } from "prom-client";
import { forgetEvents, oneEventLag, stampEvents } from "../db/event.ts";
import type { Listener } from "../db/listen.ts";
import type { Log } from "../log.ts";
import { makeSender, type SenderDeps } from "./sender.ts";

export interface DispatchDeps extends SenderDeps {
  readonly listener: Listener;
}

export interface Dispatch {
  /** Resolves when all is ended in order: what is being sent gets `graceMs` to end. */
  stop(graceMs: number): Promise<void>;
}

const pollMs = { stamp: 2_000, send: 2_000, forget: 60_000 };

export function startDispatch(deps: DispatchDeps): Dispatch {
  const { pool, listener, log, registry } = deps;
  const stamping = startLoop("number events", pollMs.stamp, log, async () => {
    const stamped = await stampEvents(pool);
    return stamped?.more === true;
  });
  const sender = makeSender(deps, () => sending.wake());
  const sending = startLoop("send deliveries", pollMs.send, log, async () => {
    await sender.start();
    return false;
  });
  const forgetting = startLoop(
    "forget old events",
    pollMs.forget,
    log,
    async () => (await forgetEvents(pool)).more,
  );
  const deaf = [
    listener.on("plosive_inbox", () => stamping.wake()),
    listener.on("plosive_deliveries", () => sending.wake()),
  ];
  measureLags(deps);

  return {
    stop: async (graceMs) => {
      for (const stop of deaf) stop();
      await Promise.all([stamping.stop(), sending.stop(), forgetting.stop()]);
      const cut = setTimeout(() => sender.abort(), graceMs);
      await sender.idle();
      clearTimeout(cut);
      registry.removeSingleMetric(lagName);
    },
  };
}

const lagName = "plosive_event_lag_seconds";

/** Asked for at each scrape. */
function measureLags({ pool, registry, log }: DispatchDeps): void {
  new Gauge({
    name: lagName,
    help: "Age of the oldest event without a number (numbering) and of the oldest delivery that is due (delivery)",
    labelNames: ["stage"],
    registers: [registry],
    async collect() {
      try {
        const lag = await oneEventLag(pool);
        this.set({ stage: "numbering" }, lag.inbox);
        this.set({ stage: "delivery" }, lag.deliveries);
      } catch (error) {
        // The other metrics are wanted most when the database is away.
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

/** Does the work now, when woken, and every `everyMs`; never twice at once. True from the work: there is more. */
function startLoop(what: string, everyMs: number, log: Log, work: () => Promise<boolean>): Loop {
  let awake = true;
  let ended = false;
  let ring = () => {};
  const run = async () => {
    while (!ended) {
      awake = false;
      try {
        awake = (await work()) || awake;
      } catch (error) {
        log.warn({ reason: String(error) }, `could not ${what}; trying again`);
        // What failed is not tried again at once, whoever rings.
        await rest(Math.min(everyMs, 1_000));
        continue;
      }
      if (!awake && !ended) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, everyMs);
          ring = () => {
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
      ring = () => {
        if (!ended) return;
        clearTimeout(timer);
        resolve();
      };
    });
  const done = run();
  return {
    wake: () => {
      awake = true;
      ring();
    },
    stop: async () => {
      ended = true;
      ring();
      await done;
    },
  };
}
