// Files of another format than declared, with false headers, or with a huge decoded size. Each is either refused at
// confirm, or accepted with facts that match its bytes. Used by uploads.test.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { wav } from "../../support/audio.ts";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../../api/fixtures", name));
const padded = (text: string | Buffer, size = 2_000) =>
  Buffer.concat([Buffer.from(text), Buffer.alloc(size)]);
const changed = (file: Buffer, change: (copy: Buffer) => void) => {
  const copy = Buffer.from(file);
  change(copy);
  return copy;
};
/** A WAV file with a chunk between the format and the data. */
const withChunk = (name: string, size: number, content: Buffer) => {
  const base = wav();
  const head = Buffer.alloc(8);
  head.write(name, 0, "latin1");
  head.writeUInt32LE(size, 4);
  return Buffer.concat([base.subarray(0, 36), head, content, base.subarray(36)]);
};
const id3 = (size: number, content = Buffer.alloc(0)) =>
  Buffer.concat([
    Buffer.from("ID3\x04\x00\x00", "latin1"),
    Buffer.from([21, 14, 7, 0].map((shift) => (size >>> shift) & 0x7f)),
    content,
  ]);
const flac = fixture("tone.flac");
const ogg = fixture("tone-vorbis.ogg");
const opus = fixture("tone-opus.ogg");
const mp3 = fixture("tone-cbr.mp3");
const vbr = fixture("tone-vbr.mp3");
const png = Buffer.from(
  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06",
  "latin1",
);

/** STREAMINFO: 20 bits sample rate, 3 bits channels - 1, 5 bits sample size - 1, 36 bits samples. */
const flacSaying = (rate: bigint, channels: bigint, samples: bigint) =>
  changed(flac, (copy) =>
    copy.writeBigUInt64BE((rate << 44n) | ((channels - 1n) << 41n) | (15n << 36n) | samples, 18),
  );
/** Sets the position on the last page. */
const oggSaying = (file: Buffer, position: bigint) =>
  changed(file, (copy) => copy.writeBigInt64LE(position, copy.lastIndexOf("OggS") + 6));
/** Moves all positions, as in a stream that was recorded from its middle. */
const oggLater = (file: Buffer, samples: bigint) =>
  changed(file, (copy) => {
    for (let at = copy.indexOf("OggS"); at >= 0; at = copy.indexOf("OggS", at + 1)) {
      const position = copy.readBigInt64LE(at + 6);
      if (position > 0n) copy.writeBigInt64LE(position + samples, at + 6);
    }
  });
/** RF64 or BW64: the length of the data is in a chunk before the format. */
const longWav = (word: string, dataBytes: bigint) => {
  const [base, sizes] = [wav(), Buffer.alloc(8 + 28)];
  base.write(word, 0, "latin1");
  base.writeUInt32LE(0xffffffff, 4);
  base.writeUInt32LE(0xffffffff, 40);
  sizes.write("ds64", 0, "latin1");
  sizes.writeUInt32LE(28, 4);
  sizes.writeBigUInt64LE(dataBytes, 16);
  return Buffer.concat([base.subarray(0, 12), sizes, base.subarray(12)]);
};
/** Sets the number of frames in the first frame. */
const mp3Saying = (frames: number) =>
  changed(vbr, (copy) => {
    const at = Math.max(copy.indexOf("Xing"), copy.indexOf("Info"));
    copy.writeUInt32BE(copy.readUInt32BE(at + 4) | 1, at + 4);
    copy.writeUInt32BE(frames, at + 8);
  });

type Line = readonly [name: string, type: string, bytes: Buffer];

