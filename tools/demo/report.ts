// Formats the demo's results: the detections against the truth, the training curves, the annotation set's statistics.
// Called by play.ts. Pure: figures in, text out.

import type { AnnotationSet, TrainingMetrics } from "../../client/schema.ts";
import { drawCurve, type Point } from "./curve.ts";
import type { Score, TypeScore } from "./score.ts";
import { renderTable } from "./table.ts";

const share = (value: number | null) => (value === null ? "-" : value.toFixed(2));

/** One row per type. */
export function detectionTable(score: Score): string {
  return renderTable<TypeScore>(
    [
      { title: "type", align: "left", cell: (row) => row.type },
      { title: "truth", align: "right", cell: (row) => `${row.truth}` },
      { title: "found", align: "right", cell: (row) => `${row.found}` },
      { title: "hits", align: "right", cell: (row) => `${row.hits}` },
      { title: "misses", align: "right", cell: (row) => `${row.misses}` },
      { title: "false alarms", align: "right", cell: (row) => `${row.falseAlarms}` },
      { title: "precision", align: "right", cell: (row) => share(row.precision) },
      { title: "recall", align: "right", cell: (row) => share(row.recall) },
      { title: "F1", align: "right", cell: (row) => share(row.f1) },
    ],
    score.types,
  );
}

/** Labels by type, from the statistics of the published set. */
export function statisticsTable(set: AnnotationSet): string {
  return renderTable<readonly [string, number]>(
    [
      { title: "type", align: "left", cell: ([type]) => type },
      { title: "labels", align: "right", cell: ([, count]) => `${count}` },
    ],
    Object.entries(set.annotations_by_type).sort(([a], [b]) => a.localeCompare(b)),
  );
}

/** Loss and F1 over the epochs, one plot each. Omits series that the trainer did not report. */
export function trainingCurves(metrics: TrainingMetrics): string {
  const series = (word: RegExp) => {
    const named = metrics.series.filter((one) => word.test(one.name) && one.points.length > 1);
    return named.find((one) => one.name.startsWith("val")) ?? named[0];
  };
  const plots: string[] = [];
  const size = { width: 60, height: 6 };
  const loss = series(/loss/);
  if (loss) plots.push(drawCurve(`${loss.name} by step`, sorted(loss.points), size));
  const f1 = series(/f1/);
  if (f1) plots.push(drawCurve(`${f1.name} by step`, sorted(f1.points), { ...size, min: 0, max: 1 }));
  return plots.join("\n\n");
}

const sorted = (points: readonly (readonly number[])[]): Point[] =>
  points.map(([step = 0, value = 0]): Point => [step, value]).sort((a, b) => a[0] - b[0]);

/** 3723000 -> "62.1 min"; 4200 -> "4.2 s". */
export function length(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
