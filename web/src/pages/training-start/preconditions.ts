// Where a failed precondition of a training can be met. Pure.

interface NextStep {
  readonly label: string;
  readonly to: string;
}

export function nextStepOf(code: string, datasetId: string): NextStep | undefined {
  const page = `/datasets/${datasetId}`;
  if (code === "annotation_set_not_published") return { label: "Publish the set", to: `${page}?tab=sets` };
  if (code === "embeddings_not_ready") return { label: "See the audio files", to: page };
  if (code === "not_enough_audio") return { label: "Upload recordings", to: `${page}/upload` };
  if (code === "no_annotations") return { label: "See the annotation sets", to: `${page}?tab=sets` };
  return undefined;
}
