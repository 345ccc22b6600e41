// What a model's metrics say, in the rows that pages show. Pure.

import type { ModelMetrics } from "../../../client/schema.ts";
import { own } from "../app/own.ts";

/** A share with two digits; a dash where nobody measured it. */
export const share = (value: number | null | undefined) =>
  value === null || value === undefined ? "–" : value.toFixed(2);

export interface TypeRow {
  readonly type: string;
  readonly precision: number | null;
  readonly recall: number | null;
  readonly f1: number | null;
  readonly ap: number | null;
  readonly threshold: number | null;
  readonly support: number | null;
  readonly trainSupport: number | null;
  readonly isRough: boolean;
}

/** One row per type of the model, also for types that the metrics leave out. */
export function typeRows(
  types: readonly string[],
  { per_type: figures = {} }: ModelMetrics,
): readonly TypeRow[] {
  return [...new Set([...types, ...Object.keys(figures)])].map((type) => {
    const known = own(figures, type) ?? {};
    return {
      type,
      precision: known.precision ?? null,
      recall: known.recall ?? null,
      f1: known.f1 ?? null,
      ap: known.ap ?? null,
      threshold: known.threshold ?? null,
      support: known.support ?? null,
      trainSupport: known.train_support ?? null,
      isRough: known.few_events === true,
    };
  });
}

export interface Confusion {
  /** Types that were detected; "none" is last. */
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly type: string;
    readonly total: number;
    /** Number and its share of the row, by column. */
    readonly cells: readonly { readonly count: number; readonly share: number }[];
  }[];
}

const nothing = "none";

/** The matrix with its types in the model's order on both sides; undefined if the metrics have none. */
export function confusionOf(
  known: readonly string[],
  { confusion = {} }: ModelMetrics,
): Confusion | undefined {
  const types = [...new Set([...known, ...Object.keys(confusion)])].filter((type) =>
    Object.hasOwn(confusion, type),
  );
  if (types.length === 0) return undefined;
  const others = Object.values(confusion).flatMap((row) => Object.keys(row));
  const columns = [...new Set([...types, ...others.filter((name) => name !== nothing), nothing])];
  return {
    columns,
    rows: types.map((type) => {
      const counts = columns.map((column) => own(confusion[type] ?? {}, column) ?? 0);
      const total = counts.reduce((sum, count) => sum + count, 0);
      return {
        type,
        total,
        cells: counts.map((count) => ({ count, share: total === 0 ? 0 : count / total })),
      };
    }),
  };
}

/** What to keep in mind while reading the figures. */
export function cautions({ overall, split }: ModelMetrics): readonly string[] {
  const rare = split?.types_without_validation ?? [];
  return [
    split?.validated_on === "training"
      ? "No data could be held out: the figures are measured on the training data and say little about other recordings."
      : split?.optimistic === true
        ? "There were too few files to hold out whole ones: parts of the same recordings are on both sides, so the figures are too optimistic."
        : "",
    overall?.few_events === true
      ? "Some types have fewer than five events in the held-out files: their figures are rough."
      : "",
    rare.length > 0
      ? `No figures for ${rare.join(", ")}: the held-out or the training files have no such event.`
      : "",
    split?.learned_again_from_all_files === true
      ? "There were few labels, so the model was trained again on all files after it was measured."
      : "",
  ].filter((text) => text !== "");
}