/** Refused with 409 unsupported_audio. */
export const refusedFiles: readonly Line[] = [
  ["an MP3 file called WAV", "audio/wav", mp3],
  ["a FLAC file called WAV", "audio/wav", flac],
  ["an Ogg file called MP3", "audio/mpeg", ogg],
  ["a WAV file called Ogg", "audio/ogg", wav()],
  ["a WAV file called FLAC", "audio/flac", wav()],
  ["one byte", "audio/wav", Buffer.from("R")],
  ["zeros", "audio/mpeg", Buffer.alloc(5_000)],
  ["ones", "audio/mpeg", Buffer.alloc(5_000, 0xff)],
  ["text", "audio/flac", padded("hello, world")],
  ["HTML", "audio/ogg", padded("<!doctype html><script>alert(1)</script>")],
  ["SVG", "audio/wav", padded("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")],
  ["a picture", "audio/mpeg", padded(png)],
  ["a zip file", "audio/wav", padded("PK\x03\x04\x14\x00\x00\x00\x08\x00")],
  ["a gzip file of zeros", "audio/flac", gzipSync(Buffer.alloc(10_000_000))],
  ["a WAV file in gzip", "audio/wav", gzipSync(wav())],
  ["a tar file", "audio/wav", padded("x".padEnd(257, "\0").concat("ustar"))],
  ["a PDF", "audio/mpeg", padded("%PDF-1.7\n")],
  ["a program", "audio/wav", padded("\x7fELF\x02\x01\x01")],
  ["a playlist with an address", "audio/mpeg", padded("#EXTM3U\nhttp://169.254.169.254/latest/meta-data/\n")],
  ["a list of files for a converter", "audio/wav", padded("ffconcat version 1.0\nfile /etc/passwd\n")],
  ["a video", "audio/wav", padded("\x00\x00\x00\x18ftypmp42")],
  ["an AVI video", "audio/wav", padded("RIFF\x00\x10\x00\x00AVI LIST")],
  ["a Matroska video", "audio/ogg", padded(Buffer.from([0x1a, 0x45, 0xdf, 0xa3]))],
  ["MIDI", "audio/wav", padded("MThd\x00\x00\x00\x06")],
  ["AIFF", "audio/wav", padded("FORM\x00\x00\x10\x00AIFF")],
  ["AU", "audio/wav", padded(".snd\x00\x00\x00\x18")],
  ["RIFX, big-endian", "audio/wav", changed(wav(), (copy) => copy.write("RIFX", 0, "latin1"))],
  ["a WAV file in ADPCM", "audio/wav", fixture("tone-adpcm.wav")],
  ["a WAV file of MP3 frames", "audio/wav", changed(wav(), (copy) => copy.writeUInt16LE(0x55, 20))],
  ["65,535 channels", "audio/wav", changed(wav(), (copy) => copy.writeUInt16LE(65_535, 22))],
  ["no channel", "audio/wav", changed(wav(), (copy) => copy.writeUInt16LE(0, 22))],
  ["4 GHz", "audio/wav", changed(wav(), (copy) => copy.writeUInt32LE(0xffffffff, 24))],
  ["0 Hz", "audio/wav", changed(wav(), (copy) => copy.writeUInt32LE(0, 24))],
  ["frames of no bytes", "audio/wav", changed(wav(), (copy) => copy.writeUInt16LE(0, 32))],
  ["samples of 0 bits", "audio/wav", changed(wav(), (copy) => copy.writeUInt16LE(0, 34))],
  ["a format of 4 GB", "audio/wav", changed(wav(), (copy) => copy.writeUInt32LE(0xffffffff, 16))],
  ["a chunk of 4 GB before the data", "audio/wav", withChunk("LIST", 0xfffffffe, Buffer.alloc(10))],
  [
    "a thousand empty chunks",
    "audio/wav",
    Buffer.concat([
      wav().subarray(0, 36),
      ...Array.from({ length: 1_000 }, () => Buffer.from("junk\0\0\0\0")),
    ]),
  ],
  ["data before its format", "audio/wav", changed(wav(), (copy) => copy.write("data", 12, "latin1"))],
  ["a header and no data", "audio/wav", wav({ durationMs: 0 })],
  ["RIFF cut off", "audio/wav", wav().subarray(0, 11)],
  ["FLAC of 2^36 samples", "audio/flac", flacSaying(8_000n, 1n, (1n << 36n) - 1n)],
  ["FLAC of 11 hours in 20 kB", "audio/flac", flacSaying(16_000n, 8n, 633_600_000n)],
  ["FLAC at 655 kHz", "audio/flac", flacSaying(655_350n, 1n, 16_000n)],
  ["FLAC at 0 Hz", "audio/flac", flacSaying(0n, 1n, 16_000n)],
  ["FLAC without its first block", "audio/flac", changed(flac, (copy) => copy.writeUInt8(0x84, 4))],
  ["FLAC of four letters", "audio/flac", Buffer.from("fLaC")],
  ["Ogg of 2^53 samples", "audio/ogg", oggSaying(ogg, 9_007_199_254_740_991n)],
  ["Opus of 40 years", "audio/opus", oggSaying(opus, 1n << 46n)],
  ["Ogg of four letters", "audio/ogg", padded("OggS")],
  [
    "Vorbis with 255 channels",
    "audio/ogg",
    changed(ogg, (copy) => copy.writeUInt8(255, copy.indexOf("\x01vorbis", 0, "latin1") + 11)),
  ],
  [
    "Vorbis at 4 GHz",
    "audio/ogg",
    changed(ogg, (copy) => copy.writeUInt32LE(0xffffffff, copy.indexOf("\x01vorbis", 0, "latin1") + 12)),
  ],
  [
    "Opus without channels",
    "audio/opus",
    changed(opus, (copy) => copy.writeUInt8(0, copy.indexOf("OpusHead") + 9)),
  ],
  [
    "Ogg with another codec",
    "audio/ogg",
    changed(opus, (copy) => copy.write("Speex   ", copy.indexOf("OpusHead"), "latin1")),
  ],
  ["MP3 with one frame", "audio/mpeg", mp3.subarray(0, 100)],
  ["a tag of 256 MB", "audio/mpeg", padded(id3((1 << 28) - 1))],
  ["a tag without frames", "audio/mpeg", id3(2_000, Buffer.alloc(2_000))],
  ["tags in a row", "audio/mpeg", Buffer.concat([...Array.from({ length: 100 }, () => id3(0)), mp3])],
  ["a picture before a WAV file", "audio/wav", Buffer.concat([png, wav()])],
  ["a zip file before an MP3 file", "audio/mpeg", Buffer.concat([padded("PK\x03\x04"), mp3])],
];

