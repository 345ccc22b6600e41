// Why a dataset cannot be trained on yet: the service's own preconditions of a training job, in words that say the next
// step. Pure.
import type { AnnotationSet, Dataset } from "../../../../client/schema.ts";
import { amountOfTime, plural } from "../../app/format.ts";

/** Training needs this much usable audio. */
export const neededMs = 300_000;

export interface Facts {
  readonly dataset: Pick<
    Dataset,
    "total_duration_ms" | "audio_file_count" | "embedded_audio_file_count" | "artifact_types"
  >;
  /** Files whose upload is not confirmed. They do not prevent training. */
  readonly pendingUploads: number;
  readonly failed: number;
  readonly drafts: number;
  /** The newest published set. */
  readonly published: Pick<AnnotationSet, "annotations_by_type"> | undefined;
}

export interface Step {
  readonly id: "types" | "audio" | "embeddings" | "labels";
  readonly title: string;
  readonly isDone: boolean;
  /** The next step if it is not done. */
  readonly text: string;
}

export function stepsOf({ dataset, pendingUploads, failed, drafts, published }: Facts): readonly Step[] {
  const { total_duration_ms: usable, artifact_types: types } = dataset;
  const working = Math.max(
    0,
    dataset.audio_file_count - dataset.embedded_audio_file_count - pendingUploads - failed,
  );
  const labels = published?.annotations_by_type ?? {};
  const labelled = types.filter(({ name }) => (labels[name] ?? 0) > 0);
  return [
    {
      id: "types",
      title: types.length === 0 ? "Artifact types" : plural(types.length, "artifact type"),
      isDone: types.length > 0,
      text: "Name at least one artifact to find.",
    },
    {
      id: "audio",
      title: "Five minutes of audio",
      isDone: usable >= neededMs,
      text:
        dataset.audio_file_count === 0
          ? "Upload recordings."
          : `${amountOfTime(neededMs - usable)} more of embedded audio ${working > 0 ? "is needed; files that are being embedded will count" : "is needed: upload more recordings"}.`,
    },
    {
      id: "embeddings",
      title: "Embeddings of all files",
      isDone: working + failed === 0 && dataset.embedded_audio_file_count > 0,
      text: embeddingText(dataset.audio_file_count, working, failed),
    },
    {
      id: "labels",
      title: "A published annotation set",
      isDone: published !== undefined && labelled.length > 0,
      text:
        published !== undefined
          ? "The newest published set labels none of the artifact types: label some in a draft and publish it."
          : drafts > 0
            ? "Label the artifacts in the draft, then publish it."
            : "Create an annotation set, label the artifacts, then publish it.",
    },
  ];
}

function embeddingText(files: number, working: number, failed: number): string {
  if (files === 0) return "Embeddings are computed after the upload, without your help.";
  const parts = [
    working > 0 ? `${plural(working, "file")} being embedded.` : "",
    failed > 0
      ? `${plural(failed, "file")} failed: delete ${failed === 1 ? "it" : "them"} or upload ${failed === 1 ? "it" : "them"} again.`
      : "",
  ];
  return parts.filter((part) => part !== "").join(" ") || "Confirm the uploads that are pending.";
}

/** Types of the dataset that the published set does not label; training for them would be refused. */
export function unlabelled({ dataset, published }: Facts): readonly string[] {
  if (published === undefined) return [];
  return dataset.artifact_types
    .map(({ name }) => name)
    .filter((name) => !((published.annotations_by_type[name] ?? 0) > 0));
}
