// Types that the header parsers share. The parsers read untrusted input: they check every length against the size of
// the file, allocate nothing by a number from the file, and have an upper bound for the number of reads.

export const maxDurationMs = 12 * 3_600_000;

export interface AudioFacts {
  readonly codec: string;
  readonly sampleRateHz: number;
  readonly channels: number;
  /**
   * From the header, or computed from the file's size; null if neither gives it. The worker determines the exact value.
   */
  readonly durationMs: number | null;
}

/** The facts, or why the file is refused: `problem` is a sentence for the client. */
export type AudioHeader = AudioFacts | { readonly problem: string };

/** Access to the file: its size, its first bytes, and a function that reads other parts. */
export interface Bytes {
  readonly size: number;
  /** Up to 64 KiB from the start. */
  readonly head: Buffer;
  /** Reads `length` bytes from `start`; fewer at the end of the file. */
  at(start: number, length: number): Promise<Buffer>;
}
