// Inference jobs: the custom resource InferenceJob, and the REST form.
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
import { artifactTypeName, falseAlarms, maxMembers } from "./primitives.ts";
import { count, listQuery, sentence, time, id as uuid } from "./rest.ts";
import type { DetectConfig } from "./worker.ts";

const budget =
  "Thresholds of the model are raised until this many false alarms are expected; `threshold` and `thresholds` take precedence";
const milliseconds = (text: string) => z.int().min(0).max(3_600_000).optional().describe(text);

/** Like `inferenceConfig` below, but without null. The model decides every member that is absent. */
const resourceConfig = z.object({
  threshold: z.number().min(0).max(1).optional().describe("One threshold for all types"),
  thresholds: z
    .record(z.string().max(64), z.number().min(0).max(1).describe("Threshold of this type"))
    .optional()
    .describe("Thresholds by type; they take precedence over `threshold`")
    .meta({ maxProperties: 64 }),
  artifact_types: z
    .array(artifactTypeName)
    .min(1)
    .max(64)
    .optional()
    .describe("Artifact types to report; by default all types of the model"),
  min_duration_ms: milliseconds("Detections shorter than this, after merging, are dropped, in milliseconds"),
  merge_gap_ms: milliseconds(
    "Detections of one type at most this far apart are merged, with the highest confidence of them, in milliseconds",
  ),
  chunk_size_ms: z.int().min(1).optional().describe("Length of a window, in milliseconds"),
  stride_ms: z.int().min(1).optional().describe("Distance between the starts of windows, in milliseconds"),
  max_false_alarms_per_hour: falseAlarms(budget).optional(),
});

export const inferenceJobKind = defineKind({
  kind: "InferenceJob",
  plural: "inferencejobs",
  singular: "inferencejob",
  shortName: "vij",
  description: "Runs a trained model over audio files and stores detections.",
  spec: z
    .object({
      ...commonSpec,
      modelId: immutable("modelId", resourceId("Model to run, a UUID")),
      datasetId: immutable(
        "datasetId",
        resourceId(
          "Dataset whose ready files are processed; for jobs that are applied with kubectl",
        ).optional(),
      ),
      audioFileIds: immutable(
        "audioFileIds",
        z
          .array(resourceId("An audio file, a UUID"))
          .min(1)
          .max(1_000)
          .optional()
          .describe("Audio files to process, instead of datasetId"),
      ),
      config: immutable("config", resourceConfig.optional().describe("Options of inference")),
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

/** The REST form. */
export const inferenceJob = z
  .object({
    id: uuid("Id of the job"),
    tenant_id: uuid("Tenant that owns the job"),
    model_id: uuid("Model that the job runs"),
    config: z
      .record(z.string(), z.unknown())
      .describe("Effective configuration; null: the value of the model")
      .meta({ examples: [{ threshold: 0.5 }] }),
    ...jobProgress,
    total_files: count("Number of files of the job"),
    processed_files: count("Number of processed files, including failed ones"),
    failed_files: count("Number of failed files"),
    total_detections: count("Number of detections so far"),
    error_message: z
      .string()
      .nullable()
      .describe("Why the job failed")
      .meta({ examples: [null] }),
    platform_job_name: sentence(
      "Name of the Kubernetes Job of the current run",
      "ij-0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11-1",
    ).nullable(),
    created_at: time("When the job was created"),
    start_requested_at: time(
      "When the job was started: at its creation, or by a request; null: it waits for its files",
    ).nullable(),
    started_at: time("When the job started to run").nullable(),
    completed_at: time("When the job ended, with any outcome")
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
      .check(maxMembers(64))
      .optional()
      .describe("Thresholds by type; they take precedence over `threshold`")
      .meta({ maxProperties: 64, examples: [{ click: 0.6 }] }),
    artifact_types: z.array(artifactTypeName).min(1).max(64).nullish().describe("Artifact types to report"),
    min_duration_ms: z
      .int()
      .min(0)
      .max(3_600_000)
      .nullish()
      .describe("Detections shorter than this, after merging, are dropped; in milliseconds"),
    merge_gap_ms: z
      .int()
      .min(0)
      .max(3_600_000)
      .nullish()
      .describe(
        "Detections of one type at most this far apart are merged, with the highest confidence of them; in milliseconds",
      ),
    chunk_size_ms: z.int().min(1).nullish().describe("Length of a window, in milliseconds"),
    stride_ms: z.int().min(1).nullish().describe("Distance between the starts of windows, in milliseconds"),
    max_false_alarms_per_hour: falseAlarms(budget).nullish(),
  })
  .describe("Options of inference; the model decides every option that is absent or null");

/** Fills in every member, so that a client sees in the response that a misspelt member was ignored. */
export function effectiveConfig(config: z.infer<typeof inferenceConfig>): DetectConfig {
  return {
    threshold: config.threshold ?? null,
    thresholds: config.thresholds ?? {},
    artifact_types: config.artifact_types ?? null,
    min_duration_ms: config.min_duration_ms ?? null,
    merge_gap_ms: config.merge_gap_ms ?? null,
    chunk_size_ms: config.chunk_size_ms ?? null,
    stride_ms: config.stride_ms ?? null,
    max_false_alarms_per_hour: config.max_false_alarms_per_hour ?? null,
  };
}

export const createInferenceJobBody = z
  .object({
    model_id: uuid("Model to run"),
    config: inferenceConfig.default({}),
    audio_file_ids: z
      .array(uuid("Audio file"))
      .min(1)
      .max(10_000)
      .nullish()
      .describe("Audio files to process"),
    dataset_id: uuid("Dataset whose ready files are processed").nullish(),
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
  ...listQuery,
  status: z
    .array(z.enum(jobStatuses))
    .max(16)
    .optional()
    .describe("Only jobs with these statuses; repeat the parameter for several"),
  model_id: uuid("Only jobs of this model").optional(),
});
