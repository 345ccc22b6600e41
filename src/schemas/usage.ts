// What a tenant uses and may use, in REST.
import { z } from "zod";

const use = (what: string) =>
  z
    .object({
      used: z.int().min(0).describe("How much there is"),
      limit: z.int().min(1).nullable().describe("How much there may be; null: no limit"),
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
  name: z.enum(["default", "writes", "uploads", "keys", "trainings"]).describe("As in the header RateLimit"),
  requests_per_minute: z.int().min(1).nullable().describe("null: no limit"),
});

export const usage = z
  .object({
    quotas: z.object({
      datasets: use("Datasets"),
      audio_bytes: use("Bytes of audio, announced uploads and inference uploads included"),
      audio_files_per_dataset: use("Audio files of a dataset; used: of the largest one"),
      annotations_per_set: use("Annotations of an annotation set; used: of the largest one"),
      running_training_jobs: use("Training jobs that run at once; more wait"),
      waiting_training_jobs: use("Training jobs that wait; more are refused"),
      running_inference_jobs: use("Inference jobs that run at once; more wait"),
      waiting_inference_jobs: use("Inference jobs that wait; more are refused"),
      api_keys: use("API keys"),
      webhooks: use("Webhooks"),
    }),
    compute: z
      .object({
        pod_seconds: seconds("Time of all pods"),
        cpu_seconds: seconds("Requested processors by time"),
        gpu_seconds: seconds("Requested GPUs by time"),
        audio_seconds: seconds("Audio that was worked through"),
      })
      .describe("What jobs have used so far, in seconds; it never falls, also when they are deleted"),
    rates: z.array(rate).describe("Rates of requests: all count towards default, some towards one more"),
  })
  .meta({ id: "Usage" });
