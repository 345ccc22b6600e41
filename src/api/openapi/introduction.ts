// The texts of the description that belong to no operation: the rules that hold everywhere, and what the tags are.
// Called by openapi.ts.
import { answerLimits } from "./schema.ts";

export const introduction = `Finds artifacts in voice audio: datasets, annotations, training and inference.

**Key.** Every request carries a key in the header \`X-API-Key\`; a key opens everything of its account and nothing else.
What belongs to others answers 404, with the same words as what never was.

**Errors.** \`{"detail": "a sentence", "code": "one_stable_word"}\`; with 422, \`detail\` is the list of all faulty fields,
each with \`loc\`, \`msg\` and \`type\`. A 422 whose \`type\` is \`value_error\` breaks a rule that the schema cannot tell:
names that differ in case only, a time that has passed, an artifact type that the dataset does not have, text with NUL
characters or unpaired surrogates.

**Lists** have \`page\` (from 1) and \`page_size\` (1 to 100), newest first, with the exact \`total\`. The annotations
of a set come whole, as an array.

**Times** are RFC 3339 in UTC with milliseconds. Members that you do not know are to be ignored, as the service ignores
members that it does not know. Texts in answers have at most ${answerLimits.text} characters and lists at most
${answerLimits.items} items, unless said otherwise.

**Limits.** \`RateLimit\` tells what is left, 429 with \`Retry-After\` when to go on. \`Idempotency-Key\` makes a creating POST
safe to repeat, \`If-Match\` keeps changes from being lost, \`If-None-Match\` makes polling cheap. \`X-Request-Id\` is echoed
(8 to 128 letters, digits, \`.\`, \`_\`, \`-\`), \`traceparent\` is passed on.`;

const tagTexts: Record<string, string> = {
  "API keys": "Keys of the account; a key is shown once, when it is made",
  Datasets: "Recordings that belong together, with the artifact types that may be labelled in them",
  "Audio files": "Upload in three steps (announce, send the form, confirm), reading, waveforms",
  "Annotation sets": "Versions of a dataset's labels: drafts are edited, published ones never change",
  "Labelling exchange": "Labels from and to other tools: exports, imports, drafts from detections",
  Annotations: "Labels: where an artifact is in an audio file",
  "Training jobs": "Train a model from a published annotation set",
  Models: "Trained detectors",
  "Inference jobs": "Find artifacts with a model",
  "Inference files": "Files of an inference job: uploads of its own, or audio of a dataset",
  Events: "What happened, as it happens: a stream of server-sent events",
  Webhooks: "The same as signed requests to an address of yours",
  Usage: "What the account uses, and what it may use",
  Service: "The service itself: health and this description",
};

/** Throws for a tag that nobody has described: it belongs in the list above. */
export function tagsOf(names: readonly string[]): { name: string; description: string }[] {
  return [...new Set(names)].map((name) => {
    const description = tagTexts[name];
    if (description === undefined) throw new Error(`the tag ${name} needs a text in introduction.ts`);
    return { name, description };
  });
}
