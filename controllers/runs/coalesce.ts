// Keeps the newest report of each shard in memory and writes all of them in one statement per interval, so that a
// thousand reports a second cost one statement. Reports that cannot be written are kept for the next interval. Created
// by endpoint.ts, fed by server.ts.
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { type MetricPoint, type ProgressLine, saveMetrics, saveProgress } from "../../src/db/operator/run.ts";
import type { Log } from "../../src/log.ts";
import { pauseSince } from "../runtime/pause.ts";

export type Coalescer = {
  /** Adds a report and its metric points. Returns false when this pod has already sent a newer report. */
  add(line: ProgressLine, points: readonly MetricPoint[]): boolean;
  flush(): Promise<void>;
  stop(): Promise<void>;
};

const maxPoints = 20_000;
/** Metric points per pod over its life. A training reports a few thousand. */
const maxPointsOfPod = 50_000;

export function startCoalescer(options: { db: DatabasePool; log: Log; everyMs: number }): Coalescer {
  const { db, log, everyMs } = options;
  const newest = new Map<string, { podUid: string; seq: number; at: number; points: number }>();
  let lines = new Map<string, ProgressLine>();
  let points: MetricPoint[] = [];
  const stopped = new AbortController();

  const flush = async () => {
    if (lines.size === 0 && points.length === 0) return;
    const [writing, curve] = [lines, points];
    lines = new Map();
    points = [];
    try {
      await saveProgress(db, [...writing.values()]);
      writing.clear();
      await saveMetrics(db, curve);
    } catch (error) {
      for (const [key, line] of writing) if (!lines.has(key)) lines.set(key, line);
      points = [...curve, ...points].slice(-maxPoints);
      log.warn({ err: String(error), lines: lines.size }, "could not store progress reports; retrying");
    }
  };
  const loop = async () => {
    for (let begun = performance.now(); !stopped.signal.aborted; ) {
      await pauseSince(begun, everyMs, stopped.signal);
      begun = performance.now();
      await flush();
      const old = performance.now() - 3_600_000;
      for (const [key, { at }] of newest) if (at < old) newest.delete(key);
    }
  };
  const running = loop();

  return {
    add(line, curve) {
      const key = `${line.run} ${line.shard}`;
      const last = newest.get(key);
      const same = last !== undefined && last.podUid === line.podUid ? last : undefined;
      if (same !== undefined && same.seq >= line.seq) return false;
      const given = (same?.points ?? 0) + curve.length;
      newest.set(key, { podUid: line.podUid, seq: line.seq, at: performance.now(), points: given });
      lines.set(key, line);
      if (given <= maxPointsOfPod && points.length + curve.length <= maxPoints) points.push(...curve);
      return true;
    },
    flush,
    async stop() {
      stopped.abort();
      await running;
      await flush();
    },
  };
}