/** Accepted with these facts: a false length is replaced by the one that the bytes have. */
export const acceptedFiles: readonly (readonly [...Line, facts: object])[] = [
  [
    "data of 4 GB in 16 kB",
    "audio/wav",
    changed(wav(), (copy) => copy.writeUInt32LE(0xffffffff, 40)),
    { duration_ms: 500 },
  ],
  [
    "data just longer than the file",
    "audio/wav",
    changed(wav(), (copy) => copy.writeUInt32LE(16_004, 40)),
    { duration_ms: 500 },
  ],
  [
    "RIFF of 4 GB",
    "audio/wav",
    changed(wav(), (copy) => copy.writeUInt32LE(0xffffffff, 4)),
    { duration_ms: 500 },
  ],
  ["RIFF of no bytes", "audio/wav", changed(wav(), (copy) => copy.writeUInt32LE(0, 4)), { duration_ms: 500 }],
  [
    "a web page in a comment",
    "audio/wav",
    withChunk("LIST", 100, Buffer.alloc(100, "<script>alert(1)</script>")),
    { duration_ms: 500 },
  ],
  [
    "a zip file after its end",
    "audio/wav",
    Buffer.concat([wav(), padded("PK\x03\x04")]),
    { duration_ms: 500 },
  ],
  [
    "another name of the same content type",
    "audio/x-wav",
    wav(),
    { content_type: "audio/x-wav", duration_ms: 500 },
  ],
  ["RF64", "audio/wav", longWav("RF64", 16_000n), { duration_ms: 500, codec: "pcm16" }],
  ["BW64", "audio/wav", longWav("BW64", 16_000n), { duration_ms: 500, codec: "pcm16" }],
  ["RF64 of 16 EiB", "audio/wav", longWav("RF64", (1n << 64n) - 1n), { duration_ms: 500 }],
  [
    "RF64 without its long length",
    "audio/wav",
    changed(wav(), (copy) => copy.write("RF64", 0, "latin1")),
    { duration_ms: 500 },
  ],
  ["MP3 of 4 billion frames", "audio/mpeg", mp3Saying(0xffffffff), { duration_ms: null, codec: "mp3" }],
  ["MP3 of 2 million frames", "audio/mpeg", mp3Saying(2_000_000), { duration_ms: null, codec: "mp3" }],
  ["MP3 of no frames", "audio/mpeg", mp3Saying(0), { duration_ms: null, codec: "mp3" }],
  ["Vorbis from its fifth hour on", "audio/ogg", oggLater(ogg, 793_800_000n), { duration_ms: null }],
  ["Opus from its 40th year on", "audio/opus", oggLater(opus, 1n << 46n), { duration_ms: null }],
  ["FLAC without a length", "audio/flac", flacSaying(16_000n, 1n, 0n), { duration_ms: null, codec: "flac" }],
  [
    "a tag with a picture",
    "audio/mpeg",
    Buffer.concat([id3(200_000, Buffer.alloc(200_000, 0x89)), mp3]),
    { codec: "mp3", channels: 1 },
  ],
];
