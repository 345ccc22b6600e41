// Types of the exchange formats: what an export writes and what an import reads. Each format is one file of this
// folder; formats.ts is the table of the formats.

/** The audio file of an exported region. */
export interface RegionFile {
  /** Id of the audio file for annotations, of the inference file for detections. */
  readonly id: string;
  /** Null if the file was uploaded to an inference job. */
  readonly audioFileId: string | null;
  readonly filename: string;
  /** Key of its bytes in the object store. */
  readonly objectKey: string;
}

/** One exported region: an annotation of a set, or a detection of an inference job. */
export interface Region {
  readonly id: string;
  readonly file: RegionFile;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
  readonly extraData: Readonly<Record<string, unknown>>;
  readonly annotator: string | null;
}

/** Regions in batches, ordered by file and start, so that an export of any size needs the memory of one batch. */
export type Regions = AsyncIterable<readonly Region[]>;

export interface WriteOptions {
  readonly kind: "annotation" | "detection";
  /** Labelling tool only: returns the value of data.audio, by which the tool loads the audio. */
  readonly audioOf: (file: RegionFile) => Promise<string>;
  /** Labelling tool only: `import` omits completed_by. */
  readonly flavor?: "full" | "import";
  /** Labelling tool only: name of the model that made the detections. */
  readonly modelName?: string | undefined;
}

export interface Format {
  readonly contentType: string;
  /** File name extension under which clients save the export. */
  readonly extension: string;
  /** Whether an export covers a single audio file, because the format has no file names. */
  readonly oneFile?: true;
  readonly example: string;
  readonly write: (regions: Regions, options: WriteOptions) => AsyncIterable<string>;
}

/** Labels with the same position, as one object, differ only in their type. */
export interface ImportLabel {
  readonly at: Position;
  readonly line: ImportLine;
}

/** One entry that an import has read: a label, or the reason why the entry is skipped. */
export type ImportEntry =
  | ImportLabel
  | {
      readonly at: Position;
      readonly problem: string;
      /** Number of labels that the problem concerns; 1 by default, more if it concerns a whole task. */
      readonly count?: number;
    };

/** Position in the input: task and result, counted from 0, or the line, counted from 1 as in editors. */
export interface Position {
  readonly task?: number;
  readonly result?: number | null;
  readonly line?: number;
}

/** A label as an imported document has it: untrusted input, not validated yet. */
export interface ImportLine {
  readonly audio: AudioReference;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
  readonly extraData: unknown;
  readonly annotator?: unknown;
}

/** Candidate ids and file names of the label's audio file, the most reliable first. */
export interface AudioReference {
  readonly ids: readonly string[];
  readonly filenames: readonly string[];
}

/** Yields the text of the regions, in one piece for each batch. */
export async function* textOf(regions: Regions, ofOne: (region: Region) => string): AsyncGenerator<string> {
  for await (const batch of regions) yield batch.map(ofOne).join("");
}

/** Formats milliseconds as seconds with three decimals, exactly: 1250 is "1.250". */
export function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, "0")}`;
}

/** Replaces line breaks and tabs by spaces, for formats in which these end a text. */
export function onOneLine(text: string): string {
  // Includes Unicode line breaks, because some readers split lines at them.
  return text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, " ");
}
