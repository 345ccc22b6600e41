// The header parsers on files in memory. Called by the tests of src/api/audio-header.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { AudioContainer } from "../../src/schemas/audio-file.ts";
import { readAudioHeader } from "../../src/uploads/audio-header/read.ts";

export const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../api/fixtures", name));

/** A refusal whose sentence contains `reason`. */
export const problem = (reason: string) => ({ problem: expect.stringContaining(reason) });

/** Like the object store: refuses a range that begins after the end, and counts the bytes read. */
export async function parse(file: Buffer, container: AudioContainer) {
  const reads: number[] = [];
  const header = await readAudioHeader(
    async (start, end) => {
      if (start >= file.length || end < start) throw new Error("range not satisfiable");
      reads.push(end - start + 1);
      return file.subarray(start, end + 1);
    },
    file.length,
    container,
  );
  return { header, reads };
}

/** A tag with a picture of this many zeros. */
export function id3(size: number): Buffer {
  const tag = Buffer.alloc(10 + size);
  tag.write("ID3\x04\x00\x00", 0, "latin1");
  for (const [i, shift] of [21, 14, 7, 0].entries()) tag.writeUInt8((size >> shift) & 0x7f, 6 + i);
  return tag;
}
