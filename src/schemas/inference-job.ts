// Inference jobs: the custom resource InferenceJob (interface specification 2.4 for the REST form).
import { z } from "zod";
import { jobProgress, jobStatuses } from "./job.ts";
import {
  commonSpec,
  immutable,
  jobColumns,
  jobRules,
  jobStatus,
  neverAdded,
  resourceId,
  specRules,
} from "./job-resource.ts";
import { defineKind } from "./kind.ts";
import { artifactTypeName } from "./primitives.ts";
import { count, pageQuery, sentence, time, id as uuid } from "./rest.ts";
import type { DetectConfig } from "./worker.ts";

const milliseconds = (text: string) => z.int().min(0).max(3_600_000).optional().describe(text);

/** As `inferenceConfig` below, without null: what is not given, the model decides. */
const resourceConfig = z.object({
  threshold: z.number().min(0).max(1).optional().describe("One threshold for all types"),
  thresholds: z
    .record(z.string().max(64), z.number().min(0).max(1).describe("Threshold of this type"))
    .optional()
    .describe("Thresholds by type, win over `threshold`")
    .meta({ maxProperties: 64 }),
  artifact_types: z
    .array(artifactTypeName)
    .min(1)
    .max(64)
    .optional()
    .describe("Types to report; by default all of the model"),
  min_duration_ms: milliseconds(
    "Detections that are shorter when near ones have become one are dropped, in milliseconds",
  ),
  merge_gap_ms: milliseconds(
    "Reported detections of a type this close become one, as sure as the surest, in milliseconds",
  ),
  chunk_size_ms: z.int().min(1).optional().describe("Length of a window, in milliseconds"),
  stride_ms: z.int().min(1).optional().describe("Distance between windows, in milliseconds"),
});

export const inferenceJobKind = defineKind({
  kind: "InferenceJob",
  plural: "inferencejobs",
  singular: "inferencejob",
  shortName: "vij",
  description: "Finds artifacts in audio files with a trained model.",
  spec: z
    .object({
      ...commonSpec,
      modelId: immutable("modelId", resourceId("Model to use, a UUID")),
      datasetId: immutable(
        "datasetId",
        resourceId("Dataset whose ready files are searched; for jobs made with kubectl").optional(),
      ),
      audioFileIds: immutable(
        "audioFileIds",
        z
          .array(resourceId("An audio file, a UUID"))
          .min(1)
          .max(1_000)
          .optional()
          .describe("Audio files to search, in place of datasetId"),
      ),
      config: immutable("config", resourceConfig.optional().describe("How detections are made")),
    })
    .meta({
      "x-kubernetes-validations": [
        ...specRules["x-kubernetes-validations"],
        ...["datasetId", "audioFileIds", "config"].map(neverAdded),
        {
          rule: "!has(self.datasetId) || !has(self.audioFileIds)",
          message: "give either datasetId or audioFileIds, not both",
        },
      ],
    }),
  status: jobStatus,
  columns: jobColumns(".spec.modelId"),
  rules: jobRules,
});

/** The REST form (interface specification 2.4). */
export const inferenceJob = z
  .object({
    id: uuid("Id of the job"),
    tenant_id: uuid("Tenant that owns it"),
    model_id: uuid("Model that it uses"),
    config: z
      .record(z.string(), z.unknown())
      .describe("The effective configuration; null: as the model says")
      .meta({ examples: [{ threshold: 0.5 }] }),
    ...jobProgress,
    total_files: count("Files of the job"),
    processed_files: count("Finished files, failed ones included"),
    failed_files: count("Files that failed"),
    total_detections: count("Artifacts found so far"),
    error_message: z
      .string()
      .nullable()
      .describe("Why the job failed")
      .meta({ examples: [null] }),
    platform_job_name: sentence(
      "Name of the Kubernetes Job of the present run",
      "ij-0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11-1",
    ).nullable(),
    created_at: time("When the job was made"),
    started_at: time("When it began to run").nullable(),
    completed_at: time("When it ended, however it ended")
      .nullable()
      .meta({ examples: [null] }),
  })
  .meta({ id: "InferenceJob" });

export const inferenceConfig = z
  .object({
    threshold: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe("One threshold for all types")
      .meta({ examples: [0.5] }),
    thresholds: z
      .record(artifactTypeName, z.number().min(0).max(1))
      .optional()
      .describe("Thresholds by type, win over `threshold`")
      .meta({ examples: [{ click: 0.6 }] }),
    artifact_types: z.array(artifactTypeName).min(1).max(64).nullish().describe("Types to report"),
    min_duration_ms: z
      .int()
      .min(0)
      .max(3_600_000)
      .nullish()
      .describe("Detections that are shorter when near ones have become one are dropped; in milliseconds"),
    merge_gap_ms: z
      .int()
      .min(0)
      .max(3_600_000)
      .nullish()
      .describe(
        "Reported detections of a type this close become one, as sure as the surest; in milliseconds",
      ),
    chunk_size_ms: z.int().min(1).nullish().describe("Length of a window"),
    stride_ms: z.int().min(1).nullish().describe("Distance between windows"),
  })
  .describe("What is not given, the model decides");

/** Every member with its value, so that a misspelt one shows in the answer. */
export function effectiveConfig(config: z.infer<typeof inferenceConfig>): DetectConfig {
  return {
    threshold: config.threshold ?? null,
    thresholds: config.thresholds ?? {},
    artifact_types: config.artifact_types ?? null,
    min_duration_ms: config.min_duration_ms ?? null,
    merge_gap_ms: config.merge_gap_ms ?? null,
    chunk_size_ms: config.chunk_size_ms ?? null,
    stride_ms: config.stride_ms ?? null,
  };
}

export const createInferenceJobBody = z
  .object({
    model_id: uuid("Model to use"),
    config: inferenceConfig.default({}),
    audio_file_ids: z
      .array(uuid("Audio file"))
      .min(1)
      .max(10_000)
      .nullish()
      .describe("Audio files to search"),
    dataset_id: uuid("Dataset whose ready files are searched").nullish(),
  })
  .refine((body) => !(body.audio_file_ids && body.dataset_id), {
    error: "give either audio_file_ids or dataset_id, not both",
    path: ["dataset_id"],
  })
  .meta({
    id: "CreateInferenceJob",
    examples: [
      {
        model_id: "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11",
        config: { threshold: 0.5 },
        dataset_id: "0198b0de-9a02-7d33-b1c4-2e8a60b7c3d5",
      },
    ],
  });

export const listInferenceJobsQuery = z.object({
  ...pageQuery,
  status: z.array(z.enum(jobStatuses)).max(16).optional().describe("Only these statuses; may be repeated"),
  model_id: uuid("Only jobs of this model").optional(),
});
