// Imports labels of a foreign document into a draft. Each label is checked by the rules of annotations; valid labels
// are added, the others are reported. All of it is one transaction under the annotation set's lock. Called by the
// import routes.
import { countEqualAnnotations, insertAnnotations, requireRoom, type SetPlace } from "../../db/annotation.ts";
import { lockDraft } from "../../db/annotation-set.ts";
import { type AudioCandidate, findAudioFiles } from "../../db/audio-file.ts";
import { addTypes, lockTypes } from "../../db/dataset.ts";
import { type Db, useIndexes } from "../../db/driver/page.ts";
import type { AnnotationQuota } from "../../db/quota.ts";
import { createAnnotationBody, type NewAnnotation } from "../../schemas/annotation.ts";
import { artifactTypeName } from "../../schemas/primitives.ts";
import { faultsOf } from "../annotation-rules.ts";
import { sentenceOf, validatePart } from "../validate.ts";
import type { AudioReference, ImportLine, Position } from "./format.ts";
import { entriesOf, type LabelDocument, maxErrors } from "./label-document.ts";
import { indexTypes, pickType, type TypeIndex } from "./type-index.ts";

/** Rows per statement. Making one statement takes the event loop a few milliseconds. */
const chunkSize = 500;

export interface ImportOptions {
  readonly dryRun: boolean;
  readonly createTypes: boolean;
  /** The audio file of all labels, for formats that name none. */
  readonly audioFileId?: string;
  readonly quota: AnnotationQuota;
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
}

/**
 * Imports the labels. Throws annotationSetPublished if the set is not a draft, quotaExceeded if the set would be too
 * large.
 */
export async function importLabels(
  db: Db,
  place: SetPlace,
  document: LabelDocument,
  options: ImportOptions,
): Promise<Imported> {
  let outcome: Imported | undefined;
  try {
    return await db.transaction(async (tx) => {
      outcome = await importInto(tx, place, document, options);
      if (options.dryRun) throw new DryRunEnd("a dry run changes nothing");
      return outcome;
    });
  } catch (error) {
    if (outcome === undefined || !(error instanceof DryRunEnd)) throw error;
    return { ...outcome, revision: outcome.revision - 1 };
  }
}

async function importInto(
  tx: Db,
  place: SetPlace,
  document: LabelDocument,
  { createTypes, quota, audioFileId }: ImportOptions,
): Promise<Imported> {
  const { tenantId, datasetId } = place;
  await useIndexes(tx);
  const revision = await lockDraft(tx, place);
  const types = indexTypes(await lockTypes(tx, tenantId, datasetId, createTypes), createTypes);
  const named = audioFileId === undefined ? undefined : { ids: [audioFileId], filenames: [] };
  const audio = await audioOf(tx, place, named ?? document);
  const groups: Groups = new Map();
  const errors: { at: Position; message: string }[] = [];
  for await (const label of entriesOf(document)) {
    const checked =
      "problem" in label ? label.problem : check(label.line, named ?? label.line.audio, audio, types);
    if (typeof checked !== "string") addTo(groups, checked);
    else if (errors.length < maxErrors) errors.push({ at: label.at, message: checked });
  }
  if (types.created.length > 0) await addTypes(tx, tenantId, datasetId, types.created);
  const missing = await missingOf(tx, place, groups);
  for (const part of chunksOf(missing)) await insertAnnotations(tx, place, part);
  // After the inserts, because only they show how many labels the set did not have yet.
  await requireRoom(tx, place, 0, quota);
  const imported = missing.length;
  const skipped = document.labels - imported;
  return { revision, imported, skipped, createdTypes: types.created, errors };
}

type AudioIndex = Awaited<ReturnType<typeof audioOf>>;

/** Finds the audio files that the labels refer to: by id, or by name. */
async function audioOf(tx: Db, { tenantId, datasetId }: SetPlace, { ids, filenames }: AudioReference) {
  const [uuids, names] = [ids.filter(isUuid), filenames.filter(isStorable)];
  const files = await findAudioFiles(tx, tenantId, datasetId, uuids, names);
  return {
    byId: new Map(files.map((file) => [file.id, file])),
    byName: Map.groupBy(files, (file) => file.filename),
  };
}

/** Postgres text can contain neither NUL nor unpaired surrogates. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/**
 * Returns the file, or a sentence about why there is none: a name must be that of one file only. Ignores unknown ids if
 * a name matches: they may be the tool's.
 */
function pickAudio(index: AudioIndex, { ids, filenames }: AudioReference): AudioCandidate | string {
  for (const id of ids) {
    const file = index.byId.get(id.toLowerCase());
    if (file !== undefined) return file;
  }
  for (const name of filenames) {
    const files = index.byName.get(name) ?? [];
    if (files.length > 1)
      return "Several audio files of the dataset have this name; use audio_file_id to choose one";
    if (files[0] !== undefined) return files[0];
  }
  return "The dataset has no such audio file";
}

/** Returns the annotation to insert, or a sentence about why the label is skipped. */
function check(
  line: ImportLine,
  reference: AudioReference,
  audio: AudioIndex,
  types: TypeIndex,
): NewAnnotation | string {
  const file = pickAudio(audio, reference);
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
    annotator: line.annotator,
  };
  const { value, items } = validatePart({ part: "body", schema: createAnnotationBody, value: annotation });
  if (items.length > 0) return sentenceOf(items);
  const parsed = value as NewAnnotation;
  const faults = faultsOf(parsed, new Set([label]), new Map([[file.id, file.duration_ms]]), []);
  if (faults.length > 0) return sentenceOf(faults);
  // The last check, because it may create the artifact type.
  const type = pickType(types, label);
  return type.problem ?? { ...parsed, artifact_type: type.name };
}

/** Labels with the same file, type and times. */
type EqualLabels = [NewAnnotation, ...NewAnnotation[]];

/** By file and start, then by end and type. Sorting all of them at the end would stop the event loop for 20 ms. */
type Groups = Map<string, Map<string, EqualLabels>>;

function addTo(groups: Groups, label: NewAnnotation): void {
  const place = `${label.audio_file_id} ${label.start_ms}`;
  const ofPlace = groups.get(place) ?? new Map<string, EqualLabels>();
  groups.set(place, ofPlace);
  const key = `${label.end_ms} ${label.artifact_type}`;
  const equal = ofPlace.get(key);
  if (equal === undefined) ofPlace.set(key, [label]);
  else equal.push(label);
}

/**
 * Returns the labels that the set does not have yet. The import is idempotent: afterwards the set has as many equal
 * labels as it had before or as the import has, whichever is more.
 */
async function missingOf(tx: Db, place: SetPlace, groups: Groups): Promise<NewAnnotation[]> {
  const missing: NewAnnotation[] = [];
  for (const part of chunksOfPlaces(groups)) {
    const heads = part.map(([label]) => label);
    const present = await countEqualAnnotations(tx, place, heads);
    for (const [i, equal] of part.entries()) missing.push(...equal.slice(present[i]));
  }
  return missing;
}

/** A chunk is longer where it would separate labels of one file and start: those that the set has there are read once. */
function* chunksOfPlaces(groups: Groups): Generator<readonly EqualLabels[]> {
  let chunk: EqualLabels[] = [];
  for (const ofPlace of groups.values()) {
    for (const equal of ofPlace.values()) chunk.push(equal);
    if (chunk.length < chunkSize) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

function* chunksOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += chunkSize) yield items.slice(i, i + chunkSize);
}
