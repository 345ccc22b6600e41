// The parsers of audio headers, on files of real encoders and on malformed or hostile files.
import { describe, expect, it } from "vitest";
import type { AudioContainer } from "../../src/schemas/audio-file.ts";
import { readAudioHeader } from "../../src/uploads/audio-header/read.ts";
import { wav } from "../support/audio.ts";
import { fixture, id3, parse, problem } from "../support/audio-header.ts";

describe("the header parser", () => {
  it.each<[string, AudioContainer, object]>([
    ["tone.flac", "flac", { codec: "flac", sampleRateHz: 16_000, channels: 1, durationMs: 1000 }],
    ["tone-vorbis.ogg", "ogg", { codec: "vorbis", sampleRateHz: 44_100, channels: 2, durationMs: 1500 }],
    ["tone-opus.ogg", "ogg", { codec: "opus", sampleRateHz: 48_000, channels: 1, durationMs: 1000 }],
    ["tone-alaw.wav", "wav", { codec: "alaw", sampleRateHz: 8000, channels: 1, durationMs: 1000 }],
    ["tone-extensible.wav", "wav", { codec: "pcm24", sampleRateHz: 8000, channels: 1, durationMs: 250 }],
    ["tone-float.wav", "wav", { codec: "float32", sampleRateHz: 8000, channels: 1, durationMs: 250 }],
  ])("reads codec, sample rate, channels and length from %s", async (name, container, facts) => {
    expect((await parse(fixture(name), container)).header).toEqual(facts);
  });

  it.each([
    ["tone-cbr.mp3", 16_000, 1, 1000],
    ["tone-vbr.mp3", 22_050, 2, 1500],
  ])("reads the length of %s to within two frames", async (name, sampleRateHz, channels, durationMs) => {
    const { header } = await parse(fixture(name), "mp3");
    expect(header).toMatchObject({ codec: "mp3", sampleRateHz, channels });
    expect("durationMs" in header && Math.abs((header.durationMs ?? 0) - durationMs)).toBeLessThan(110);
  });
});

describe("an MP3 that was recorded from the middle of a stream", () => {
  const sound = fixture("tone-cbr.mp3");
  it.each([
    ["is accepted when it begins inside a frame", sound.subarray(700)],
    ["is accepted when it begins with zeros", Buffer.concat([Buffer.alloc(30_000), sound])],
    [
      "is accepted when it begins with zeros and then the rest of a frame",
      Buffer.concat([Buffer.alloc(3000), sound.subarray(333)]),
    ],
  ])("%s", async (_, file) => {
    expect((await parse(file, "mp3")).header).toMatchObject({
      codec: "mp3",
      sampleRateHz: 16_000,
      channels: 1,
    });
  });

  it.each([
    ["text in front of its frames", Buffer.concat([Buffer.from("text ".repeat(1000)), sound])],
    [
      "the start of an archive in front of its frames",
      Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(100), sound]),
    ],
    ["only two frames", Buffer.concat([Buffer.from("?"), sound.subarray(0, 2 * 144)])],
    ["nothing but zeros", Buffer.alloc(100_000)],
  ])("is rejected with %s", async (_, file) => {
    expect((await parse(file, "mp3")).header).toEqual(problem("is not an MP3 file"));
  });
});

describe("the header parser rejects a file that", () => {
  it.each<[string, Buffer, AudioContainer, string]>([
    ["is empty", Buffer.alloc(0), "wav", "is not a WAV file"],
    ["is one byte", Buffer.from("R"), "wav", "is not a WAV file"],
    ["is text", Buffer.from("<html></html>".repeat(100)), "mp3", "is not an MP3 file"],
    ["is a FLAC file called WAV", fixture("tone.flac"), "wav", "is not a WAV file"],
    ["is a WAV file called FLAC", wav(), "flac", "is not a FLAC file"],
    ["is coded in ADPCM", fixture("tone-adpcm.wav"), "wav", "codec of the WAV file is not supported"],
    [
      "has zeros after its magic number",
      Buffer.concat([Buffer.from("OggS"), Buffer.alloc(1000)]),
      "ogg",
      "does not begin with the first page",
    ],
    [
      "is an executable",
      Buffer.concat([Buffer.from("\x7fELF"), Buffer.alloc(1000)]),
      "wav",
      "is not a WAV file",
    ],
  ])("%s", async (_, file, container, reason) => {
    expect((await parse(file, container)).header).toEqual(problem(reason));
  });
});

