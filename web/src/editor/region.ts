// The regions of one file: what a label is in the editor, and an index that finds the visible ones. Pure.
import { uniqueName } from "../app/unique.ts";

export interface Region {
  /** Names the region in this browser. It stays when the region is saved, deleted, and restored by an undo. */
  readonly key: string;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
  readonly annotator: string | null;
  readonly extraData: Readonly<Record<string, unknown>>;
}

export const newKey = () => `new-${uniqueName()}`;

/** Whether two regions are the same but for their keys. */
export function saysSame(a: Region, b: Region): boolean {
  return (
    isSamePlace(a, b) &&
    a.confidence === b.confidence &&
    a.annotator === b.annotator &&
    JSON.stringify(a.extraData) === JSON.stringify(b.extraData)
  );
}

/** Same type and times: the service's imports take such labels for one too. */
export const isSamePlace = (a: Region, b: Region) =>
  a.type === b.type && a.startMs === b.startMs && a.endMs === b.endMs;

const inOrder = (a: Region, b: Region) =>
  a.startMs - b.startMs || a.endMs - b.endMs || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** An immutable list of regions, ordered by start, with what a binary search needs. */
export interface Regions {
  readonly list: readonly Region[];
  readonly byKey: ReadonlyMap<string, Region>;
  /** The latest end of this region and all before it: regions that begin earlier may reach further. */
  readonly latestEnd: Float64Array;
}

export function regionsOf(regions: Iterable<Region>): Regions {
  const list = [...regions].sort(inOrder);
  const latestEnd = new Float64Array(list.length);
  let latest = Number.NEGATIVE_INFINITY;
  for (const [i, { endMs }] of list.entries()) {
    latest = Math.max(latest, endMs);
    latestEnd[i] = latest;
  }
  return { list, byKey: new Map(list.map((region) => [region.key, region])), latestEnd };
}

/** The first index whose value is at least `wanted`, in ascending values. */
function lowerBound(length: number, valueAt: (i: number) => number, wanted: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Regions that overlap or touch the range, in order. */
export function visibleIn({ list, latestEnd }: Regions, fromMs: number, toMs: number): Region[] {
  const found: Region[] = [];
  const first = lowerBound(list.length, (i) => latestEnd[i] ?? 0, fromMs);
  for (let i = first; i < list.length; i++) {
    const region = list[i];
    if (region === undefined || region.startMs > toMs) break;
    if (region.endMs >= fromMs) found.push(region);
  }
  return found;
}

/**
 * The next item in time: after the chosen one, or after the time if none is chosen. `step` -1: the one before. The items are
 * ordered by start.
 */
export function neighbor<T extends Pick<Region, "key" | "startMs">>(
  items: readonly T[],
  chosen: string | undefined,
  timeMs: number,
  step: 1 | -1,
): T | undefined {
  const at = items.findIndex(({ key }) => key === chosen);
  if (at !== -1) return items[at + step];
  // Half a millisecond of tolerance: players round the times that they are set to.
  return step === 1
    ? items.find(({ startMs }) => startMs >= timeMs - 0.5)
    : items.findLast(({ startMs }) => startMs < timeMs - 0.5);
}

/** A valid region for the service: whole milliseconds, in the file, and not ending before it starts. */
export function fitted(region: Region, durationMs: number): Region {
  const clamp = (ms: number) => Math.min(Math.max(0, Math.round(ms)), Math.floor(durationMs));
  const [startMs, endMs] = [clamp(region.startMs), clamp(region.endMs)];
  return startMs <= endMs ? { ...region, startMs, endMs } : { ...region, startMs: endMs, endMs: startMs };
}

/** The region at a point of its lane: the shortest of those there, so that none is hidden below a longer one. */
export function regionAt(
  regions: Regions,
  type: string | undefined,
  timeMs: number,
  toleranceMs: number,
): Region | undefined {
  let best: Region | undefined;
  for (const region of visibleIn(regions, timeMs - toleranceMs, timeMs + toleranceMs)) {
    if (type !== undefined && region.type !== type) continue;
    if (best === undefined || region.endMs - region.startMs < best.endMs - best.startMs) best = region;
  }
  return best;
}
