// Compares what two models found in the same files: which detections agree, and which only one of them has. Pure.

export interface Found {
  readonly id: string;
  /** The same for both sides if it is the same audio. */
  readonly file: string;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
}

export interface Pairing<T extends Found = Found> {
  readonly matched: readonly (readonly [a: T, b: T])[];
  readonly onlyA: readonly T[];
  readonly onlyB: readonly T[];
}

/** Two detections of one type in one file agree if they overlap, or if at most this lies between them. */
export const toleranceMs = 50;

/**
 * Each detection agrees with at most one of the other side: the pairs with the nearest starts come first, and of equally
 * near ones the earlier.
 */
export function pair<T extends Found>(a: readonly T[], b: readonly T[], gapMs = toleranceMs): Pairing<T> {
  const others = groupsOf(b);
  const candidates = [...groupsOf(a)].flatMap(([key, list]) => near(list, others.get(key) ?? [], gapMs));
  candidates.sort((x, y) => x.distanceMs - y.distanceMs || x.a.startMs - y.a.startMs);
  const taken = new Set<T>();
  const matched: [T, T][] = [];
  for (const candidate of candidates) {
    if (taken.has(candidate.a) || taken.has(candidate.b)) continue;
    taken.add(candidate.a).add(candidate.b);
    matched.push([candidate.a, candidate.b]);
  }
  const rest = (list: readonly T[]) => list.filter((found) => !taken.has(found)).sort(byPlace);
  matched.sort(([x], [y]) => byPlace(x, y));
  return { matched, onlyA: rest(a), onlyB: rest(b) };
}

const byPlace = (x: Found, y: Found) =>
  x.file === y.file ? x.startMs - y.startMs : x.file < y.file ? -1 : 1;

/** By file and type, each group by start. A line break is in no id. */
function groupsOf<T extends Found>(list: readonly T[]): Map<string, T[]> {
  const groups = Map.groupBy(list, ({ file, type }) => `${file}\n${type}`);
  for (const group of groups.values()) group.sort((x, y) => x.startMs - y.startMs);
  return groups;
}

/** All pairs that agree. Both lists are ordered by start, so the first possible partner only moves on. */
function near<T extends Found>(a: readonly T[], b: readonly T[], gapMs: number) {
  const longest = b.reduce((most, { startMs, endMs }) => Math.max(most, endMs - startMs), 0);
  const pairs: { readonly a: T; readonly b: T; readonly distanceMs: number }[] = [];
  let first = 0;
  for (const x of a) {
    while (first < b.length && (b[first]?.startMs ?? 0) + longest + gapMs < x.startMs) first++;
    for (let i = first; i < b.length; i++) {
      const y = b[i];
      if (y === undefined || y.startMs > x.endMs + gapMs) break;
      if (y.endMs + gapMs >= x.startMs)
        pairs.push({ a: x, b: y, distanceMs: Math.abs(x.startMs - y.startMs) });
    }
  }
  return pairs;
}

export interface Tally {
  readonly name: string;
  readonly matched: number;
  readonly onlyA: number;
  readonly onlyB: number;
  /** Share of all detections of both that agree; null without any. */
  readonly agreement: number | null;
}

/** How often each type agrees, or each file: `nameOf` says what to count by. The most frequent ones come first. */
export function tallies<T extends Found>(
  { matched, onlyA, onlyB }: Pairing<T>,
  nameOf: (found: T) => string,
): readonly Tally[] {
  const counts = new Map<string, { matched: number; onlyA: number; onlyB: number }>();
  const count = (found: T, part: "matched" | "onlyA" | "onlyB") => {
    const name = nameOf(found);
    const known = counts.get(name) ?? { matched: 0, onlyA: 0, onlyB: 0 };
    known[part]++;
    counts.set(name, known);
  };
  for (const [found] of matched) count(found, "matched");
  for (const found of onlyA) count(found, "onlyA");
  for (const found of onlyB) count(found, "onlyB");
  const sum = (tally: { matched: number; onlyA: number; onlyB: number }) =>
    tally.matched + tally.onlyA + tally.onlyB;
  return [...counts]
    .sort(([m, x], [n, y]) => sum(y) - sum(x) || (m < n ? -1 : 1))
    .map(([name, tally]) => ({
      name,
      ...tally,
      agreement: sum(tally) === 0 ? null : tally.matched / sum(tally),
    }));
}

interface File {
  readonly id: string;
  readonly audio_file_id: string | null;
  readonly checksum_sha256: string | null;
  readonly filename: string;
}

/**
 * The files that both jobs have: the same audio file of a dataset, or the same bytes. Returns for the file ids of both jobs
 * the name under which they are compared. A file that a job has twice is compared once.
 */
export function sharedFiles(
  a: readonly File[],
  b: readonly File[],
): { readonly keyOfA: ReadonlyMap<string, string>; readonly keyOfB: ReadonlyMap<string, string> } {
  const others = new Map<string, File[]>();
  for (const file of b)
    for (const name of namesOf(file)) others.set(name, [...(others.get(name) ?? []), file]);
  const [keyOfA, keyOfB] = [new Map<string, string>(), new Map<string, string>()];
  for (const file of a) {
    const other = namesOf(file)
      .flatMap((name) => others.get(name) ?? [])
      .find(({ id }) => !keyOfB.has(id));
    if (other === undefined) continue;
    keyOfA.set(file.id, file.id);
    keyOfB.set(other.id, file.id);
  }
  return { keyOfA, keyOfB };
}

/** What tells a file: the audio file that it is, and the digest of its bytes. */
const namesOf = ({ audio_file_id, checksum_sha256 }: File) =>
  [audio_file_id, checksum_sha256].filter((name) => name !== null);
