// Reads an MP3 header: the first two frames, and the number of frames that most encoders write into the first one.
// Called by read.ts.
import { type AudioHeader, type Bytes, maxDurationMs } from "./types.ts";

const maxTags = 16;
const windowBytes = 65_536;
const maxFrameBytes = 2_881;
const framesInARow = 3;
// First bytes of other file types that may contain MPEG frames (archives, films, documents), the same as in the
// worker's header.py. ID3 is in the list for files with more tags than skipId3 skips.
const foreign = "PK Rar! 7z\xbc RIFF FORM FLV FWS MZ \x7fELF \x1f\x8b % # < ID3".split(" ");

/** Returns the offset of the audio after all ID3v2 tags. Such tags may contain whole pictures. */
export async function skipId3(bytes: Bytes): Promise<number> {
  let offset = 0;
  for (let tag = 0; tag < maxTags; tag++) {
    const header = await bytes.at(offset, 10);
    if (header.length < 10 || header.toString("latin1", 0, 3) !== "ID3") break;
    // The size has 7 bits in each of 4 bytes. A footer repeats the 10 bytes of the header.
    const size = [6, 7, 8, 9].reduce((sum, i) => sum * 128 + ((header[i] ?? 0) & 0x7f), 0);
    const footer = ((header[5] ?? 0) & 0x10) === 0 ? 0 : 10;
    offset += 10 + size + footer;
  }
  return offset;
}

interface Frame {
  readonly bytes: number;
  /** Smallest possible size of a frame with this version and sample rate, at the lowest bitrate. */
  readonly leastBytes: number;
  readonly samples: number;
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly bitrate: number;
  /** Offset after the header and the side information, where the number of frames may be. */
  readonly sideInfoEnd: number;
}

/**
 * Returns the offset of the first frames. They begin at `start`, or after zeros, or after the rest of a frame (a
 * recording that starts in the middle of a stream), or after a tag that is longer than its size field. Returns null if
 * the first 64 KiB have no frames, or if the file has another type. The search requires three consecutive headers,
 * because random bytes often look like one.
 */
export async function findFrames(bytes: Bytes, start: number): Promise<number | null> {
  const window = await bytes.at(start, windowBytes);
  const begin = window.toString("latin1", 0, 262);
  if (foreign.some((word) => begin.startsWith(word)) || begin.startsWith("ustar", 257)) return null;
  let sound = 0;
  while (window[sound] === 0) sound += 1;
  const most = start > 0 ? windowBytes : maxFrameBytes;
  for (let at = sound; at < Math.min(window.length, sound + most); at++)
    if (window[at] === 0xff && isRun(window, at)) return start + at;
  return null;
}

function isRun(window: Buffer, start: number): boolean {
  const rates = new Set<number>();
  for (let at = start, count = 0; count < framesInARow; count++) {
    const frame = parseFrame(window.subarray(at, at + 4));
    if (frame === null) return false;
    rates.add(frame.sampleRateHz);
    at += frame.bytes;
  }
  return rates.size === 1;
}

export async function readMp3(bytes: Bytes, start: number): Promise<AudioHeader> {
  const first = await bytes.at(start, maxFrameBytes + 4);
  const frame = parseFrame(first);
  if (frame === null) return { problem: "The MP3 file does not begin with an MPEG layer III frame" };
  // Random bytes often look like one header, but rarely have a second one at the offset that the first one gives.
  const next = parseFrame(first.subarray(frame.bytes, frame.bytes + 4));
  if (next === null || next.sampleRateHz !== frame.sampleRateHz)
    return { problem: "The MP3 file has no second frame where the first one ends" };
  return {
    codec: "mp3",
    sampleRateHz: frame.sampleRateHz,
    channels: frame.channels,
    durationMs: durationOf(frame, countOfFrames(first, frame), bytes.size - start),
  };
}

/**
 * Returns the duration in ms, or null if the file does not give it: an encoder that was killed leaves a count of 0, and
 * a count that is too large for the file was copied from another file. Without a count, the bitrate of the first frame
 * is used for all frames. That is an estimate (variable bitrates begin low in silence), so no file is refused because
 * of it: an estimate over the maximum duration becomes null. (The estimate cannot reach the limit of the decoded size,
 * which is 2000 times the file's size: no frame decodes to more than 100 times its size.)
 */
function durationOf(frame: Frame, count: number | null, soundBytes: number): number | null {
  if (count === null) {
    const guess = Math.round((soundBytes * 8_000) / frame.bitrate);
    return guess > maxDurationMs ? null : guess;
  }
  if (count === 0 || count * frame.leastBytes > soundBytes) return null;
  return Math.round((count * frame.samples * 1000) / frame.sampleRateHz);
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
  const bytesAt = (kbit: number) => Math.floor(((samples / 8) * kbit * 1000) / sampleRateHz);
  return {
    bytes: bytesAt(kbit) + ((word >>> 9) & 1),
    leastBytes: bytesAt(version === 3 ? 32 : 8),
    samples,
    sampleRateHz,
    channels: mono ? 1 : 2,
    bitrate: kbit * 1000,
    sideInfoEnd: 4 + sideInfo,
  };
}

/**
 * Returns the number of frames from a Xing, Info or VBRI frame; null if there is no such frame. Returns 0 if such a
 * frame has no count: then the duration is unknown, because the bitrate of this frame says nothing about the others.
 */
function countOfFrames(first: Buffer, frame: Frame): number | null {
  const xing = first.toString("latin1", frame.sideInfoEnd, frame.sideInfoEnd + 4);
  if ((xing === "Xing" || xing === "Info") && first.length >= frame.sideInfoEnd + 12) {
    const hasCount = (first.readUInt32BE(frame.sideInfoEnd + 4) & 1) === 1;
    return hasCount ? first.readUInt32BE(frame.sideInfoEnd + 8) : 0;
  }
  if (first.toString("latin1", 36, 40) === "VBRI" && first.length >= 54) return first.readUInt32BE(50);
  return null;
}
