// Models: the custom resource Model, a read-only picture of a trained model (interface specification 2.3 for REST).
import { z } from "zod";
import { immutable } from "./job-resource.ts";
import { defineKind, type Resource } from "./kind.ts";
import { artifactTypeName } from "./primitives.ts";

const id = (text: string) => z.string().min(36).max(36).describe(text);

export const modelKind = defineKind({
  kind: "Model",
  plural: "models",
  singular: "model",
  shortName: "vmodel",
  description: "A trained detector. Made by the operator when a training job succeeds.",
  spec: z.object({
    tenantId: immutable("tenantId", id("Tenant that owns the model, a UUID")),
    trainingJobId: immutable("trainingJobId", id("Training job that made the model, a UUID")),
    artifactTypes: z.array(artifactTypeName).min(1).max(64).describe("Artifact types that the model finds"),
    objectStoreKey: z.string().max(512).describe("Storage key of the model artifact"),
    sha256: z.string().max(64).describe("SHA-256 digest of the model artifact"),
    sizeBytes: z.int().min(0).describe("Size of the model artifact in bytes"),
  }),
  status: z.object({
    phase: z.enum(["Ready", "Archived"]).optional().describe("Whether inference may use the model"),
    f1: z.string().max(16).optional().describe("Macro F1 on the validation files, as a decimal number"),
  }),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Whether inference may use it" },
    { name: "F1", type: "string", jsonPath: ".status.f1", description: "Macro F1 on the validation files" },
    {
      name: "Types",
      type: "string",
      jsonPath: ".spec.artifactTypes",
      description: "Artifact types it finds",
    },
    { name: "Size", type: "integer", jsonPath: ".spec.sizeBytes", description: "Bytes", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "Age" },
  ],
});

export type ModelResource = Resource<typeof modelKind>;
