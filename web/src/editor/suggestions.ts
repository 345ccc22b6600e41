// What a model found in the file, for somebody to accept or reject. Pure.
import type { Region } from "./region.ts";

export interface Suggestion {
  readonly id: string;
  readonly jobId: string;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
}

/** Regions that begin and end this near to a suggestion say the same. */
const nearMs = 50;

/** Whether a label of the same type covers at least half of the suggestion, or is covered so, or is about as it is. */
export function isCovered(suggestion: Suggestion, regions: readonly Region[]): boolean {
  return regions.some(({ type, startMs, endMs }) => {
    if (type !== suggestion.type) return false;
    if (Math.abs(startMs - suggestion.startMs) <= nearMs && Math.abs(endMs - suggestion.endMs) <= nearMs)
      return true;
    const shared = Math.min(endMs, suggestion.endMs) - Math.max(startMs, suggestion.startMs);
    const shorter = Math.min(endMs - startMs, suggestion.endMs - suggestion.startMs);
    return shared > 0 && shared * 2 >= shorter;
  });
}

/** Suggestions that nobody has decided yet, in order. */
export const openSuggestions = (
  all: readonly Suggestion[],
  regions: readonly Region[],
  rejected: ReadonlySet<string>,
  leastConfidence: number,
): readonly Suggestion[] =>
  all
    .filter(
      (suggestion) =>
        suggestion.confidence >= leastConfidence &&
        !rejected.has(suggestion.id) &&
        !isCovered(suggestion, regions),
    )
    .sort((a, b) => a.startMs - b.startMs || (a.id < b.id ? -1 : 1));

/** The label that an accepted suggestion becomes, as the service makes it of detections too. */
export const acceptedAs = ({ jobId, type, startMs, endMs, confidence }: Suggestion, key: string): Region => ({
  key,
  type,
  startMs,
  endMs,
  confidence,
  annotator: null,
  extraData: { inference_job_id: jobId },
});
