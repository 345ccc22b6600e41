// Sends deliveries in a loop. Started by controllers/background.ts in every replica of the operator; the replicas share the
// work through the database. A notification or the end of an attempt wakes the loop; a timer does if the notification was lost.
import { setTimeout as pause } from "node:timers/promises";
import type { Listener } from "../db/driver/listen.ts";
import { startLoop } from "../loop.ts";
import { makeSender, type SenderDeps } from "./sender.ts";

export interface DispatchDeps extends SenderDeps {
  readonly listener: Listener;
}

export interface Dispatch {
  /** Stops the loop. Attempts in progress get `graceMs` to end, then they are aborted. */
  stop(graceMs: number): Promise<void>;
}

/** From one claim to the next. A claim looks at all webhooks, and each attempt at a fast receiver would cause one. */
const restMs = 100;

export function startDispatch(deps: DispatchDeps): Dispatch {
  const sender = makeSender(deps, () => sending.wake());
  const sending = startLoop("send deliveries", 2_000, deps.log, async () => {
    await sender.start();
    await pause(restMs);
    return false;
  });
  const unsubscribe = deps.listener.on("plosive_deliveries", () => sending.wake());
  return {
    stop: async (graceMs) => {
      unsubscribe();
      await sending.stop();
      const cut = setTimeout(() => sender.abort(), graceMs);
      await sender.idle();
      clearTimeout(cut);
    },
  };
}
