// Reads a FLAC header: the STREAMINFO block has all facts. Called by read.ts with the first 42 bytes.
import type { AudioHeader } from "./types.ts";

// Of a sample. The workers cannot decode more (MAX_FLAC_BITS in audio/header.py).
const maxBits = 24;

export function readFlac(start: Buffer): AudioHeader {
  const blockType = (start[4] ?? 0xff) & 0x7f;
  if (start.length < 42 || blockType !== 0 || start.readUIntBE(5, 3) !== 34)
    return { problem: "The FLAC file does not begin with its stream information" };
  // 20 bits sample rate, 3 bits channels - 1, 5 bits sample size - 1, 36 bits number of samples (0: not known).
  const packed = start.readBigUInt64BE(18);
  const sampleRateHz = Number(packed >> 44n);
  const channels = Number((packed >> 41n) & 7n) + 1;
  const samples = Number(packed & 0xfffffffffn);
  const bits = Number((packed >> 36n) & 31n) + 1;
  if (bits > maxBits)
    return {
      problem: `FLAC with ${bits} bits per sample is not supported; convert the file to ${maxBits} bits`,
    };
  if (sampleRateHz === 0) return { problem: "The FLAC file has no sample rate" };
  return {
    codec: "flac",
    sampleRateHz,
    channels,
    durationMs: samples === 0 ? null : Math.round((samples * 1000) / sampleRateHz),
  };
}
