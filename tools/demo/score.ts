// Compares detections with the inserted artifacts: hits, misses, false alarms and F1 by type. Pure. Called by play.ts
// for the demo's table and by the end-to-end test. Uses the rules of the detection benchmark: impulsive types by onset
// (50 ms), sustained ones by onset (200 ms) and offset (200 ms or 20 % of the length).
export interface Event {
  /** Name of the recording; only events of the same file are compared. */
  readonly file: string;
  readonly artifact_type: string;
  readonly start_ms: number;
  readonly end_ms: number;
}

export interface TypeScore {
  readonly type: string;
  readonly truth: number;
  readonly found: number;
  readonly hits: number;
  readonly misses: number;
  readonly falseAlarms: number;
  /** Null if there are no detections. */
  readonly precision: number | null;
  /** Null if there are no artifacts of the type. */
  readonly recall: number | null;
  /** 2 hits / (truth + found); null if both are zero. */
  readonly f1: number | null;
}

export interface Score {
  readonly types: readonly TypeScore[];
  /** Mean F1 over the types that occur in the truth. */
  readonly macroF1: number;
  readonly falseAlarms: number;
}

const impulsive: ReadonlySet<string> = new Set(["click", "mouth_click", "pop", "plosive"]);
const impulsiveOnsetMs = 50;
const sustainedEdgeMs = 200;
const sustainedShare = 0.2;

/** Scores `found` against `truth` for `types`, in that order. */
export function score(types: readonly string[], truth: readonly Event[], found: readonly Event[]): Score {
  const scores = types.map((type) => {
    const of = (events: readonly Event[]) => events.filter((event) => event.artifact_type === type);
    return scoreType(type, of(truth), of(found));
  });
  const present = scores.filter((one) => one.truth > 0);
  const sum = present.reduce((total, one) => total + (one.f1 ?? 0), 0);
  return {
    types: scores,
    macroF1: present.length === 0 ? 0 : sum / present.length,
    falseAlarms: scores.reduce((total, one) => total + one.falseAlarms, 0),
  };
}

function scoreType(type: string, truth: readonly Event[], found: readonly Event[]): TypeScore {
  const hits = countMatches(type, truth, found);
  return {
    type,
    truth: truth.length,
    found: found.length,
    hits,
    misses: truth.length - hits,
    falseAlarms: found.length - hits,
    precision: found.length === 0 ? null : hits / found.length,
    recall: truth.length === 0 ? null : hits / truth.length,
    f1: truth.length + found.length === 0 ? null : (2 * hits) / (truth.length + found.length),
  };
}

/** Matches one to one, closest onsets first, so that one long detection cannot match many events. */
function countMatches(type: string, truth: readonly Event[], found: readonly Event[]): number {
  const pairs = truth.flatMap((wanted, i) =>
    found.flatMap((got, j) =>
      matches(type, wanted, got) ? [{ i, j, distance: Math.abs(wanted.start_ms - got.start_ms) }] : [],
    ),
  );
  pairs.sort((a, b) => a.distance - b.distance || a.i - b.i || a.j - b.j);
  const usedTruth = new Set<number>();
  const usedFound = new Set<number>();
  for (const { i, j } of pairs) {
    if (usedTruth.has(i) || usedFound.has(j)) continue;
    usedTruth.add(i);
    usedFound.add(j);
  }
  return usedTruth.size;
}

function matches(type: string, truth: Event, found: Event): boolean {
  if (truth.file !== found.file) return false;
  const onset = Math.abs(truth.start_ms - found.start_ms);
  if (impulsive.has(type)) return onset <= impulsiveOnsetMs;
  const collar = Math.max(sustainedEdgeMs, sustainedShare * (truth.end_ms - truth.start_ms));
  return onset <= sustainedEdgeMs && Math.abs(truth.end_ms - found.end_ms) <= collar;
}
