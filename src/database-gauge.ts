// Gauges whose values the database has. Used by src/events.ts and controllers/background.ts.
import { setTimeout as pause } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Log } from "./log.ts";

/** Prometheus gives up a scrape after 10 seconds by default, and then misses all metrics of the process. */
const patienceMs = 1_000;

export interface DatabaseGauge<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly registry: Registry;
  readonly log: Log;
  /** Asks the database. Called at a scrape, unless an earlier question is still open. */
  readonly ask: () => Promise<readonly { readonly labels: Record<Label, string>; readonly value: number }[]>;
}

/**
 * Registers a gauge. While the database does not answer within a second, or fails, the gauge has no value, and the other metrics of
 * the process are served.
 */
export function addDatabaseGauge<Label extends string>(options: DatabaseGauge<Label>): void {
  const { name, help, labelNames, registry, log, ask } = options;
  let open: ReturnType<typeof ask> | undefined;
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      open ??= ask().finally(() => {
        open = undefined;
      });
      const measured = open.catch((error: unknown) => {
        log.debug({ gauge: name, reason: String(error) }, "could not measure a gauge");
        return [];
      });
      const values = await Promise.race([measured, pause(patienceMs, [], { ref: false })]);
      for (const { labels, value } of values) this.set(labels, value);
    },
  });
}
