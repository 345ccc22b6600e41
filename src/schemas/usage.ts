// Usage and limits of a tenant in REST.
import { z } from "zod";

const use = (what: string) =>
  z
    .object({
      used: z.int().min(0).describe("Amount in use"),
      limit: z.int().min(1).nullable().describe("Upper limit; null: no limit"),
    })
    .describe(what)
    .meta({ examples: [{ used: 3, limit: 1000 }] });

const seconds = (what: string) =>
  z
    .int()
    .min(0)
    .describe(what)
    .meta({ examples: [86_400] });

const rate = z.object({
  name: z
    .enum(["default", "writes", "uploads", "keys", "trainings"])
    .describe("Name of the rate limit, as in the header RateLimit"),
  requests_per_minute: z.int().min(1).nullable().describe("Requests per minute; null: no limit"),
});

export const usage = z
  .object({
    quotas: z
      .object({
        datasets: use("Datasets"),
        audio_bytes: use("Bytes of audio, including pending uploads and files uploaded to inference jobs"),
        audio_files_per_dataset: use("Audio files per dataset; `used` is for the largest dataset"),
        annotations_per_set: use("Annotations per annotation set; `used` is for the largest set"),
        annotation_sets: use("Annotation sets"),
        annotations: use("Annotations in all annotation sets"),
        running_training_jobs: use("Training jobs that run at once; further jobs wait"),
        waiting_training_jobs: use("Training jobs that wait; further jobs are refused"),
        running_inference_jobs: use("Inference jobs that run at once; further jobs wait"),
        waiting_inference_jobs: use("Inference jobs that wait; further jobs are refused"),
        inference_files: use("Files in all inference jobs"),
        api_keys: use("API keys"),
        webhooks: use("Webhooks"),
      })
      .describe("What the account uses of each quota, and the quota"),
    compute: z
      .object({
        pod_seconds: seconds("Run time of all pods"),
        cpu_seconds: seconds("Requested CPU cores times run time"),
        gpu_seconds: seconds("Requested GPUs times run time"),
        audio_seconds: seconds("Processed audio"),
      })
      .describe("Total usage of all jobs, in seconds. It never decreases, not even when jobs are deleted"),
    rates: z
      .array(rate)
      .describe("Rate limits. Every request counts against `default`, some requests count against one more"),
  })
  .meta({ id: "Usage" });
