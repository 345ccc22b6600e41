// Sends deliveries in a loop. Started by controllers/background.ts in every replica of the operator; the replicas share the
// work through the database. A notification wakes the loop; a timer does if the notification was lost.
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

export function startDispatch(deps: DispatchDeps): Dispatch {
  const sender = makeSender(deps, () => sending.wake());
  const sending = startLoop("send deliveries", 2_000, deps.log, async () => {
    await sender.start();
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
