// Detections in REST: the regions in which a model found an artifact.
import { z } from "zod";
import { artifactTypeName } from "./primitives.ts";
import { count, cursor, id, pageQuery } from "./rest.ts";

export const detectionRecord = z
  .object({
    id: id("Id of the detection"),
    inference_file_id: id("Inference file of the detection"),
    artifact_type: artifactTypeName,
    start_ms: count("Start of the artifact, in milliseconds", 1250),
    end_ms: count("End of the artifact, in milliseconds", 1310),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .describe("Calibrated confidence of the model, 0 to 1")
      .meta({ examples: [0.87] }),
  })
  .meta({ id: "Detection" });

export const listDetectionsQuery = z.object({
  ...pageQuery,
  cursor: cursor(
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9]{1,9}$/,
    "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11.119",
  ),
  inference_file_id: id("Only detections of this file").optional(),
  artifact_type: z
    .array(z.string().max(64))
    .max(64)
    .optional()
    .describe("Only these artifact types; repeat the parameter for several"),
  min_confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Only detections with at least this confidence"),
});
