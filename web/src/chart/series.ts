// Curves as a chart and its table need them. Pure.
import { own } from "../app/own.ts";

export type Point = readonly [step: number, value: number];

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface Group {
  readonly title: string;
  readonly series: readonly Series[];
}

const words: Readonly<Record<string, string>> = {
  train_loss: "Training loss",
  val_loss: "Validation loss",
  val_f1: "Validation F1",
  learning_rate: "Learning rate",
};

/** Later versions of the trainer may have curves that this page does not know: it shows their names. */
const wordsOf = (name: string) => own(words, name) ?? name;

/** Curves with one unit share a chart: the losses do. Scores come first, since they say most. */
export function grouped(series: readonly Series[]): readonly Group[] {
  const rankOf = ({ name }: Series) => (/f1/.test(name) ? 0 : /loss/.test(name) ? 1 : 2);
  const inOrder = (a: Series, b: Series) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);
  const groups = new Map<string, Series[]>();
  for (const { name, points } of [...series].sort(inOrder)) {
    const drawn = points.filter(([step, value]) => Number.isFinite(step) && Number.isFinite(value));
    if (drawn.length === 0) continue;
    const title = /loss/.test(name) ? "Loss" : wordsOf(name);
    groups.set(title, [...(groups.get(title) ?? []), { name: wordsOf(name), points: drawn }]);
  }
  return [...groups].map(([title, members]) => ({ title, series: members }));
}

export interface Aligned {
  readonly steps: readonly number[];
  /** A list for each series, with null where it has no value. */
  readonly values: readonly (readonly (number | null)[])[];
}

/** All series over the same steps. A step that a series names twice has its last value. */
export function aligned(series: readonly Series[]): Aligned {
  const steps = [...new Set(series.flatMap(({ points }) => points.map(([step]) => step)))].sort(
    (a, b) => a - b,
  );
  const values = series.map(({ points }) => {
    const byStep = new Map(points);
    return steps.map((step) => byStep.get(step) ?? null);
  });
  return { steps, values };
}

/** A number as a chart writes it: three digits that matter. */
export const figure = (value: number) => (value === 0 ? "0" : String(Number(value.toPrecision(3))));

/** The series in a sentence, for people who do not see the chart. */
export function summaryOf({ name, points }: Series): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return `${name}: no values yet`;
  const values = points.map(([, value]) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${name}: ${figure(first[1])} at epoch ${first[0]}, ${figure(last[1])} at epoch ${last[0]}, between ${figure(least)} and ${figure(most)}`;
}

interface Epoch {
  readonly epoch?: number;
  readonly [name: string]: unknown;
}

/** The curves of a model's training, which its metrics keep by epoch. */
export function seriesOf(history: readonly Epoch[]): readonly Series[] {
  const points = new Map<string, Point[]>();
  for (const [i, { epoch = i + 1, ...values }] of history.entries())
    for (const [name, value] of Object.entries(values))
      if (typeof value === "number") points.set(name, [...(points.get(name) ?? []), [epoch, value]]);
  return [...points].map(([name, list]) => ({ name, points: list }));
}
