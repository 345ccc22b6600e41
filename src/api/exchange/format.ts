// What an exchange format is, and what it is written from and read into. Each format is one file of this folder; the
// table of them is formats.ts.

/** An audio file as an export names it. */
export interface RegionFile {
  /** The audio file's id for annotations, the inference file's for detections. */
  readonly id: string;
  /** Null for an upload of an inference job's own. */
  readonly audioFileId: string | null;
  readonly filename: string;
  /** Where its bytes lie. */
  readonly objectKey: string;
}

/** One labelled place: an annotation of a set or a detection of a job. */
export interface Region {
  readonly id: string;
  readonly file: RegionFile;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
  readonly extraData: Readonly<Record<string, unknown>>;
}

/** In batches, ordered by file and start, so that an export of any size needs the memory of one batch. */
export type Regions = AsyncIterable<readonly Region[]>;

export interface WriteOptions {
  readonly kind: "annotation" | "detection";
  /** What the label tool finds the sound by. */
  readonly audioOf: (file: RegionFile) => Promise<string>;
  /** Label tool only: `import` leaves out who labelled. */
  readonly flavor: "full" | "import";
  /** Label tool only: which model made the detections. */
  readonly modelName: string;
}

export interface Format {
  readonly contentType: string;
  /** Of the file that the answer is saved as. */
  readonly extension: string;
  /** Its times are those of one audio file, so an export needs to know which one. */
  readonly oneFile: boolean;
  readonly example: string;
  readonly write: (regions: Regions, options: WriteOptions) => AsyncIterable<string>;
}

/** What an import found in its input: a place to add, or why there is none. */
export type ImportEntry =
  | { readonly at: Position; readonly line: ImportLine }
  | {
      readonly at: Position;
      readonly problem: string;
      /** How many labels are lost by it; 1 unless a whole task is. */
      readonly count?: number;
    };

/** Where in the input: a task and its result, or a line. Counted from 0, lines from 1 as editors do. */
export interface Position {
  readonly task?: number;
  readonly result?: number | null;
  readonly line?: number;
}

/** An annotation as a foreign document gives it: nothing of it is checked yet. */
export interface ImportLine {
  readonly audio: AudioReference;
  readonly type: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number;
  readonly extraData: unknown;
}

/** Ids and names that the input gives for its audio file, the best first. */
export interface AudioReference {
  readonly ids: readonly string[];
  readonly filenames: readonly string[];
}

/** Milliseconds as seconds with three decimals, exact: 1250 is "1.250". */
export function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, "0")}`;
}

/** Text for formats in which a line or a tab ends it. */
export function onOneLine(text: string): string {
  // Line breaks in the sense of Unicode, too: some readers split at them.
  return text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, " ");
}
