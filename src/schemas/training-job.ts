// Training jobs: the custom resource TrainingJob (interface specification 2.1 for the REST form).
import { z } from "zod";
import { commonSpec, immutable, jobColumns, jobStatus, specRules } from "./job-resource.ts";
import { defineKind, type Resource } from "./kind.ts";
import { trainingConfig } from "./training-config.ts";

const id = (text: string) => z.string().min(36).max(36).describe(text);

export const trainingJobKind = defineKind({
  kind: "TrainingJob",
  plural: "trainingjobs",
  singular: "trainingjob",
  shortName: "vtj",
  description: "Trains a detector of voice artifacts from a published annotation set.",
  spec: z
    .object({
      ...commonSpec,
      datasetId: immutable("datasetId", id("Dataset whose audio is trained on, a UUID")),
      annotationSetId: immutable("annotationSetId", id("Published annotation set with the labels, a UUID")),
      config: immutable("config", trainingConfig),
    })
    .meta(specRules),
  status: jobStatus.extend({
    modelId: z.string().max(36).optional().describe("Model that came out, a UUID"),
  }),
  columns: jobColumns,
});

export type TrainingJobResource = Resource<typeof trainingJobKind>;
