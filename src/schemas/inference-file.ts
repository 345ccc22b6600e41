// Files of an inference job in REST.
import { z } from "zod";
import { uploadForm } from "./audio-file.ts";
import { sha256Hex } from "./primitives.ts";
import { count, id, pageQuery, sentence, time } from "./rest.ts";

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
    inference_job_id: id("Job that it belongs to"),
    audio_file_id: id("Audio file of a dataset; null for an upload of the job's own").nullable(),
    filename: sentence("Name of the file", "take-17.wav"),
    content_type: sentence("Type of the audio", "audio/wav"),
    size_bytes: count("Size in bytes", 5_292_044),
    checksum_sha256: sha256Hex.nullable().describe("SHA-256 digest, hexadecimal; null until known"),
    status: z
      .enum(inferenceFileStatuses)
      .describe("How far the file is")
      .meta({ examples: ["completed"] }),
    duration_ms: count("Length in milliseconds", 60_000).nullable(),
    detection_count: count("Artifacts found in it"),
    error_message: z
      .string()
      .nullable()
      .describe("Why the file failed")
      .meta({ examples: [null] }),
    created_at: time("When it was added"),
    started_at: time("When its search began").nullable(),
    completed_at: time("When its search ended").nullable(),
  })
  .meta({ id: "InferenceFile" });

export const inferenceUpload = z
  .object({
    inference_file_id: id("Id of the file"),
    upload: uploadForm,
    max_size_bytes: count("Largest accepted upload", 2_147_483_648),
    inference_file: inferenceFile,
  })
  .meta({ id: "InferenceUpload" });

export const listInferenceFilesQuery = z.object({
  ...pageQuery,
  status: z.enum(inferenceFileStatuses).optional().describe("Only files with this status"),
});
