// Imports labels of a foreign document into a draft. Each label is checked by the rules of annotations; valid labels
// are added, the others are reported. All of it is one transaction under the annotation set's lock. Called by the
// import routes with the entries that the readers of this folder return.
import { setImmediate } from "node:timers/promises";
import { type ImportedAnnotation, insertMissingAnnotations, requireRoom } from "../../db/annotation.ts";
import { lockDraft } from "../../db/annotation-set.ts";
import { findAudioFiles } from "../../db/audio-file.ts";
import { addTypes, lockTypes } from "../../db/dataset.ts";
import type { Db } from "../../db/page.ts";
import { AppError, validationFailed, valueError } from "../../errors.ts";
import { createAnnotationBody, type NewAnnotation } from "../../schemas/annotation.ts";
import { artifactTypeName } from "../../schemas/primitives.ts";
import { faultsOf } from "../annotation-rules.ts";
import { faultOfParsed } from "../lossless.ts";
import { validateParts } from "../validate.ts";
import { type AudioIndex, indexAudio, pickAudio } from "./audio-index.ts";
import type { ImportEntry, ImportLine, Position } from "./format.ts";
import type { SetPlace } from "./regions.ts";
import { indexTypes, pickType, type TypeIndex } from "./type-index.ts";

export const maxLabels = 50_000;
const maxErrors = 1_000;
/** Rows per insert statement. One statement takes much less than a second, including the triggers of the table. */
const chunkSize = 2_000;
/** Entries between two pauses, in which the event loop serves other requests. */
const entriesBetweenPauses = 500;

export interface ImportOptions {
  readonly dryRun: boolean;
  readonly createTypes: boolean;
  /** Maximum number of annotations in the set; 0: no limit. */
  readonly maxAnnotations: number;
}

export interface Imported {
  /** Revision of the set after the import. */
  readonly revision: number;
  readonly imported: number;
  readonly skipped: number;
  readonly createdTypes: readonly string[];
  readonly errors: readonly { at: Position; message: string }[];
}

/** Rolls back the transaction of a dry run, which otherwise does the same work as an import. */
class DryRunEnd extends Error {
  override name = "DryRunEnd";
  readonly outcome: Imported;
  constructor(outcome: Imported) {
    super("a dry run changes nothing");
    this.outcome = outcome;
  }
}

/**
 * Imports the entries. Throws annotationSetPublished if the set is not a draft, quotaExceeded if the set would be too
 * large, validationFailed if there are too many labels. The import calls `read` twice, so that it never has all entries
 * of the input in memory.
 */
export async function importLabels(
  db: Db,
  place: SetPlace,
  read: () => Iterable<ImportEntry>,
  options: ImportOptions,
): Promise<Imported> {
  const references = await referencesIn(read());
  try {
    return await db.transaction(async (tx) => {
      const outcome = await importInto(tx, place, read(), references, options);
      if (options.dryRun) throw new DryRunEnd({ ...outcome, revision: outcome.revision - 1 });
      return outcome;
    });
  } catch (error) {
    if (error instanceof DryRunEnd) return error.outcome;
    throw error;
  }
}

interface References {
  readonly labels: number;
  readonly ids: ReadonlySet<string>;
  readonly filenames: ReadonlySet<string>;
}

/** Counts the labels, and collects the audio files that they refer to. */
async function referencesIn(found: Iterable<ImportEntry>): Promise<References> {
  const ids = new Set<string>();
  const filenames = new Set<string>();
  let labels = 0;
  for await (const label of withPauses(found)) {
    labels += "problem" in label ? (label.count ?? 1) : 1;
    if (labels > maxLabels)
      throw validationFailed([valueError(["body"], `an import takes at most ${maxLabels} labels`)]);
    if ("problem" in label) continue;
    for (const id of label.line.audio.ids) ids.add(id.toLowerCase());
    for (const name of label.line.audio.filenames) filenames.add(name);
  }
  return { labels, ids, filenames };
}

