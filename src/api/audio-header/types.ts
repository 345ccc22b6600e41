// What the header parsers agree on. They read untrusted bytes: every length is checked against what is there, nothing
// is allocated by a number from the file, and the number of reads is bounded.

export const maxDurationMs = 12 * 3_600_000;

export interface AudioFacts {
  readonly codec: string;
  readonly sampleRateHz: number;
  readonly channels: number;
  /** As the header says or as follows from the file's size; null when neither tells. The worker finds the truth. */
  readonly durationMs: number | null;
}

/** `problem` is a sentence for the client. */
export type AudioHeader = AudioFacts | { readonly problem: string };

/** The file: its size, its first bytes, and a way to read others. */
export interface Bytes {
  readonly size: number;
  /** Up to 64 KiB from the start. */
  readonly head: Buffer;
  /** At most `length` bytes from `start`; fewer at the end of the file. */
  at(start: number, length: number): Promise<Buffer>;
}
