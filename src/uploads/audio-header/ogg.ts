// Reads an Ogg header: the codec from the first page, and the number of samples from the last page, if the stream
// begins at position 0. Called by read.ts.
import type { AudioHeader, Bytes } from "./types.ts";

const tailBytes = 65_536;
const maxPages = 64;

export async function readOgg(bytes: Bytes): Promise<AudioHeader> {
  const page = bytes.head;
  const segments = page[26] ?? 0;
  const packet = page.subarray(27 + segments, 27 + segments + 32);
  const isFirst = page.length > 27 && page[4] === 0 && ((page[5] ?? 0) & 0x02) !== 0;
  if (!isFirst || packet.length < 19)
    return { problem: "The Ogg file does not begin with the first page of a stream" };
  const stream = codecOf(packet);
  if (stream === null) return { problem: "The Ogg file contains neither Vorbis nor Opus" };
  if (stream.rate === 0) return { problem: "The Ogg file has no sample rate" };
  const serial = page.readUInt32LE(14);
  const samples = (await beginsAtZero(bytes, serial, stream.packetSamples))
    ? await lastSample(bytes, serial)
    : null;
  return {
    codec: stream.codec,
    sampleRateHz: stream.rate,
    channels: stream.channels,
    durationMs:
      samples === null ? null : Math.max(0, Math.round(((samples - stream.skipped) * 1000) / stream.rate)),
  };
}

interface Stream {
  readonly codec: string;
  readonly channels: number;
  readonly rate: number;
  readonly skipped: number;
  /** Maximum number of samples in a packet. */
  readonly packetSamples: number;
}

function codecOf(packet: Buffer): Stream | null {
  if (packet.toString("latin1", 0, 7) === "\x01vorbis") {
    // Half of a long block. The header gives the size of a long block as a power of two.
    const packetSamples = (1 << ((packet[28] ?? 0) >> 4)) >> 1;
    const [channels, rate] = [packet.readUInt8(11), packet.readUInt32LE(12)];
    return { codec: "vorbis", channels, rate, skipped: 0, packetSamples };
  }
  // Opus counts in 48 kHz for every recording, and begins with samples that are not played. A packet has at
  // most 120 ms.
  if (packet.toString("latin1", 0, 8) === "OpusHead") {
    const [channels, skipped] = [packet.readUInt8(9), packet.readUInt16LE(10)];
    return { codec: "opus", channels, rate: 48_000, skipped, packetSamples: 5_760 };
  }
  return null;
}

/**
 * Whether the stream begins at position 0: the packets of the first page with audio can cover everything up to the
 * page's position. Otherwise the recording starts in the middle of a stream, and its last position is not its length.
 * Also false if the first 64 pages have no audio.
 */
async function beginsAtZero(bytes: Bytes, serial: number, packetSamples: number): Promise<boolean> {
  let offset = 0;
  for (let page = 0; page < maxPages; page++) {
    const head = await bytes.at(offset, 27 + 255);
    const sizes = head.subarray(27, 27 + (head[26] ?? 0));
    if (head.length < 27 || head.toString("latin1", 0, 4) !== "OggS") break;
    const position = head.readBigInt64LE(6);
    if (head.readUInt32LE(14) === serial && position > 0n) {
      // A segment of 255 bytes continues in the next segment.
      const packets = sizes.filter((size) => size < 255).length;
      return position <= BigInt(packets * packetSamples);
    }
    offset += 27 + sizes.length + sizes.reduce((sum, size) => sum + size, 0);
  }
  return false;
}

/** Returns the position on the stream's last page; null if the last 64 KiB of the file have no such page. */
async function lastSample(bytes: Bytes, serial: number): Promise<number | null> {
  const tail = await bytes.at(Math.max(0, bytes.size - tailBytes), tailBytes);
  for (let at = tail.lastIndexOf("OggS"); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf("OggS", at - 1)) {
    if (at + 18 > tail.length || tail.readUInt32LE(at + 14) !== serial) continue;
    const position = tail.readBigInt64LE(at + 6);
    // Position -1 means that no packet ends on this page.
    if (position >= 0n) return position > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(position);
  }
  return null;
}
