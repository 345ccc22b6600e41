// MP3: the first two frames, and the count of frames that most encoders leave in the first one. Called by read.ts.
import type { AudioHeader, Bytes } from "./types.ts";

const maxTags = 16;
const maxFrameBytes = 2_881;
const framesInARow = 3;
// Files that may hold frames and are none (archives, films, documents), as in the worker's header.py; and more tags than
// are skipped.
const foreign = "PK Rar! 7z\xbc RIFF FORM FLV FWS MZ \x7fELF \x1f\x8b % # < ID3".split(" ");

/** Where the audio begins: ID3v2 tags, which may hold whole pictures, stand before it. */
export async function skipId3(bytes: Bytes): Promise<number> {
  let offset = 0;
  for (let tag = 0; tag < maxTags; tag++) {
    const header = await bytes.at(offset, 10);
    if (header.length < 10 || header.toString("latin1", 0, 3) !== "ID3") break;
    // 7 bits in each of 4 bytes; a footer repeats the header.
    const size = [6, 7, 8, 9].reduce((sum, i) => sum * 128 + ((header[i] ?? 0) & 0x7f), 0);
    const footer = ((header[5] ?? 0) & 0x10) === 0 ? 0 : 10;
    offset += 10 + size + footer;
  }
  return offset;
}

interface Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly bitrate: number;
  /** Where the count of frames lies, if there is one: behind the header and the side information. */
  readonly sideInfoEnd: number;
}

/**
 * Where the first frames are: at `start`, or behind zeros or the rest of a frame, as in a stream that was recorded from its
 * middle on; null when there are none in the first 64 KiB, or when they lie in a file of another kind. One header is soon
 * found by chance, three that follow each other are not.
 */
export function findFrames({ head }: Bytes, start: number): number | null {
  const begin = head.toString("latin1", start, start + 262);
  if (foreign.some((word) => begin.startsWith(word)) || begin.startsWith("ustar", 257)) return null;
  let sound = start;
  while (head[sound] === 0) sound += 1;
  for (let at = sound; at < Math.min(head.length, sound + maxFrameBytes); at++)
    if (head[at] === 0xff && isRun(head, at)) return at;
  return null;
}

function isRun(head: Buffer, start: number): boolean {
  const rates = new Set<number>();
  for (let at = start, count = 0; count < framesInARow; count++) {
    const frame = parseFrame(head.subarray(at, at + 4));
    if (frame === null) return false;
    rates.add(frame.sampleRateHz);
    at += frame.bytes;
  }
  return rates.size === 1;
}

export async function readMp3(bytes: Bytes, start: number): Promise<AudioHeader> {
  const first = await bytes.at(start, 2_048);
  const frame = parseFrame(first);
  if (frame === null) return { problem: "The MP3 file does not begin with an MPEG layer III frame" };
  // Two bytes are soon found by chance; a second header where the first one says is not.
  const next = parseFrame(await bytes.at(start + frame.bytes, 4));
  if (next === null || next.sampleRateHz !== frame.sampleRateHz)
    return { problem: "The MP3 file has no second frame where the first one ends" };
  const counted = countOfFrames(first, frame);
  const durationMs =
    counted === null
      ? ((bytes.size - start) * 8_000) / frame.bitrate
      : (counted * frame.samples * 1000) / frame.sampleRateHz;
  return {
    codec: "mp3",
    sampleRateHz: frame.sampleRateHz,
    channels: frame.channels,
    durationMs: Math.round(durationMs),
  };
}

const bitratesMpeg1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const bitratesMpeg2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const sampleRates = [44_100, 48_000, 32_000];

function parseFrame(data: Buffer): Frame | null {
  if (data.length < 4) return null;
  const word = data.readUInt32BE(0);
  const version = (word >>> 19) & 3; // 0: MPEG 2.5, 2: MPEG 2, 3: MPEG 1
  const layer = (word >>> 17) & 3; // 1: layer III
  const bitrateIndex = (word >>> 12) & 15; // 0: free, 15: not allowed
  const rate = sampleRates[(word >>> 10) & 3];
  if (word >>> 21 !== 0x7ff || version === 1 || layer !== 1 || rate === undefined) return null;
  const kbit = (version === 3 ? bitratesMpeg1 : bitratesMpeg2)[bitrateIndex];
  if (kbit === undefined || kbit === 0) return null;
  const sampleRateHz = rate / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const samples = version === 3 ? 1152 : 576;
  const mono = ((word >>> 6) & 3) === 3;
  const sideInfo = version === 3 ? (mono ? 17 : 32) : mono ? 9 : 17;
  return {
    bytes: Math.floor((samples / 8) * ((kbit * 1000) / sampleRateHz)) + ((word >>> 9) & 1),
    samples,
    sampleRateHz,
    channels: mono ? 1 : 2,
    bitrate: kbit * 1000,
    sideInfoEnd: 4 + sideInfo,
  };
}

function countOfFrames(first: Buffer, frame: Frame): number | null {
  const xing = first.toString("latin1", frame.sideInfoEnd, frame.sideInfoEnd + 4);
  if ((xing === "Xing" || xing === "Info") && first.length >= frame.sideInfoEnd + 12) {
    const hasCount = (first.readUInt32BE(frame.sideInfoEnd + 4) & 1) === 1;
    if (hasCount) return first.readUInt32BE(frame.sideInfoEnd + 8);
  }
  if (first.toString("latin1", 36, 40) === "VBRI" && first.length >= 54) return first.readUInt32BE(50);
  return null;
}
