// Ogg: the first page names the codec, the last one the number of samples. Called by read.ts.
import type { AudioHeader, Bytes } from "./types.ts";

const tailBytes = 65_536;

export async function readOgg(bytes: Bytes): Promise<AudioHeader> {
  const page = bytes.head;
  const segments = page[26] ?? 0;
  const packet = page.subarray(27 + segments, 27 + segments + 32);
  const isFirst = page.length > 27 && page[4] === 0 && ((page[5] ?? 0) & 0x02) !== 0;
  if (!isFirst || packet.length < 19) return { problem: "The Ogg file does not begin with a stream" };
  const stream = codecOf(packet);
  if (stream === null) return { problem: "The Ogg file holds neither Vorbis nor Opus" };
  if (stream.rate === 0) return { problem: "The Ogg file names no sample rate" };
  const samples = await lastSample(bytes, page.readUInt32LE(14));
  return {
    codec: stream.codec,
    sampleRateHz: stream.rate,
    channels: stream.channels,
    durationMs:
      samples === null ? null : Math.max(0, Math.round(((samples - stream.skipped) * 1000) / stream.rate)),
  };
}

function codecOf(packet: Buffer): { codec: string; channels: number; rate: number; skipped: number } | null {
  if (packet.toString("latin1", 0, 7) === "\x01vorbis")
    return { codec: "vorbis", channels: packet.readUInt8(11), rate: packet.readUInt32LE(12), skipped: 0 };
  // Opus counts in 48 kHz whatever was recorded, and begins with samples that are not played.
  if (packet.toString("latin1", 0, 8) === "OpusHead")
    return { codec: "opus", channels: packet.readUInt8(9), rate: 48_000, skipped: packet.readUInt16LE(10) };
  return null;
}

/** The position that the last page of the stream names; null when the end of the file shows none. */
async function lastSample(bytes: Bytes, serial: number): Promise<number | null> {
  const tail = await bytes.at(Math.max(0, bytes.size - tailBytes), tailBytes);
  for (let at = tail.lastIndexOf("OggS"); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf("OggS", at - 1)) {
    if (at + 18 > tail.length || tail.readUInt32LE(at + 14) !== serial) continue;
    const position = tail.readBigInt64LE(at + 6);
    // -1: no packet ends on this page.
    if (position >= 0n) return position > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(position);
  }
  return null;
}
