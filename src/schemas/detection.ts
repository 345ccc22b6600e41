// Detections in REST: what inference found (design 2.9).
import { z } from "zod";
import { id, pageQuery } from "./rest.ts";

export const detectionRecord = z
  .object({
    id: id("Id of the detection"),
    inference_file_id: id("File that it was found in"),
    artifact_type: z.string(),
    start_ms: z.int().min(0).describe("Where the artifact begins, in milliseconds"),
    end_ms: z.int().min(0).describe("Where it ends, in milliseconds"),
    confidence: z.number().min(0).max(1).describe("How sure the model is"),
  })
  .meta({ id: "Detection" });

export const listDetectionsQuery = z.object({
  ...pageQuery,
  inference_file_id: id("Only detections of this file").optional(),
  artifact_type: z.array(z.string().max(64)).max(64).optional().describe("Only these types; may be repeated"),
  min_confidence: z.number().min(0).max(1).optional().describe("Only detections at least this sure"),
});