describe("a WAV file", () => {
  const patched = (change: (file: Buffer) => void, file = wav({ durationMs: 1000 })) => {
    change(file);
    return file;
  };

  it("that was written to a pipe has the length of the file", async () => {
    for (const size of [0, 0xffffffff]) {
      const { header } = await parse(
        patched((file) => file.writeUInt32LE(size, 40)),
        "wav",
      );
      expect(header).toMatchObject({ durationMs: 1000 });
    }
  });

  it("without samples is rejected although chunks follow its data, unless its size was left open", async () => {
    const chunk = (name: string, body: Buffer) => {
      const head = Buffer.from(`${name}\0\0\0\0`, "latin1");
      head.writeUInt32LE(body.length, 4);
      return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
    };
    const [start, samples] = [wav({ durationMs: 0 }), wav({ durationMs: 1000 }).subarray(44)];
    const [notes, name] = [chunk("LIST", Buffer.from("INFO")), chunk("iXML", Buffer.from("<BWFXML/>"))];
    const origin = chunk("bext", Buffer.alloc(70_000));
    const headerOf = async (...parts: Buffer[]) =>
      (await parse(Buffer.concat([start, ...parts]), "wav")).header;
    for (const tail of [[notes], [origin, notes], [notes, name], [name.subarray(0, -1)]])
      expect(await headerOf(...tail)).toEqual(problem("contains no audio"));
    for (const body of [
      [samples],
      [notes, samples],
      [origin.subarray(0, -2)],
      [chunk("data", samples)],
      [chunk("\0\0\x01\0", samples)],
    ])
      expect(await headerOf(...body)).toMatchObject({
        durationMs: Math.round(Buffer.concat(body).length / 32),
      });
  });

  it.each(["RF64", "BW64"])(
    "with the magic number %s has its length in a chunk before the format",
    async (magic) => {
      const [base, sizes] = [wav({ durationMs: 1000 }), Buffer.alloc(8 + 28)];
      base.write(magic, 0, "latin1");
      base.writeUInt32LE(0xffffffff, 40);
      sizes.write("ds64", 0, "latin1");
      sizes.writeUInt32LE(28, 4);
      const file = (dataBytes: bigint) => {
        sizes.writeBigUInt64LE(dataBytes, 16);
        const behind = Buffer.from(`LIST\x00\x10\x00\x00${"INFO".repeat(1024)}`, "latin1");
        return Buffer.concat([base.subarray(0, 12), sizes, base.subarray(12), behind]);
      };
      const facts = { codec: "pcm16", sampleRateHz: 16_000, channels: 1 };
      expect((await parse(file(32_000n), "wav")).header).toEqual({ ...facts, durationMs: 1000 });
      // A false length counts as the distance to the end of the file, as with 32-bit lengths.
      const durationMs = Math.round((32_000 + 8 + 4096) / 32);
      for (const lie of [0n, 1n << 40n, (1n << 64n) - 1n])
        expect((await parse(file(lie), "wav")).header).toEqual({ ...facts, durationMs });
      const { header } = await parse(file(32_000n).subarray(0, 40), "wav");
      expect(header).toEqual(problem("has no data chunk"));
    },
  );

  it("can have chunks of any length before its samples, which the parser skips in few reads", async () => {
    const base = wav({ durationMs: 1000 });
    const list = Buffer.alloc(200_001 + 8 + 1);
    list.write("LIST", 0, "latin1");
    list.writeUInt32LE(200_001, 4);
    const { header, reads } = await parse(
      Buffer.concat([base.subarray(0, 36), list, base.subarray(36)]),
      "wav",
    );
    expect(header).toMatchObject({ durationMs: 1000 });
    expect(reads.length).toBeLessThanOrEqual(3);
  });

  it("with endless chunks is rejected after a bounded number of reads", async () => {
    const chunks = Buffer.concat(
      Array.from({ length: 500 }, () => Buffer.from("junk\x00\x00\x00\x00", "latin1")),
    );
    const { header } = await parse(Buffer.concat([wav().subarray(0, 12), chunks]), "wav");
    expect(header).toEqual(problem("has no data chunk"));
  });

  it.each<[string, (file: Buffer) => void, string]>([
    ["no channels", (file) => file.writeUInt16LE(0, 22), "contradicts itself"],
    ["9 channels", (file) => patchChannels(file, 9), "9 channels are not supported"],
    ["4 kHz", (file) => file.writeUInt32LE(4000, 24), "sample rate of 4000 Hz is not supported"],
    ["400 kHz", (file) => file.writeUInt32LE(400_000, 24), "sample rate of 400000 Hz is not supported"],
    ["a sample rate of zero", (file) => file.writeUInt32LE(0, 24), "contradicts itself"],
    ["a wrong frame size", (file) => file.writeUInt16LE(3, 32), "contradicts itself"],
    ["12 bits per sample", (file) => file.writeUInt16LE(12, 34), "codec of the WAV file is not supported"],
    ["a GSM format", (file) => file.writeUInt16LE(0x31, 20), "codec of the WAV file is not supported"],
    ["no data chunk", (file) => file.write("LIST", 36, "latin1"), "has no data chunk"],
    ["a truncated format chunk", truncateFormat, "format chunk of the WAV file is truncated"],
  ])("with %s is rejected", async (_, change, reason) => {
    expect((await parse(patched(change), "wav")).header).toEqual(problem(reason));
  });

  it("of more than 12 hours is rejected by its header", async () => {
    const file = patched((bytes) => {
      bytes.writeUInt32LE(8000, 24);
      bytes.writeUInt16LE(1, 32);
      bytes.writeUInt16LE(8, 34);
      bytes.writeUInt32LE(0xffffffff, 40);
    });
    const size = 8000 * 3600 * 12 + 10_000;
    const read = async (start: number, end: number) => file.subarray(start, end + 1);
    expect(await readAudioHeader(read, size, "wav")).toEqual({
      problem: "The audio is longer than 12 hours",
    });
  });
});

