// The custom resource EmbeddingJob. One embedding job processes many confirmed audio files of one tenant.
import { z } from "zod";
import { commonSpec, jobColumns, jobRules, jobStatus, specRules } from "./job-resource.ts";
import { defineKind } from "./kind.ts";

export const embeddingJobKind = defineKind({
  kind: "EmbeddingJob",
  plural: "embeddingjobs",
  singular: "embeddingjob",
  shortName: "vej",
  description: "Decodes audio files and stores their embeddings.",
  spec: z.object({ ...commonSpec }).meta(specRules),
  status: jobStatus,
  columns: jobColumns(),
  rules: jobRules,
});
