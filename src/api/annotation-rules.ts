// Rules of annotations that the schema cannot express: the artifact type and the audio file belong to the dataset, and
// the region lies within the file. The annotation routes call this inside their transaction, the import per label.
import type { SetPlace } from "../db/annotation.ts";
import { lengthsOfAudio } from "../db/audio-file.ts";
import { oneDatasetForShare } from "../db/dataset.ts";
import type { Db } from "../db/driver/page.ts";
import {
  addFault,
  type Faults,
  listOf,
  type ValidationItem,
  validationFailed,
  valueError,
} from "../errors.ts";
import type { NewAnnotation } from "../schemas/annotation.ts";

/** What the rules concern. */
type Place = Pick<NewAnnotation, "audio_file_id" | "artifact_type" | "start_ms" | "end_ms">;

/** Decoders and editors disagree by a few frames about the length of a file. */
const toleranceMs = 50;

/**
 * Throws validationFailed with the first faults of all annotations. `locOf` returns an annotation's location in the request.
 * `sent`: what the client sends of each.
 */
export async function requireValidAnnotations(
  tx: Db,
  { tenantId, datasetId }: SetPlace,
  annotations: readonly Place[],
  locOf: (index: number) => (string | number)[],
  sent: readonly Partial<Place>[] = annotations,
): Promise<void> {
  const { artifact_types } = await oneDatasetForShare(tx, tenantId, datasetId);
  const types = new Set(artifact_types.map((type) => type.name));
  const ids = [...new Set(annotations.map((annotation) => annotation.audio_file_id))];
  const lengths = await lengthsOfAudio(tx, tenantId, datasetId, ids);
  const faults: Faults = { items: [], total: 0 };
  for (const [i, annotation] of annotations.entries())
    for (const fault of faultsOf(annotation, types, lengths, locOf(i), sent[i]))
      addFault(faults, () => fault);
  if (faults.total > 0) throw validationFailed(listOf(faults, "body"));
}

/**
 * Returns the faults of one annotation, with locations below `loc`. `lengths`: file id -> ms; null if not known yet. A rule applies only
 * to what the client sends: decoding may have found a shorter file since the annotation was made.
 */
export function faultsOf(
  annotation: Place,
  types: ReadonlySet<string>,
  lengths: ReadonlyMap<string, number | null | "not uploaded">,
  loc: (string | number)[],
  sent: Partial<Place> = annotation,
): ValidationItem[] {
  const faults: ValidationItem[] = [];
  const fault = (member: keyof Place, why: string) => faults.push(valueError([...loc, member], why));
  if (sent.artifact_type !== undefined && !types.has(sent.artifact_type))
    fault("artifact_type", "the dataset has no such artifact type");
  if ((sent.start_ms ?? sent.end_ms) === undefined) return faults;
  const length = lengths.get(annotation.audio_file_id);
  if (length === undefined) fault("audio_file_id", "the dataset has no such audio file");
  // The length of such a file is not known yet.
  if (length === "not uploaded") fault("audio_file_id", "the audio file has not been uploaded and confirmed");
  if (annotation.start_ms > annotation.end_ms) fault("end_ms", "end_ms must not be less than start_ms");
  else if (typeof length === "number" && annotation.end_ms > length + toleranceMs)
    fault("end_ms", `the audio file ends at ${length} ms`);
  return faults;
}
