// What an event means in words, and where its resource is. Pure.
import { own } from "../../app/own.ts";

type Tone = "good" | "bad" | "busy" | "quiet";

const nouns: Record<string, string> = {
  audio_file: "Audio file",
  annotation_set: "Annotation set",
  training_job: "Training job",
  inference_job: "Inference job",
  inference_file: "Inference file",
  model: "Model",
  api_key: "API key",
  webhook: "Webhook",
};

const tones: Record<string, Tone> = {
  ready: "good",
  completed: "good",
  published: "good",
  created: "good",
  failed: "bad",
  disabled: "bad",
  running: "busy",
  progress: "busy",
};

export interface EventWords {
  readonly noun: string;
  readonly verb: string;
  readonly tone: Tone;
}

/** Later versions of the service may have types that this page does not know: it shows their names. */
export function wordsOf(type: string): EventWords {
  const [noun = type, verb = ""] = type.split(".");
  return {
    noun: own(nouns, noun) ?? noun.replaceAll("_", " "),
    verb: verb === "progress" ? "made progress" : verb.replaceAll("_", " "),
    tone: own(tones, verb) ?? "quiet",
  };
}

interface Place {
  readonly id: string;
  /** Page of the dashboard; undefined: there is none yet. */
  readonly to: string | undefined;
}

/** The resource that the event is about. */
export function placeOf(type: string, data: Readonly<Record<string, unknown>>): Place | undefined {
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : undefined);
  const id = text(`${type.split(".")[0]}_id`);
  if (id === undefined) return undefined;
  const dataset = text("dataset_id");
  if (type.startsWith("api_key.")) return { id, to: "/settings/api-keys" };
  if (type.startsWith("webhook.")) return { id, to: `/settings/webhooks/${id}` };
  if (type.startsWith("annotation_set.")) return { id, to: dataset && `/datasets/${dataset}/sets/${id}` };
  if (type.startsWith("audio_file.")) return { id, to: dataset && `/datasets/${dataset}` };
  if (type.startsWith("training_job.")) return { id, to: `/training/${id}` };
  if (type.startsWith("model.")) return { id, to: `/models/${id}` };
  const job = text("inference_job_id");
  return { id, to: job && `/inference/${job}` };
}
