// Takes labels from a foreign document into a draft: each is checked by the rules of annotations, what does not fit is
// reported, the rest is added, all in one transaction under the set's lock. Called by the import routes with what the
// readers of this folder found.
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
/** Each takes well under the second, whatever the triggers of the table do. */
const chunkSize = 2_000;
const takenAtOnce = 500;

export interface ImportOptions {
  readonly dryRun: boolean;
  readonly createTypes: boolean;
  /** Annotations that the set may have; 0: no limit. */
  readonly maxAnnotations: number;
}

export interface Imported {
  /** Of the set, afterwards. */
  readonly revision: number;
  readonly imported: number;
  readonly skipped: number;
  readonly createdTypes: readonly string[];
  readonly errors: readonly { at: Position; message: string }[];
}

/** The work of a dry run is done like any other, and then undone. */
class DryRunEnd extends Error {
  override name = "DryRunEnd";
  readonly outcome: Imported;
  constructor(outcome: Imported) {
    super("a dry run changes nothing");
    this.outcome = outcome;
  }
}

/**
 * annotationSetPublished when the set is no draft, quotaExceeded when it would be too large. The input is read twice, so
 * that what is found in it is never in memory as a whole.
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

/** How much there is, and of which files. */
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
  // Afterwards, when it is known what the set did not have yet.
  await requireRoom(tx, tenantId, setId, 0, maxAnnotations);
  const skipped = references.labels - imported;
  return { revision, imported, skipped, createdTypes: types.created, errors };
}

/** The same, with pauses in which other requests have their turn. */
async function* withPauses<T>(items: Iterable<T>): AsyncGenerator<T> {
  let seen = 0;
  for (const item of items) {
    seen += 1;
    if (seen % takenAtOnce === 0) await setImmediate();
    yield item;
  }
}

async function audioOf(tx: Db, { tenantId, datasetId }: SetPlace, { ids, filenames }: References) {
  const [uuids, names] = [[...ids].filter(isUuid), [...filenames].filter(isStorable)];
  return indexAudio(await findAudioFiles(tx, tenantId, datasetId, uuids, names));
}

/** Postgres can compare neither. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** The annotation to be, or why it cannot be one. */
function check(line: ImportLine, audio: AudioIndex, types: TypeIndex): NewAnnotation | string {
  const file = pickAudio(audio, line.audio);
  if (typeof file === "string") return file;
  const label = [line.type, line.type.trim()].find((name) => artifactTypeName.safeParse(name).success);
  if (label === undefined)
    return "The label cannot be an artifact type: letters A to Z and a to z, digits, space, underscore, dot and hyphen, at most 64";
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
  // Last, because it may make the type.
  const type = pickType(types, label);
  return type.problem ?? { ...parsed, artifact_type: type.name };
}

/** By the same schema as POST .../annotations, whose faults become one sentence. */
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

/** As the database orders ids: by their bytes, which lower-case text has in the same order. */
const byFileAndStart = (a: NewAnnotation, b: NewAnnotation) =>
  a.audio_file_id === b.audio_file_id ? a.start_ms - b.start_ms : a.audio_file_id < b.audio_file_id ? -1 : 1;

function nthOf(annotation: NewAnnotation, counts: Map<string, number>): number {
  const { audio_file_id, artifact_type, start_ms, end_ms } = annotation;
  const key = `${audio_file_id} ${start_ms} ${end_ms} ${artifact_type}`;
  const nth = (counts.get(key) ?? 0) + 1;
  counts.set(key, nth);
  return nth;
}