function patchChannels(file: Buffer, channels: number): void {
  file.writeUInt16LE(channels, 22);
  file.writeUInt16LE(channels * 2, 32);
}

/** Leaves 8 of the format chunk's 16 bytes, and puts an empty chunk in the place of the others. */
function truncateFormat(file: Buffer): void {
  file.writeUInt32LE(8, 16);
  file.write("LIST\x00\x00\x00\x00", 28, "latin1");
}

describe("the header parser", () => {
  it("leaves the length open for a FLAC file whose header has none", async () => {
    const file = Buffer.from(fixture("tone.flac"));
    file.writeUInt8(file.readUInt8(21) & 0xf0, 21);
    file.writeUInt32BE(0, 22);
    expect((await parse(file, "flac")).header).toMatchObject({ codec: "flac", durationMs: null });
  });

  it("refuses a FLAC file whose samples have more bits than the workers decode", async () => {
    const file = Buffer.from(fixture("tone.flac"));
    const headerOf = async (bits: number) => {
      const packed = file.readBigUInt64BE(18) & ~(0x1fn << 36n);
      file.writeBigUInt64BE(packed | (BigInt(bits - 1) << 36n), 18);
      return (await parse(file, "flac")).header;
    };
    for (const bits of [8, 12, 16, 20, 24]) expect(await headerOf(bits)).toMatchObject({ durationMs: 1000 });
    expect(await headerOf(32)).toEqual(
      problem("32 bits per sample is not supported; convert the file to 24"),
    );
  });

  it("accepts an Ogg file with a truncated end and uses its last whole page or no length", async () => {
    const file = fixture("tone-vorbis.ogg");
    const last = file.lastIndexOf("OggS");
    const { header } = await parse(file.subarray(0, last + 5), "ogg");
    expect(header).toMatchObject({ codec: "vorbis" });
  });

  it("skips an MP3 tag with a large picture in one more read, and rejects a tag with a false length", async () => {
    const sound = fixture("tone-cbr.mp3");
    const tag = id3(300_000);
    const { header, reads } = await parse(Buffer.concat([tag, sound]), "mp3");
    expect(header).toMatchObject({ codec: "mp3", sampleRateHz: 16_000 });
    expect(reads.length).toBeLessThanOrEqual(5);
    tag.fill(0x7f, 6, 10);
    const { header: refusal } = await parse(Buffer.concat([tag, sound]), "mp3");
    expect(refusal).toEqual(problem("is not an MP3 file"));
  });

  it("never throws and never reads much for random bytes after a magic number", async () => {
    const magics: [string, AudioContainer][] = [
      ["RIFF....WAVE", "wav"],
      ["RF64....WAVEds64", "wav"],
      ["fLaC", "flac"],
      ["OggS", "ogg"],
      ["ID3", "mp3"],
      ["\xff\xfb", "mp3"],
    ];
    let state = 12345;
    const next = () => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state >>> 16;
    };
    for (let round = 0; round < 400; round++) {
      const [magic, container] = magics[round % magics.length] as [string, AudioContainer];
      const file = Buffer.from(Array.from({ length: 64 + (next() % 3000) }, () => next() & 0xff));
      file.write(magic, 0, "latin1");
      const { reads } = await parse(file, container);
      expect(reads.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
    }
  });

  it("rejects a FLAC header that declares hours in a few bytes, as the decoder does", async () => {
    const file = Buffer.from(fixture("tone.flac"));
    const samples = (seconds: number) => {
      const packed = file.readBigUInt64BE(18);
      file.writeBigUInt64BE((packed & ~0xfffffffffn) | BigInt(seconds * 16_000), 18);
      return file;
    };
    expect((await parse(samples(60), "flac")).header).toMatchObject({ durationMs: 60_000 });
    for (const [hours, reason] of [
      [11, "more audio than a file of this size can contain"],
      [13, "longer than 12 hours"],
    ] as const)
      expect((await parse(samples(hours * 3_600), "flac")).header).toEqual(problem(reason));
  });

  it.each<[string, AudioContainer]>([
    ["tone.flac", "flac"],
    ["tone-vorbis.ogg", "ogg"],
    ["tone-opus.ogg", "ogg"],
    ["tone-extensible.wav", "wav"],
    ["tone-float.wav", "wav"],
    ["tone-cbr.mp3", "mp3"],
    ["tone-vbr.mp3", "mp3"],
  ])(
    "accepts or rejects %s and never throws after it was truncated anywhere or its bytes were changed",
    async (name, container) => {
      const original = fixture(name);
      const check = async (file: Buffer) => {
        const { header, reads } = await parse(file, container);
        expect(reads.length).toBeLessThan(80);
        if ("problem" in header) return;
        expect(header.sampleRateHz).toBeGreaterThanOrEqual(8_000);
        expect(header.sampleRateHz).toBeLessThanOrEqual(192_000);
        expect(Number.isInteger(header.sampleRateHz)).toBe(true);
        expect(header.channels).toBeGreaterThanOrEqual(1);
        expect(header.channels).toBeLessThanOrEqual(8);
        if (header.durationMs === null) return;
        expect(Number.isInteger(header.durationMs)).toBe(true);
        expect(header.durationMs).toBeGreaterThan(0);
        expect(header.durationMs).toBeLessThanOrEqual(12 * 3_600_000);
      };
      for (let length = 0; length < Math.min(original.length, 400); length++)
        await check(original.subarray(0, length));
      for (let round = 0; round < 1_500; round++) {
        const file = Buffer.from(original);
        // The generator is deterministic, so that a failure can be reproduced.
        for (let i = 0; i <= round % 4; i++) {
          const at = (round * 7_919 + i * 104_729) % Math.min(file.length, 300);
          file[at] = (round * 31 + i * 17) % 256;
        }
        await check(file);
      }
    },
  );
});
