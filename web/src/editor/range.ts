// The visible part of a recording: zooming, scrolling, marks of the ruler. Pure.

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The closest zoom: 50 ms over the whole width. */
const leastMs = 50;

export const lengthOf = ({ fromMs, toMs }: Range) => toMs - fromMs;

/** The range as near as the recording allows. */
export function within(range: Range, durationMs: number): Range {
  const length = Math.min(Math.max(leastMs, lengthOf(range)), Math.max(leastMs, durationMs));
  const fromMs = Math.min(Math.max(0, range.fromMs), Math.max(0, durationMs - length));
  return { fromMs, toMs: fromMs + length };
}

/** `factor` above 1 shows less. The time `aroundMs` stays where it is on the screen. */
export function zoomed(range: Range, factor: number, aroundMs: number, durationMs: number): Range {
  const length = Math.min(Math.max(leastMs, lengthOf(range) / factor), Math.max(leastMs, durationMs));
  const share = (aroundMs - range.fromMs) / lengthOf(range);
  const fromMs = aroundMs - share * length;
  return within({ fromMs, toMs: fromMs + length }, durationMs);
}

export const moved = (range: Range, byMs: number, durationMs: number): Range =>
  within({ fromMs: range.fromMs + byMs, toMs: range.toMs + byMs }, durationMs);

/** Scrolls as little as needed to show the part with some room around it; zooms out if it is too long. */
export function showing(range: Range, fromMs: number, toMs: number, durationMs: number): Range {
  const length = lengthOf(range);
  const room = length * 0.08;
  if (toMs - fromMs > length - 2 * room)
    return within(
      { fromMs: fromMs - (toMs - fromMs) * 0.25, toMs: toMs + (toMs - fromMs) * 0.25 },
      durationMs,
    );
  if (fromMs < range.fromMs + room) return moved(range, fromMs - room * 2 - range.fromMs, durationMs);
  if (toMs > range.toMs - room) return moved(range, toMs + room * 2 - range.toMs, durationMs);
  return range;
}

/** The playhead turned the page: the next one begins where it is. */
export function following(range: Range, timeMs: number, durationMs: number): Range {
  if (timeMs >= range.fromMs && timeMs <= range.toMs) return range;
  return moved(range, timeMs - lengthOf(range) * 0.05 - range.fromMs, durationMs);
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000,
];

export interface Marks {
  readonly stepMs: number;
  /** Digits after the point that the marks need. */
  readonly digits: 0 | 1 | 2 | 3;
  readonly times: readonly number[];
}

/** The times that the ruler names, at least `gapPx` apart. */
export function marksOf(range: Range, widthPx: number, gapPx = 90): Marks {
  const least = (lengthOf(range) / Math.max(1, widthPx)) * gapPx;
  const stepMs = steps.find((step) => step >= least) ?? 14_400_000;
  const times: number[] = [];
  for (let at = Math.ceil(range.fromMs / stepMs) * stepMs; at <= range.toMs; at += stepMs) times.push(at);
  const digits = stepMs >= 1000 ? 0 : stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3;
  return { stepMs, digits, times };
}
