// The types of events in groups, for the choice of a webhook. The compiler checks the list against the REST description.
import type { CreateWebhook } from "../../../../client/schema.ts";

export type EventType = NonNullable<CreateWebhook["types"]>[number];

interface Group {
  readonly label: string;
  readonly types: readonly EventType[];
}

export const groups = [
  { label: "Audio files", types: ["audio_file.ready", "audio_file.failed"] },
  { label: "Annotation sets", types: ["annotation_set.published"] },
  {
    label: "Training jobs",
    types: [
      "training_job.pending",
      "training_job.queued",
      "training_job.running",
      "training_job.progress",
      "training_job.cancelling",
      "training_job.completed",
      "training_job.failed",
      "training_job.cancelled",
    ],
  },
  { label: "Models", types: ["model.created", "model.archived"] },
  {
    label: "Inference jobs",
    types: [
      "inference_job.pending",
      "inference_job.queued",
      "inference_job.running",
      "inference_job.cancelling",
      "inference_job.completed",
      "inference_job.failed",
      "inference_job.cancelled",
      "inference_file.completed",
      "inference_file.failed",
    ],
  },
  { label: "API keys and webhooks", types: ["api_key.created", "api_key.revoked", "webhook.disabled"] },
] as const satisfies readonly Group[];

type Listed = (typeof groups)[number]["types"][number];
/** A type that the list lacks makes this line fail to compile. */
export const areComplete: [EventType] extends [Listed] ? true : never = true;
