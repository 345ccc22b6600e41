// Embedding jobs: the custom resource EmbeddingJob. It gathers confirmed audio files of one tenant into one run.
import { z } from "zod";
import { commonSpec, jobColumns, jobRules, jobStatus, specRules } from "./job-resource.ts";
import { defineKind } from "./kind.ts";

export const embeddingJobKind = defineKind({
  kind: "EmbeddingJob",
  plural: "embeddingjobs",
  singular: "embeddingjob",
  shortName: "vej",
  description: "Decodes audio files and stores their frame embeddings.",
  spec: z.object({ ...commonSpec }).meta(specRules),
  status: jobStatus,
  columns: jobColumns(),
  rules: jobRules,
});
