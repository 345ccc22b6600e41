// Models: the custom resource Model, a read-only view of a trained model, and the REST form.
import { z } from "zod";
import { conditions, observedGeneration } from "./condition.ts";
import { immutable } from "./job-resource.ts";
import { defineKind, type Resource } from "./kind.ts";
import { architecture, modelMetrics } from "./model-metrics.ts";
import { artifactTypeName, sha256Hex } from "./primitives.ts";
import { count, listQuery, sentence, time, id as uuid } from "./rest.ts";

const id = (text: string) => z.string().min(36).max(36).describe(text);

export const modelKind = defineKind({
  kind: "Model",
  plural: "models",
  singular: "model",
  shortName: "vmodel",
  description: "A trained model. The operator creates it when a training job succeeds.",
  spec: z.object({
    tenantId: immutable("tenantId", id("Tenant that owns the model, a UUID")),
    trainingJobId: immutable("trainingJobId", id("Training job that trained the model, a UUID")),
    artifactTypes: z.array(artifactTypeName).min(1).max(64).describe("Artifact types that the model detects"),
    objectStoreKey: z.string().max(512).describe("Storage key of the model artifact"),
    sha256: z.string().max(64).describe("SHA-256 digest of the model artifact"),
    sizeBytes: z.int().min(0).describe("Size of the model artifact in bytes"),
  }),
  status: z.object({
    observedGeneration,
    phase: z.enum(["Ready", "Archived"]).optional().describe("Whether inference may use the model"),
    f1: z.string().max(16).optional().describe("Macro F1 on the validation files, as a decimal number"),
    conditions,
  }),
  columns: [
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Whether inference may use the model",
    },
    { name: "F1", type: "string", jsonPath: ".status.f1", description: "Macro F1 on the validation files" },
    {
      name: "Types",
      type: "string",
      jsonPath: ".spec.artifactTypes",
      description: "Artifact types that the model detects",
    },
    { name: "Size", type: "integer", jsonPath: ".spec.sizeBytes", description: "Size in bytes", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "Age" },
  ],
});

export type ModelResource = Resource<typeof modelKind>;

/** The REST form. */
export const model = z
  .object({
    id: uuid("Id of the model"),
    tenant_id: uuid("Tenant that owns the model"),
    training_job_id: uuid("Training job that trained the model"),
    name: sentence("Name for people", "Studio takes v3"),
    description: sentence("Purpose of the model", "Clicks in close-miked speech"),
    artifact_types: z.array(artifactTypeName).max(64).describe("Artifact types that the model detects"),
    object_store_key: sentence("Storage key of the model artifact", "models/…/model.onnx"),
    model_size_bytes: count("Size of the artifact in bytes", 410_233),
    checksum_sha256: sha256Hex.describe("SHA-256 digest of the artifact, hexadecimal"),
    architecture: architecture.describe("Architecture of the network"),
    eval_metrics: modelMetrics
      .describe("Metrics of its training job, measured on files held out of training")
      .meta({
        examples: [{ overall: { f1: 0.91 }, per_type: { click: { precision: 0.93, recall: 0.89 } } }],
      }),
    is_active: z.boolean().describe("Whether new inference jobs may use the model"),
    created_at: time("When training finished"),
    archived_at: time("When the model was archived; null: not archived")
      .nullable()
      .meta({ examples: [null] }),
  })
  .meta({ id: "Model" });

export const updateModelBody = z
  .object({
    name: z.string().min(1).max(255).optional().describe("Name for people"),
    description: z.string().max(2000).optional().describe("Purpose of the model"),
    is_active: z.boolean().optional().describe("Whether new inference jobs may use the model"),
  })
  .meta({ id: "UpdateModel" });

export const listModelsQuery = z.object({
  ...listQuery,
  is_active: z.boolean().optional().describe("True: only active models. False: only inactive models"),
  archived: z
    .enum(["false", "true", "all"])
    .default("false")
    .describe("`false`: models that are not archived. `true`: archived models. `all`: both"),
  training_job_id: uuid("Only the model of this training job").optional(),
});
