// Background loops. Used by src/events.ts, src/webhooks/dispatch.ts and controllers/background.ts.
import type { Log } from "./log.ts";

export interface Loop {
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Runs `work` now, when woken, and every `everyMs`; never twice at once. `work` returns true when more is left to do.
 */
export function startLoop(what: string, everyMs: number, log: Log, work: () => Promise<boolean>): Loop {
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
