// Files of an inference job in REST (design 2.9).
import { z } from "zod";
import { uploadForm } from "./audio-file.ts";
import { count, id, pageQuery, time } from "./rest.ts";

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
    filename: z.string(),
    content_type: z.string(),
    size_bytes: count("Size in bytes"),
    checksum_sha256: z.string().nullable().describe("SHA-256 digest, hexadecimal; null until known"),
    status: z.enum(inferenceFileStatuses).describe("How far the file is"),
    duration_ms: count("Length in milliseconds").nullable(),
    detection_count: count("Artifacts found in it"),
    error_message: z.string().nullable().describe("Why the file failed"),
    created_at: time("When it was added"),
    started_at: time("When its search began").nullable(),
    completed_at: time("When its search ended").nullable(),
  })
  .meta({ id: "InferenceFile" });

export const inferenceUpload = z
  .object({
    inference_file_id: id("Id of the file"),
    upload: uploadForm,
    max_size_bytes: count("Largest accepted upload"),
    inference_file: inferenceFile,
  })
  .meta({ id: "InferenceUpload" });

export const listInferenceFilesQuery = z.object({
  ...pageQuery,
  status: z.enum(inferenceFileStatuses).optional().describe("Only files with this status"),
});
