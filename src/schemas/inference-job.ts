// Inference jobs: the custom resource InferenceJob (interface specification 2.4 for the REST form).
import { z } from "zod";
import { commonSpec, immutable, jobColumns, jobStatus, specRules } from "./job-resource.ts";
import { defineKind, type Resource } from "./kind.ts";

export const inferenceJobKind = defineKind({
  kind: "InferenceJob",
  plural: "inferencejobs",
  singular: "inferencejob",
  shortName: "vij",
  description: "Finds artifacts in audio files with a trained model.",
  spec: z
    .object({
      ...commonSpec,
      modelId: immutable("modelId", z.string().min(36).max(36).describe("Model to use, a UUID")),
    })
    .meta(specRules),
  status: jobStatus,
  columns: jobColumns,
});

export type InferenceJobResource = Resource<typeof inferenceJobKind>;
