// Writes existing ids and valid values as settings of schemathesis, which mixes them into its random values. Called by
// schemathesis.ts.
import type { Seed } from "./seed.ts";

/** Parameters and body members that take a value of another name. */
const others: Record<string, string> = {
  "query.dataset_id": "dataset_id",
  "query.model_id": "model_id",
  "query.training_job_id": "training_job_id",
  "query.audio_file_id": "audio_file_id",
  "query.inference_file_id": "file_id",
  "body.dataset_id": "dataset_id",
  "body.annotation_set_id": "annotation_set_id",
  "body.from_annotation_set_id": "annotation_set_id",
  "body.model_id": "model_id",
  "body.audio_file_ids[*]": "audio_file_id",
  "body.audio_file_id": "audio_file_id",
  "body.annotations[*].audio_file_id": "audio_file_id",
  "body.artifact_type": "artifact_type",
  "body.annotations[*].artifact_type": "artifact_type",
  "body.artifact_types[*].name": "artifact_type",
  "body.config.artifact_types[*]": "artifact_type",
  "body.expires_at": "future",
  "body.url": "address",
};

/** Returns the settings. Without existing values most requests would fail with 404 or 422. */
export function knownValues(worlds: Seed["worlds"]): string {
  const names = Object.keys(worlds[0] ?? {});
  const values: Record<string, readonly string[]> = {
    ...Object.fromEntries(names.map((name) => [name, worlds.flatMap((world) => world[name] ?? [])])),
    artifact_type: ["click", "hum"],
    future: ["2099-12-31T23:59:59Z", "2099-12-31T23:59:59.123+14:00"],
    address: ["https://hooks.example.com/plosive", "https://hooks.example.com:8443/"],
  };
  const bindings = { ...Object.fromEntries(names.map((name) => [`path.${name}`, name])), ...others };
  return [
    "",
    ...Object.entries(values).map(
      ([name, list]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(list)}`,
    ),
    "[parameters]",
    ...Object.entries(bindings).map(
      ([where, name]) => `"${where}" = { dictionary = "${name}", probability = 0.6 }`,
    ),
    "",
  ].join("\n");
}