async function importInto(
  tx: Db,
  place: SetPlace,
  found: Iterable<ImportEntry>,
  references: References,
  { createTypes, maxAnnotations }: ImportOptions,
): Promise<Imported> {
  const { tenantId, datasetId, setId } = place;
  const revision = await lockDraft(tx, tenantId, datasetId, setId);
  const types = indexTypes(await lockTypes(tx, tenantId, datasetId, createTypes), createTypes);
  const audio = await audioOf(tx, place, references);
  const counts = new Map<string, number>();
  const fitting: ImportedAnnotation[] = [];
  const errors: { at: Position; message: string }[] = [];
  for await (const label of withPauses(found)) {
    const checked = "problem" in label ? label.problem : check(label.line, audio, types);
    if (typeof checked !== "string") fitting.push({ ...checked, nth: nthOf(checked, counts) });
    else if (errors.length < maxErrors) errors.push({ at: label.at, message: checked });
  }
  if (types.created.length > 0) await addTypes(tx, tenantId, datasetId, types.created);
  fitting.sort(byFileAndStart);
  let imported = 0;
  for (let i = 0; i < fitting.length; i += chunkSize)
    imported += await insertMissingAnnotations(tx, place, fitting.slice(i, i + chunkSize));
  // After the inserts, because only they show how many labels the set did not have yet.
  await requireRoom(tx, tenantId, setId, 0, maxAnnotations);
  const skipped = references.labels - imported;
  return { revision, imported, skipped, createdTypes: types.created, errors };
}

/** Passes the items on, with pauses in which the event loop serves other requests. */
async function* withPauses<T>(items: Iterable<T>): AsyncGenerator<T> {
  let seen = 0;
  for (const item of items) {
    seen += 1;
    if (seen % entriesBetweenPauses === 0) await setImmediate();
    yield item;
  }
}

async function audioOf(tx: Db, { tenantId, datasetId }: SetPlace, { ids, filenames }: References) {
  const [uuids, names] = [[...ids].filter(isUuid), [...filenames].filter(isStorable)];
  return indexAudio(await findAudioFiles(tx, tenantId, datasetId, uuids, names));
}

/** Postgres text can contain neither NUL nor unpaired surrogates. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** Returns the annotation to insert, or a sentence about why the label is skipped. */
function check(line: ImportLine, audio: AudioIndex, types: TypeIndex): NewAnnotation | string {
  const file = pickAudio(audio, line.audio);
  if (typeof file === "string") return file;
  const label = [line.type, line.type.trim()].find((name) => artifactTypeName.safeParse(name).success);
  if (label === undefined)
    return "The label is not a valid artifact type; use at most 64 letters (A to Z, a to z), digits, spaces, underscores, dots and hyphens";
  const annotation = {
    audio_file_id: file.id,
    artifact_type: label,
    start_ms: line.startMs,
    end_ms: line.endMs,
    confidence: line.confidence,
    extra_data: line.extraData,
  };
  const fault = faultOfParsed(line.extraData);
  if (fault !== null) return `extra_data: ${fault}`;
  const parsed = parse(annotation);
  if (typeof parsed === "string") return parsed;
  const faults = faultsOf(parsed, new Set([label]), new Map([[file.id, file.duration_ms]]), []);
  if (faults.length > 0) return sentenceOf(faults);
  // The last check, because it may create the artifact type.
  const type = pickType(types, label);
  return type.problem ?? { ...parsed, artifact_type: type.name };
}

/** Validates by the schema of POST .../annotations. Returns all faults as one sentence. */
function parse(annotation: unknown): NewAnnotation | string {
  try {
    const [parsed] = validateParts([{ part: "body", schema: createAnnotationBody, value: annotation }]);
    return parsed as NewAnnotation;
  } catch (error) {
    if (error instanceof AppError && error.items !== undefined) return sentenceOf(error.items);
    throw error;
  }
}

const sentenceOf = (items: readonly { loc: readonly (string | number)[]; msg: string }[]) =>
  items.map(({ loc, msg }) => `${loc.at(-1)}: ${msg.replace(/^Value error, /, "")}`).join("; ");

/** Orders ids as Postgres does, by their bytes. The order of their lower-case texts is the same. */
const byFileAndStart = (a: NewAnnotation, b: NewAnnotation) =>
  a.audio_file_id === b.audio_file_id ? a.start_ms - b.start_ms : a.audio_file_id < b.audio_file_id ? -1 : 1;

function nthOf(annotation: NewAnnotation, counts: Map<string, number>): number {
  const { audio_file_id, artifact_type, start_ms, end_ms } = annotation;
  const key = `${audio_file_id} ${start_ms} ${end_ms} ${artifact_type}`;
  const nth = (counts.get(key) ?? 0) + 1;
  counts.set(key, nth);
  return nth;
}
