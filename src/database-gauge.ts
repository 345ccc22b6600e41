// Gauges whose values the database has. Used by src/events.ts and controllers/background.ts.
import { setTimeout as pause } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Log } from "./log.ts";

/** Prometheus gives up a scrape after 10 seconds by default, and then misses all metrics of the process. */
const patienceMs = 1_000;
/** How long the last values are served while the database takes longer than that. */
const freshMs = 60_000;

interface Value<Label extends string> {
  readonly labels: Record<Label, string>;
  readonly value: number;
}

export interface DatabaseGauge<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly registry: Registry;
  readonly log: Log;
  /** Asks the database. Called at a scrape, unless an earlier question is still open. */
  readonly ask: () => Promise<readonly Value<Label>[]>;
}

/**
 * Registers a gauge. A scrape waits at most a second for the database, and then gets the last values. When they are older than a
 * minute, or the database fails, the gauge has no value.
 */
export function addDatabaseGauge<Label extends string>(options: DatabaseGauge<Label>): void {
  const { name, help, labelNames, registry, log, ask } = options;
  let last: { readonly at: number; readonly values: readonly Value<Label>[] } | undefined;
  let open: Promise<void> | undefined;
  const measure = async () => {
    try {
      const values = await ask();
      last = { at: performance.now(), values };
    } catch (error) {
      last = undefined;
      log.debug({ gauge: name, reason: String(error) }, "could not measure a gauge");
    }
  };
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      open ??= measure().finally(() => {
        open = undefined;
      });
      await Promise.race([open, pause(patienceMs, undefined, { ref: false })]);
      // reset() would set a gauge without labels to 0.
      if (labelNames.length === 0) this.remove();
      else this.reset();
      if (last === undefined || performance.now() - last.at > freshMs) return;
      for (const { labels, value } of last.values) this.set(labels, value);
    },
  });
}
