// Detections in REST: what inference found.
import { z } from "zod";
import { artifactTypeName } from "./primitives.ts";
import { count, id, pageQuery } from "./rest.ts";

export const detectionRecord = z
  .object({
    id: id("Id of the detection"),
    inference_file_id: id("File that it was found in"),
    artifact_type: artifactTypeName,
    start_ms: count("Where the artifact begins, in milliseconds", 1250),
    end_ms: count("Where it ends, in milliseconds", 1310),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .describe("How sure the model is")
      .meta({ examples: [0.87] }),
  })
  .meta({ id: "Detection" });

export const listDetectionsQuery = z.object({
  ...pageQuery,
  inference_file_id: id("Only detections of this file").optional(),
  artifact_type: z.array(z.string().max(64)).max(64).optional().describe("Only these types; may be repeated"),
  min_confidence: z.number().min(0).max(1).optional().describe("Only detections at least this sure"),
});
