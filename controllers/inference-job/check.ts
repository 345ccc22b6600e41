// Whether detections can be what the model said about the files. Pure; called before anything is stored.
import type { DetectResult } from "../../src/schemas/worker.ts";

/** Rounding at the end of a file. */
const toleranceMs = 50;

/** A sentence on the first thing that cannot be; undefined when all is well. */
export function checkDetections(result: DetectResult, types: readonly string[]): string | undefined {
  const known = new Set(types);
  for (const item of result.items) {
    if (item.status === "failed") continue;
    for (const { artifact_type, start_ms, end_ms } of item.detections) {
      if (!known.has(artifact_type))
        return `The worker reported ${artifact_type}, which the model does not know.`;
      if (end_ms < start_ms) return "The worker reported a detection that ends before it starts.";
      if (end_ms > item.duration_ms + toleranceMs)
        return "The worker reported a detection after the end of its file.";
    }
  }
  return undefined;
}
