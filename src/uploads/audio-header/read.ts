// Checks whether a file is audio that the workers accept. Reads only the header, without a native decoder, because the
// bytes are untrusted input. src/uploads/accept.ts calls this.
import type { AudioContainer } from "../../schemas/audio-file.ts";
import { readFlac } from "./flac.ts";
import { findFrames, readMp3, skipId3 } from "./mp3.ts";
import { readOgg } from "./ogg.ts";
import { type AudioHeader, type Bytes, maxDurationMs } from "./types.ts";
import { readWav } from "./wav.ts";

export type { AudioHeader } from "./types.ts";

const headBytes = 65_536;
// Limits of the decoders: a file may decode to 64 MiB of 16-bit samples plus 2000 times its own size. The decoders
// would refuse more later.
const maxRatio = 2_000;
const freeBytes = 64 * 1024 * 1024;
// RF64 and BW64 files may be longer than 4 GiB.
const riffWords = ["RIFF", "RF64", "BW64"];

/**
 * Reads and checks the header. `read` returns the bytes from start to end, both inclusive; the range is within the
 * file.
 */
export async function readAudioHeader(
  read: (start: number, end: number) => Promise<Buffer>,
  size: number,
  expected: AudioContainer,
): Promise<AudioHeader> {
  const head = size === 0 ? Buffer.alloc(0) : await read(0, Math.min(size, headBytes) - 1);
  const bytes: Bytes = {
    size,
    head,
    at: async (start, length) => {
      const end = Math.min(start + length, size);
      if (start >= end) return Buffer.alloc(0);
      return end <= head.length ? head.subarray(start, end) : await read(start, end - 1);
    },
  };
  const audioStart = await skipId3(bytes);
  const magic = await bytes.at(audioStart, 12);
  const header = await parse(bytes, audioStart, magic, expected);
  return "problem" in header ? header : check(header, size);
}

async function parse(
  bytes: Bytes,
  start: number,
  magic: Buffer,
  expected: AudioContainer,
): Promise<AudioHeader> {
  const found = containerOf(magic);
  if (found === expected) {
    if (found === "wav") return await readWav(bytes);
    if (found === "flac") return readFlac(await bytes.at(start, 42));
    if (found === "ogg") return await readOgg(bytes);
  }
  if (expected === "mp3" && (found === "mp3" || found === null)) {
    const frames = (await findFrames(bytes, start)) ?? (found === "mp3" ? start : null);
    if (frames !== null) return await readMp3(bytes, frames);
  }
  const names = { wav: "a WAV", flac: "a FLAC", ogg: "an Ogg", mp3: "an MP3" };
  return { problem: `The upload is not ${names[expected]} file, although its content type says so` };
}

function containerOf(magic: Buffer): AudioContainer | null {
  if (magic.length < 4) return null;
  const four = magic.toString("latin1", 0, 4);
  if (riffWords.includes(four) && magic.toString("latin1", 8, 12) === "WAVE") return "wav";
  if (four === "fLaC") return "flac";
  if (four === "OggS") return "ogg";
  return magic[0] === 0xff && ((magic[1] ?? 0) & 0xe0) === 0xe0 ? "mp3" : null;
}

function check(header: Exclude<AudioHeader, { problem: string }>, size: number): AudioHeader {
  const { sampleRateHz, channels, durationMs } = header;
  if (sampleRateHz < 8_000 || sampleRateHz > 192_000)
    return { problem: `A sample rate of ${sampleRateHz} Hz is not supported; use 8000 to 192000 Hz` };
  if (channels < 1 || channels > 8) return { problem: `${channels} channels are not supported; use 1 to 8` };
  if (durationMs === 0) return { problem: "The upload contains no audio" };
  if (durationMs !== null && durationMs > maxDurationMs)
    return { problem: "The audio is longer than 12 hours" };
  if (((durationMs ?? 0) / 1000) * sampleRateHz * channels * 2 > freeBytes + maxRatio * size)
    return { problem: "The header declares more audio than a file of this size can contain" };
  return header;
}
