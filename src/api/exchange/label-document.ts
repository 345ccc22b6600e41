// A document of labels, read but not imported yet. A worker thread may have read it, so its entries are serialized in
// batches: the event loop takes them over one batch at a time. Made by body/documents.ts, used by import.ts.
import { setImmediate } from "node:timers/promises";
import { deserialize, serialize } from "node:v8";
import { z } from "zod";
import { faultOfParsed } from "../lossless.ts";
import type { ImportEntry } from "./format.ts";

export const maxLabels = 50_000;
/** Checking a batch takes a millisecond. Between two batches the event loop serves other requests. */
const batchSize = 25;

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
    if (found.labels <= maxLabels) return found;
    context.addIssue({ code: "custom", message: `an import takes at most ${maxLabels} labels` });
    return z.NEVER;
  });

function collect(entries: Iterable<ImportEntry>): LabelDocument {
  const ids = new Set<string>();
  const filenames = new Set<string>();
  const batches: Uint8Array[] = [];
  let batch: ImportEntry[] = [];
  let labels = 0;
  for (const entry of entries) {
    labels += "problem" in entry ? (entry.count ?? 1) : 1;
    if (labels > maxLabels) break;
    if ("line" in entry) {
      for (const id of entry.line.audio.ids) ids.add(id.toLowerCase());
      for (const name of entry.line.audio.filenames) filenames.add(name);
    }
    batch.push(storable(entry));
    if (batch.length < batchSize) continue;
    batches.push(serialize(batch));
    batch = [];
  }
  if (batch.length > 0) batches.push(serialize(batch));
  return { labels, ids: [...ids], filenames: [...filenames], batches };
}

/** Replaces a label by its problem if its extra data cannot be stored, or nests too deeply to be serialized. */
function storable(entry: ImportEntry): ImportEntry {
  const fault = "line" in entry ? faultOfParsed(entry.line.extraData) : null;
  return fault === null ? entry : { at: entry.at, problem: `extra_data: ${fault}` };
}

/** Yields the entries in order, with pauses in which the event loop serves other requests. */
export async function* entriesOf({ batches }: LabelDocument): AsyncGenerator<ImportEntry> {
  for (const batch of batches) {
    yield* deserialize(batch) as ImportEntry[];
    await setImmediate();
  }
}
