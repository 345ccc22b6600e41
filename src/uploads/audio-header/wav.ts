// Reads a WAV header: the chunks of a RIFF, RF64 or BW64 file up to the data chunk. Refuses formats whose decoders have
// been exploited (ADPCM and similar), before any library opens the file. Called by read.ts.
import type { AudioHeader, Bytes } from "./types.ts";

const maxChunks = 64;
const codecs: Record<number, { name: string; bits: readonly number[] }> = {
  1: { name: "pcm", bits: [8, 16, 24, 32] },
  3: { name: "float", bits: [32, 64] },
  6: { name: "alaw", bits: [8] },
  7: { name: "mulaw", bits: [8] },
};
// An extensible format stores its actual format tag in the first two bytes of a GUID; the other bytes are these.
const guidTail = Buffer.from("000000001000800000aa00389b71", "hex");
// A chunk after the data has a printable name, and none of these: they begin other samples or another file.
const notAfterData = ["data", "RIFF", "RF64", "BW64"];

export async function readWav(bytes: Bytes): Promise<AudioHeader> {
  let format: Buffer | null = null;
  let longSize: number | null = null;
  let offset = 12;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const header = await bytes.at(offset, 8);
    if (header.length < 8) break;
    const name = header.toString("latin1", 0, 4);
    const size = header.readUInt32LE(4);
    if (name === "fmt ") format = await bytes.at(offset + 8, Math.min(size, 40));
    if (name === "ds64" && size >= 24) {
      const sizes = await bytes.at(offset + 8, 24);
      if (sizes.length === 24) longSize = Number(sizes.readBigUInt64LE(8));
    }
    if (name === "data") {
      if (format === null) return { problem: "The WAV file has no format chunk before its data" };
      const declared = size === 0xffffffff && longSize !== null ? longSize : size;
      if (declared === 0 && (await onlyChunksFollow(bytes, offset + 8))) return facts(format, 0);
      // Programs that write to a pipe leave a size of 0 or 0xffffffff. Then the data extends to the end of the file.
      const present = bytes.size - offset - 8;
      return facts(format, declared === 0 || declared > present ? present : declared);
    }
    offset += 8 + size + (size % 2);
  }
  return { problem: "The WAV file has no data chunk" };
}

/**
 * Whether a chain of chunks leads from `start` exactly to the end of the file: what follows the empty data of a take
 * without samples. Samples whose writer left the size at 0 do not form one.
 */
async function onlyChunksFollow(bytes: Bytes, start: number): Promise<boolean> {
  let offset = start;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const header = await bytes.at(offset, 8);
    const name = header.toString("latin1", 0, 4);
    if (header.length < 8 || !/^[ -~]{4}$/.test(name) || notAfterData.includes(name)) return false;
    const size = header.readUInt32LE(4);
    offset += 8 + size + (size % 2);
    // The writer may not have padded the last chunk.
    if (offset >= bytes.size) return offset - (size % 2) <= bytes.size;
  }
  return false;
}

function facts(format: Buffer, dataBytes: number): AudioHeader {
  if (format.length < 16) return { problem: "The format chunk of the WAV file is truncated" };
  const tag = format.readUInt16LE(0);
  const channels = format.readUInt16LE(2);
  const sampleRateHz = format.readUInt32LE(4);
  const blockBytes = format.readUInt16LE(12);
  const bits = format.readUInt16LE(14);
  const codec = codecs[tag === 0xfffe ? extensibleTag(format) : tag];
  if (codec === undefined || !codec.bits.includes(bits))
    return {
      problem: "The codec of the WAV file is not supported; use PCM, float, A-law or mu-law",
    };
  if (channels === 0 || sampleRateHz === 0 || blockBytes !== (channels * bits) / 8)
    return { problem: "The format chunk of the WAV file contradicts itself" };
  const frames = Math.floor(dataBytes / blockBytes);
  return {
    codec: codec.bits.length > 1 ? `${codec.name}${bits}` : codec.name,
    sampleRateHz,
    channels,
    durationMs: Math.round((frames * 1000) / sampleRateHz),
  };
}

function extensibleTag(format: Buffer): number {
  return format.length >= 40 && format.subarray(26, 40).equals(guidTail) ? format.readUInt16LE(24) : -1;
}
