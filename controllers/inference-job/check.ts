// Checks whether reported detections are possible for this model and these files. Pure; called by adapter.ts before
// anything is stored.
import type { DetectResult } from "../../src/schemas/worker.ts";

/** Tolerance for rounding at the end of a file. */
const toleranceMs = 50;

/** Returns a sentence about the first impossible detection; undefined when all are possible. */
export function checkDetections(result: DetectResult, types: readonly string[]): string | undefined {
  const known = new Set(types);
  for (const item of result.items) {
    if (item.status === "failed") continue;
    for (const { artifact_type, start_ms, end_ms } of item.detections) {
      if (!known.has(artifact_type))
        return `The worker reported the artifact type ${artifact_type}, which the model does not have.`;
      if (end_ms < start_ms) return "The worker reported a detection that ends before it starts.";
      if (end_ms > item.duration_ms + toleranceMs)
        return "The worker reported a detection that ends after the end of its file.";
    }
  }
  return undefined;
}
