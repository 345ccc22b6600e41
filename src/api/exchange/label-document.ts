// A document of labels, read but not imported yet. A worker thread may have read it, so its entries are serialized in
// batches: the event loop takes them over one batch at a time. Made by body/documents.ts, used by import.ts.
import { setImmediate } from "node:timers/promises";
import { deserialize, serialize } from "node:v8";
import { z } from "zod";
import { annotationTexts } from "../../schemas/annotation.ts";
import { faultOfParsed } from "../lossless.ts";
import { sentenceOf, validatePart } from "../validate.ts";
import type { ImportEntry, ImportLabel, Position } from "./format.ts";

export const maxLabels = 50_000;
/** A report lists only the first problems, so the others are only counted. */
export const maxErrors = 1_000;
/** Checking a batch takes a millisecond. Between two batches the event loop serves other requests. */
const batchSize = 25;
/** Shorter texts are checked when the label is imported. */
const longText = 250;
/** Several labels of one result share its position, and each gets a copy of its texts. */
const maxCopied = (own: number) => 512 * 1024 + 4 * own;

export interface LabelDocument {
  /** Number of labels, including those that will be skipped. */
  readonly labels: number;
  /** Ids and names of the audio files that the labels refer to. */
  readonly ids: readonly string[];
  readonly filenames: readonly string[];
  readonly batches: readonly Uint8Array[];
}

/** Adds the reader of a format to the schema of its documents. A document has at most maxLabels. */
export const labelDocument = <S extends z.ZodType>(
  schema: S,
  read: (document: z.output<S>) => Iterable<ImportEntry>,
) =>
  schema.transform((document, context): LabelDocument => {
    const found = collect(read(document));
    if (typeof found !== "string") return found;
    context.addIssue({ code: "custom", message: found });
    return z.NEVER;
  });

/** Returns the document, or a clause about why an import does not take it. */
function collect(entries: Iterable<ImportEntry>): LabelDocument | string {
  const ids = new Set<string>();
  const filenames = new Set<string>();
  const batches: Uint8Array[] = [];
  let batch: ImportEntry[] = [];
  let labels = 0;
  let problems = 0;
  let shared: Shared | undefined;
  const sizes = { own: 0, copied: 0 };
  for (const read of entries) {
    labels += "problem" in read ? (read.count ?? 1) : 1;
    if (labels > maxLabels) return `an import takes at most ${maxLabels} labels`;
    const isCopy = read.at === shared?.at;
    if (!isCopy) shared = "line" in read ? sharedOf(read) : undefined;
    sizes[isCopy ? "copied" : "own"] += shared?.size ?? 0;
    if (sizes.copied > maxCopied(sizes.own)) return "too many labels share the texts of one result";
    const problem = shared?.problem;
    const entry = problem === undefined ? read : { at: read.at, problem };
    if ("line" in entry) {
      for (const id of entry.line.audio.ids) ids.add(id.toLowerCase());
      for (const name of entry.line.audio.filenames) filenames.add(name);
    } else if (++problems > maxErrors) continue;
    batch.push(entry);
    if (batch.length < batchSize) continue;
    batches.push(serialize(batch));
    batch = [];
  }
  if (batch.length > 0) batches.push(serialize(batch));
  return { labels, ids: [...ids], filenames: [...filenames], batches };
}

/** What the labels of one position share. */
interface Shared {
  readonly at: Position;
  readonly size: number;
  /** Why their extra data or their annotator cannot be stored, or cannot be serialized. */
  readonly problem?: string;
}

function sharedOf({ at, line }: ImportLabel): Shared {
  const { audio, extraData, annotator } = line;
  const fault = faultOfParsed(extraData);
  if (fault !== null) return { at, size: 0, problem: `extra_data: ${fault}` };
  const textSize = JSON.stringify([extraData, annotator]).length;
  // Each batch has the names of the audio file once.
  const size = textSize + JSON.stringify(audio).length / batchSize;
  if (textSize < longText) return { at, size };
  const value = { extra_data: extraData, annotator };
  const { items } = validatePart({ part: "body", schema: annotationTexts, value });
  return items.length === 0 ? { at, size } : { at, size: 0, problem: sentenceOf(items) };
}

/** Yields the entries in order, with pauses in which the event loop serves other requests. */
export async function* entriesOf({ batches }: LabelDocument): AsyncGenerator<ImportEntry> {
  for (const batch of batches) {
    yield* deserialize(batch) as ImportEntry[];
    await setImmediate();
  }
}
