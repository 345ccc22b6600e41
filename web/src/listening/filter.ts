// Which detections are shown: from which confidence on, and of which types. Pure.
import type { Detection, ModelMetrics } from "../../../client/schema.ts";

type Judged = Pick<Detection, "artifact_type" | "confidence">;

export interface Filter {
  /** The lowest confidence that is shown. */
  readonly min: number;
  /** Types that are not shown. */
  readonly hidden: ReadonlySet<string>;
}

export const filtered = <T extends Judged>(detections: readonly T[], { min, hidden }: Filter): readonly T[] =>
  detections.filter(({ artifact_type, confidence }) => confidence >= min && !hidden.has(artifact_type));

export interface TypeCount {
  readonly type: string;
  /** From the lowest confidence on. */
  readonly shown: number;
  readonly total: number;
}

/** How many detections of each type there are, also of hidden types, by name. */
export function countsByType(detections: readonly Judged[], min: number): readonly TypeCount[] {
  const counts = new Map<string, { shown: number; total: number }>();
  for (const { artifact_type: type, confidence } of detections) {
    const known = counts.get(type) ?? { shown: 0, total: 0 };
    known.total++;
    if (confidence >= min) known.shown++;
    counts.set(type, known);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => ({ type, ...count }));
}

/** From which confidence on the job reported the type: its own settings come before the model's; null: nobody says. */
export function reportedFrom(
  type: string,
  { thresholds, threshold }: Readonly<Record<string, unknown>>,
  { per_type: figures }: ModelMetrics,
): number | null {
  const own =
    typeof thresholds === "object" && thresholds !== null && Object.hasOwn(thresholds, type)
      ? (thresholds as Record<string, unknown>)[type]
      : threshold;
  return typeof own === "number" ? own : (figures?.[type]?.threshold ?? null);
}

/** A share in the address: "0.6"; anything else is the fallback. */
export function parseShare(text: string | null, fallback: number): number {
  const share = text === null || text === "" ? Number.NaN : Number(text);
  return share >= 0 && share <= 1 ? share : fallback;
}

/** A stretch to listen to: half a second before the detection to half a second after it, within the recording. */
export function stretchOf(
  { start_ms, end_ms }: Pick<Detection, "start_ms" | "end_ms">,
  durationMs: number | null,
): { readonly fromMs: number; readonly toMs: number } {
  return {
    fromMs: Math.max(0, start_ms - aroundMs),
    toMs: Math.min(durationMs ?? Number.POSITIVE_INFINITY, end_ms + aroundMs),
  };
}

const aroundMs = 500;

/** The detection before or after the present one, by start; the first or the last if none is chosen. */
export function neighbour<T extends { readonly id: string }>(
  list: readonly T[],
  chosen: string | undefined,
  step: 1 | -1,
): T | undefined {
  const at = list.findIndex(({ id }) => id === chosen);
  if (at === -1) return step === 1 ? list[0] : list.at(-1);
  return list[at + step];
}

/** A time in a recording to the millisecond: "1:04.250". */
export function exactly(ms: number): string {
  const seconds = (ms % 60_000) / 1000;
  const minutes = Math.floor(ms / 60_000);
  const text = seconds.toFixed(3).padStart(6, "0");
  if (minutes < 60) return `${minutes}:${text}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${text}`;
}
