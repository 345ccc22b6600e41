// How far two sets of labels agree: which events are in both, and the F1 score per type. The rules are those of the
// service's evaluation (event-F1): an impulsive event matches if its onset is within 50 ms; any other if its onset is
// within 200 ms and its offset within the larger of 200 ms and a fifth of its length. Pure.

export interface Span {
  readonly fileId: string;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
}

const impulsiveMs = 50;
const sustainedMs = 200;
const lengthShare = 0.2;

export interface Agreement<T extends Span> {
  readonly type: string;
  readonly matched: readonly (readonly [T, T])[];
  readonly onlyA: readonly T[];
  readonly onlyB: readonly T[];
  readonly f1: number;
}

/** One entry per type, by name. */
export function agreementOf<T extends Span>(a: readonly T[], b: readonly T[]): readonly Agreement<T>[] {
  const types = [...new Set([...a, ...b].map(({ type }) => type))].sort();
  return types.map((type) => {
    const [ofA, ofB] = [a, b].map((spans) => spans.filter((span) => span.type === type));
    const isImpulsive = median([...(ofA ?? []), ...(ofB ?? [])].map(lengthOf)) <= impulsiveMs;
    return { type, ...matchedOf(ofA ?? [], ofB ?? [], isImpulsive) };
  });
}

const lengthOf = ({ startMs, endMs }: Span) => endMs - startMs;

function median(values: number[]): number {
  values.sort((x, y) => x - y);
  return values[values.length >> 1] ?? 0;
}

function agrees(a: Span, b: Span, isImpulsive: boolean): boolean {
  const onset = Math.abs(a.startMs - b.startMs);
  if (isImpulsive) return onset <= impulsiveMs;
  // Neither side is the truth: the longer one decides.
  const collar = Math.max(sustainedMs, lengthShare * Math.max(lengthOf(a), lengthOf(b)));
  return onset <= sustainedMs && Math.abs(a.endMs - b.endMs) <= collar;
}

/** One to one, nearest onsets first. */
function matchedOf<T extends Span>(a: readonly T[], b: readonly T[], isImpulsive: boolean) {
  const ofFile = Map.groupBy(
    [...b].sort((x, y) => x.startMs - y.startMs),
    ({ fileId }) => fileId,
  );
  const pairs: { distance: number; a: T; b: T }[] = [];
  for (const span of a) {
    const others = ofFile.get(span.fileId) ?? [];
    for (let i = firstFrom(others, span.startMs - sustainedMs); i < others.length; i++) {
      const other = others[i];
      if (other === undefined || other.startMs > span.startMs + sustainedMs) break;
      if (agrees(span, other, isImpulsive))
        pairs.push({ distance: Math.abs(span.startMs - other.startMs), a: span, b: other });
    }
  }
  const used = new Set<T>();
  const matched: (readonly [T, T])[] = [];
  for (const pair of pairs.sort((x, y) => x.distance - y.distance)) {
    if (used.has(pair.a) || used.has(pair.b)) continue;
    used.add(pair.a).add(pair.b);
    matched.push([pair.a, pair.b]);
  }
  const total = a.length + b.length;
  return {
    matched,
    onlyA: a.filter((span) => !used.has(span)),
    onlyB: b.filter((span) => !used.has(span)),
    f1: total === 0 ? 0 : (2 * matched.length) / total,
  };
}

function firstFrom(spans: readonly Span[], startMs: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.startMs ?? 0) < startMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
