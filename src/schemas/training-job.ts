// Training jobs: the custom resource TrainingJob, and the REST form.
import { z } from "zod";
import { jobProgress, jobStatuses } from "./job.ts";
import {
  commonSpec,
  immutable,
  jobColumns,
  jobRules,
  jobStatus,
  resourceId,
  specRules,
} from "./job-resource.ts";
import { defineKind } from "./kind.ts";
import { modelMetrics } from "./model-metrics.ts";
import { listQuery, sentence, time, id as uuid } from "./rest.ts";
import { trainingConfig, trainingJobConfig } from "./training-config.ts";

export const trainingJobKind = defineKind({
  kind: "TrainingJob",
  plural: "trainingjobs",
  singular: "trainingjob",
  shortName: "vtj",
  description: "Trains a model from a published annotation set.",
  spec: z
    .object({
      ...commonSpec,
      datasetId: immutable("datasetId", resourceId("Dataset with the audio to train on, a UUID")),
      annotationSetId: immutable(
        "annotationSetId",
        resourceId("Published annotation set with the labels, a UUID"),
      ),
      config: immutable("config", trainingConfig),
    })
    .meta(specRules),
  status: jobStatus.extend({
    modelId: z.string().max(36).optional().describe("Model that the job trained, a UUID"),
  }),
  columns: jobColumns(".status.modelId"),
  rules: jobRules,
});

/** The REST form: exactly these members, always present. */
export const trainingJob = z
  .object({
    id: uuid("Id of the job"),
    tenant_id: uuid("Tenant that owns the job"),
    dataset_id: uuid("Dataset that the job trains on"),
    annotation_set_id: uuid("Published annotation set with the labels"),
    config: z
      .record(z.string(), z.unknown())
      .describe("Effective configuration")
      .meta({ examples: [{ artifact_types: ["click"], epochs: 20, validation_split: 0.2 }] }),
    ...jobProgress,
    metrics: modelMetrics
      .nullable()
      .describe("Metrics of the trained model; null before training ends")
      .meta({
        examples: [{ overall: { f1: 0.91 }, per_type: { click: { precision: 0.93, recall: 0.89 } } }],
      }),
    error_message: z
      .string()
      .nullable()
      .describe("Why the job failed")
      .meta({ examples: [null] }),
    platform_job_name: sentence(
      "Name of the Kubernetes Job of the current run",
      "tj-0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11-1",
    ).nullable(),
    created_at: time("When the job was created"),
    queued_at: time("When Kubernetes accepted the job").nullable(),
    started_at: time("When the job started to run").nullable(),
    completed_at: time("When the job ended, with any outcome")
      .nullable()
      .meta({ examples: [null] }),
  })
  .meta({ id: "TrainingJob" });

export const createTrainingJobBody = z
  .object({
    dataset_id: uuid("Dataset to train on"),
    annotation_set_id: uuid("Published annotation set of that dataset"),
    config: trainingJobConfig,
  })
  .meta({ id: "CreateTrainingJob" });

export const listTrainingJobsQuery = z.object({
  ...listQuery,
  status: z
    .array(z.enum(jobStatuses))
    .max(16)
    .optional()
    .describe("Only jobs with these statuses; repeat the parameter for several"),
  dataset_id: uuid("Only jobs of this dataset").optional(),
});

export const trainingMetrics = z
  .object({
    series: z
      .array(
        z.object({
          name: sentence("Name of the curve", "val_f1"),
          points: z
            .array(z.array(z.number()).length(2))
            .describe("Pairs of step and value, ordered by step")
            .meta({
              examples: [
                [
                  [1, 0.52],
                  [2, 0.61],
                ],
              ],
            }),
        }),
      )
      .describe("Curves, ordered by name"),
  })
  .meta({ id: "TrainingMetrics" });
