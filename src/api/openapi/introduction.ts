// The texts of the OpenAPI description that belong to no operation: the introduction with the general rules, and the
// tags. Called by openapi.ts.
import { answerLimits } from "./schema.ts";

export const introduction = `Finds artifacts in voice audio: datasets, annotations, training and inference.

**Authentication.** Every request needs an API key in the header \`X-API-Key\`. A key gives access to its account and to
nothing else; its scopes may restrict it further. Resources of other accounts answer 404, exactly like resources that do not exist.

**Errors.** \`{"detail": "a sentence", "code": "one_stable_word"}\`. With status 422, \`detail\` is the list of all faults,
each with \`loc\`, \`msg\` and \`type\`. The type \`value_error\` means that a field breaks a rule that the schema cannot express:
names that differ only in case, a time in the past, an artifact type that the dataset does not have, text with NUL
characters or unpaired surrogates.

**Lists** accept \`page\` (from 1) and \`page_size\` (1 to 100), and most also \`cursor\`. They are ordered newest first unless
\`order=asc\`, and have the exact \`total\`. The annotations of a set are an array instead, complete unless \`page\` or \`page_size\`
is given.

**Times** are RFC 3339 in UTC with milliseconds. Ignore unknown members in responses; the service ignores unknown members in
requests. Texts in responses have at most ${answerLimits.text} characters and lists at most ${answerLimits.items} items,
unless documented otherwise.

**Headers.** \`RateLimit\` has the remaining requests; 429 has \`Retry-After\` with the seconds to wait. \`Idempotency-Key\` makes
a POST that creates safe to repeat, \`If-Match\` prevents lost updates, \`If-None-Match\` makes polling cheap. \`X-Request-Id\`
(8 to 128 letters, digits, \`.\`, \`_\`, \`-\`) is returned, and \`traceparent\` is propagated.`;

const tagTexts = {
  "API keys": "Keys of the account; a key is shown only once, when it is created",
  Datasets: "Named collections of audio files, with the artifact types that may be labelled in them",
  "Audio files": "Uploads in three steps (request a ticket, post the form, confirm), downloads and waveforms",
  "Annotation sets": "Versions of a dataset's annotations: drafts can be edited, published sets never change",
  Annotations: "Labelled regions: where an audio file has an artifact",
  "Labelling exchange": "Exports to and imports from labelling tools, and drafts made of detections",
  "Training jobs": "Train a model from a published annotation set",
  Models: "Trained models",
  "Inference jobs": "Run a model over audio files and store detections",
  "Inference files": "Files of an inference job: files uploaded to it, or audio files of a dataset",
  Events: "Records of what happened to resources of the account, as a list and as a stream",
  Webhooks: "Events sent as signed requests to a URL of yours",
  Service: "The service itself: health and this description",
};
export type Tag = keyof typeof tagTexts;

export const tags = Object.entries(tagTexts).map(([name, description]) => ({ name, description }));
