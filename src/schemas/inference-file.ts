// Files of an inference job in REST.
import { z } from "zod";
import { uploadForm } from "./audio-file.ts";
import { sha256Hex } from "./primitives.ts";
import { count, id, listQuery, sentence, time } from "./rest.ts";

export const inferenceFileStatuses = [
  "pending_upload",
  "queued",
  "processing",
  "completed",
  "failed",
  "cancelled",
] as const;

export const inferenceFile = z
  .object({
    id: id("Id of the file"),
    inference_job_id: id("Inference job that the file belongs to"),
    audio_file_id: id("Audio file of a dataset; null if the file was uploaded to the job").nullable(),
    dataset_id: id(
      "Dataset of the audio file; null if the file was uploaded to the job, or if the audio file was deleted",
    ).nullable(),
    filename: sentence("Name of the file", "take-17.wav"),
    content_type: sentence("Content type of the audio", "audio/wav"),
    size_bytes: count("Size in bytes", 5_292_044),
    checksum_sha256: sha256Hex.nullable().describe("SHA-256 digest, hexadecimal; null until it is known"),
    status: z
      .enum(inferenceFileStatuses)
      .describe("State of the file")
      .meta({ examples: ["completed"] }),
    duration_ms: count("Length in milliseconds", 60_000).nullable(),
    detection_count: count("Number of detections in the file"),
    error_message: z
      .string()
      .nullable()
      .describe("Why the file failed, or why the service refused to confirm its last upload")
      .meta({ examples: [null] }),
    created_at: time("When the file was added to the job"),
    started_at: time("When processing of the file started").nullable(),
    completed_at: time("When processing of the file ended").nullable(),
  })
  .meta({ id: "InferenceFile" });

export const inferenceUpload = z
  .object({
    inference_file_id: id("Id of the file"),
    upload: uploadForm,
    max_size_bytes: count("Largest accepted upload, in bytes", 2_147_483_648),
    inference_file: inferenceFile,
  })
  .meta({ id: "InferenceUpload" });

export const listInferenceFilesQuery = z.object({
  ...listQuery,
  status: z.enum(inferenceFileStatuses).optional().describe("Only files with this status"),
});
