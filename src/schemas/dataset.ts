// Datasets in REST.
import { z } from "zod";
import { artifactTypeName } from "./primitives.ts";
import { count, id, listQuery, sentence, time } from "./rest.ts";

const name = z
  .string()
  .min(1)
  .max(255)
  .describe("Name for people; it does not have to be unique")
  .meta({ examples: ["Studio takes"] });
const description = z
  .string()
  .max(2000)
  .nullable()
  .describe("Description of the dataset")
  .meta({ examples: ["Close-miked speech, one talker a file"] });

export const artifactType = z
  .object({
    name: artifactTypeName,
    description: z
      .string()
      .max(2000)
      .nullish()
      .describe("What the artifact sounds like")
      .meta({ examples: ["A short tick, as of a wet mouth"] }),
  })
  .describe("An artifact type that annotations of this dataset may use");

/** A page of 100 datasets is in memory as a whole. */
const maxTypesBytes = 64 * 1024;

const artifactTypes = z
  .array(artifactType)
  .max(64)
  .refine((types) => new Set(types.map((type) => type.name.toLowerCase())).size === types.length, {
    error: "artifact type names must differ in more than upper and lower case",
  })
  .refine((types) => Buffer.byteLength(JSON.stringify(types)) <= maxTypesBytes, {
    error: `artifact types with their descriptions take at most ${maxTypesBytes} bytes of JSON`,
  })
  .describe("Artifact types of the dataset, with up to 64 KiB of JSON; names are unique regardless of case");

export const dataset = z
  .object({
    id: id("Id of the dataset"),
    tenant_id: id("Tenant that owns the dataset"),
    name,
    description,
    artifact_types: z
      .array(
        z.object({
          name: artifactTypeName,
          description: sentence(
            "What the artifact sounds like",
            "A short tick, as of a wet mouth",
          ).nullable(),
        }),
      )
      .max(64)
      .describe("Artifact types that may be labelled in the dataset"),
    audio_file_count: count("Number of audio files, including pending uploads"),
    total_duration_ms: count("Total length of the files that training can use, in milliseconds", 720_000),
    embedded_audio_file_count: count("Number of files that training can use"),
    created_at: time("When the dataset was created"),
    updated_at: time("When the dataset was last changed"),
  })
  .meta({ id: "Dataset" });

export const createDatasetBody = z
  .object({ name, description: description.optional(), artifact_types: artifactTypes.default([]) })
  .meta({ id: "CreateDataset" });

export const updateDatasetBody = z
  .object({
    name: name.optional(),
    description: description.optional(),
    artifact_types: artifactTypes.optional(),
  })
  .meta({ id: "UpdateDataset" });

export const listDatasetsQuery = z.object({
  ...listQuery,
  name: z.string().max(255).optional().describe("Only datasets whose name contains this text"),
});
