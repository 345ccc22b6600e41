// The members of the REST API's answers that the demo reads, as schemas: an answer that lacks one fails loudly and
// says where. Written against the interface specification, not against the server's own schemas: the demo is a client.
import { z } from "zod";

const id = z.uuid();
const count = z.int().min(0);

/** Fields to send with the file, and where to. */
export const upload = z.object({
  method: z.literal("POST"),
  url: z.url(),
  fields: z.record(z.string(), z.string()),
});
export const audioTicket = z.object({ audio_file_id: id, upload });
export const inferenceTicket = z.object({ inference_file_id: id, upload });

export const dataset = z.object({ id, name: z.string() });

export const audioFile = z.object({
  id,
  filename: z.string(),
  status: z.string(),
  embedding_status: z.string(),
  duration_ms: z.number().nullable(),
  error_message: z.string().nullable(),
});

export const annotationSet = z.object({
  id,
  version: z.int(),
  status: z.enum(["draft", "published"]),
  total_annotations: count,
  total_positive_duration_ms: count,
  annotations_by_type: z.record(z.string(), count),
});

export const bulk = z.object({ total: count });

export const trainingJob = z.object({
  id,
  config: z.record(z.string(), z.unknown()),
  status: z.string(),
  status_message: z.string().nullable(),
  progress_percent: z.int().min(0).max(100),
  metrics: z.record(z.string(), z.unknown()).nullable(),
  error_message: z.string().nullable(),
  platform_job_name: z.string().nullable(),
});

export const trainingMetrics = z.object({
  series: z.array(z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])) })),
});

export const model = z.object({
  id,
  name: z.string(),
  training_job_id: id,
  artifact_types: z.array(z.string()),
  object_store_key: z.string(),
  model_size_bytes: count,
});

export const inferenceJob = z.object({
  id,
  status: z.string(),
  total_files: count,
  processed_files: count,
  failed_files: count,
  total_detections: count,
  error_message: z.string().nullable(),
});

export const inferenceFile = z.object({
  id,
  filename: z.string(),
  status: z.string(),
  duration_ms: z.number().nullable(),
  detection_count: count,
  error_message: z.string().nullable(),
});

export const detection = z.object({
  inference_file_id: id,
  artifact_type: z.string(),
  start_ms: z.int(),
  end_ms: z.int(),
  confidence: z.number(),
});

/** One page of a list. */
export function page<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), total: count, has_more: z.boolean() });
}

export type Upload = z.infer<typeof upload>;
export type AudioFile = z.infer<typeof audioFile>;
export type AnnotationSet = z.infer<typeof annotationSet>;
export type TrainingJob = z.infer<typeof trainingJob>;
export type TrainingMetrics = z.infer<typeof trainingMetrics>;
export type Model = z.infer<typeof model>;
export type InferenceJob = z.infer<typeof inferenceJob>;
export type InferenceFile = z.infer<typeof inferenceFile>;
export type Detection = z.infer<typeof detection>;
