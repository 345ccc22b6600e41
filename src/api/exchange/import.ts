// Imports labels of a foreign document into a draft. Each label is checked by the rules of annotations; valid labels
// are added, the others are reported. All of it is one transaction under the annotation set's lock. Called by the
// import routes.
import {
  type ImportedAnnotation,
  insertMissingAnnotations,
  requireRoom,
  type SetPlace,
} from "../../db/annotation.ts";
import { lockDraft } from "../../db/annotation-set.ts";
import { findAudioFiles } from "../../db/audio-file.ts";
import { addTypes, lockTypes } from "../../db/dataset.ts";
import type { Db } from "../../db/driver/page.ts";
import { createAnnotationBody, type NewAnnotation } from "../../schemas/annotation.ts";
import { artifactTypeName } from "../../schemas/primitives.ts";
import { faultsOf } from "../annotation-rules.ts";
import { validatePart } from "../validate.ts";
import { type AudioIndex, indexAudio, pickAudio } from "./audio-index.ts";
import type { AudioReference, ImportLine, Position } from "./format.ts";
import { entriesOf, type LabelDocument } from "./label-document.ts";
import { indexTypes, pickType, type TypeIndex } from "./type-index.ts";

const maxErrors = 1_000;
/** Rows per insert statement. Making one statement takes the event loop a few milliseconds. */
const chunkSize = 500;

export interface ImportOptions {
  readonly dryRun: boolean;
  readonly createTypes: boolean;
  /** The audio file of all labels, for formats that name none. */
  readonly audioFileId?: string;
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
 * Imports the labels. Throws annotationSetPublished if the set is not a draft, quotaExceeded if the set would be too
 * large.
 */
export async function importLabels(
  db: Db,
  place: SetPlace,
  document: LabelDocument,
  options: ImportOptions,
): Promise<Imported> {
  try {
    return await db.transaction(async (tx) => {
      const outcome = await importInto(tx, place, document, options);
      if (options.dryRun) throw new DryRunEnd({ ...outcome, revision: outcome.revision - 1 });
      return outcome;
    });
  } catch (error) {
    if (error instanceof DryRunEnd) return error.outcome;
    throw error;
  }
}

async function importInto(
  tx: Db,
  place: SetPlace,
  document: LabelDocument,
  { createTypes, maxAnnotations, audioFileId }: ImportOptions,
): Promise<Imported> {
  const { tenantId, datasetId } = place;
  const revision = await lockDraft(tx, place);
  const types = indexTypes(await lockTypes(tx, tenantId, datasetId, createTypes), createTypes);
  const named = audioFileId === undefined ? undefined : { ids: [audioFileId], filenames: [] };
  const audio = await audioOf(tx, place, named ?? document);
  const counts = new Map<string, number>();
  const fitting: ImportedAnnotation[] = [];
  const errors: { at: Position; message: string }[] = [];
  for await (const label of entriesOf(document)) {
    const checked =
      "problem" in label ? label.problem : check(label.line, named ?? label.line.audio, audio, types);
    if (typeof checked !== "string") fitting.push({ ...checked, nth: nthOf(checked, counts) });
    else if (errors.length < maxErrors) errors.push({ at: label.at, message: checked });
  }
  if (types.created.length > 0) await addTypes(tx, tenantId, datasetId, types.created);
  fitting.sort(byFileAndStart);
  let imported = 0;
  for (let i = 0; i < fitting.length; i += chunkSize)
    imported += await insertMissingAnnotations(tx, place, fitting.slice(i, i + chunkSize));
  // After the inserts, because only they show how many labels the set did not have yet.
  await requireRoom(tx, place, 0, maxAnnotations);
  const skipped = document.labels - imported;
  return { revision, imported, skipped, createdTypes: types.created, errors };
}

async function audioOf(tx: Db, { tenantId, datasetId }: SetPlace, { ids, filenames }: AudioReference) {
  const [uuids, names] = [ids.filter(isUuid), filenames.filter(isStorable)];
  return indexAudio(await findAudioFiles(tx, tenantId, datasetId, uuids, names));
}

/** Postgres text can contain neither NUL nor unpaired surrogates. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

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
  const { value, items } = validatePart({ part: "body", schema: createAnnotationBody, value: annotation });
  return items.length === 0 ? (value as NewAnnotation) : sentenceOf(items);
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
