// Lengths that the header parsers accept, reject or leave to the decoder: frame counts, estimates and page positions.
import { describe, expect, it } from "vitest";
import { readAudioHeader } from "../../src/uploads/audio-header/read.ts";
import { fixture, id3, parse, problem } from "../support/audio-header.ts";

/** Parses the header of a file of `size` bytes of which only the first ones exist. */
const parseAs = async (file: Buffer, size: number) =>
  await readAudioHeader(async (start, end) => file.subarray(start, end + 1), size, "mp3");

describe("an MP3", () => {
  const [counted, plain] = [fixture("tone-vbr.mp3"), fixture("tone-cbr.mp3")];
  const withFrameCount = (frames: number) => {
    const file = Buffer.from(counted);
    const at = file.indexOf("Xing");
    expect(file.readUInt32BE(at + 4) & 1).toBe(1);
    file.writeUInt32BE(frames, at + 8);
    return file;
  };

  it("without a frame count, as a killed encoder leaves it, has no length yet", async () => {
    expect((await parse(withFrameCount(0), "mp3")).header).toMatchObject({
      sampleRateHz: 22_050,
      durationMs: null,
    });
  });

  it("with the frame count of another file has no length yet: a frame has at least 26 bytes here", async () => {
    const tag = counted.indexOf(Buffer.from([0xff, 0xf3]));
    const frames = 100_000;
    expect(await parseAs(withFrameCount(frames), tag + frames * 26 - 1)).toMatchObject({ durationMs: null });
    const durationMs = Math.round((frames * 576_000) / 22_050);
    expect(await parseAs(withFrameCount(frames), tag + frames * 26)).toMatchObject({ durationMs });
    for (const absurd of [2_000_000, 0xffffffff])
      expect((await parse(withFrameCount(absurd), "mp3")).header).toMatchObject({ durationMs: null });
  });

  it("with a plausible frame count of more than 12 hours is rejected", async () => {
    expect(await parseAs(withFrameCount(2_000_000), 60_000_000)).toEqual({
      problem: "The audio is longer than 12 hours",
    });
  });

  it("is never rejected for a length that was estimated from its first frame", async () => {
    const bytesPerHour = (32_000 / 8) * 3_600;
    expect(await parseAs(plain, 11 * bytesPerHour)).toMatchObject({ durationMs: 11 * 3_600_000 });
    expect(await parseAs(plain, 13 * bytesPerHour)).toMatchObject({ codec: "mp3", durationMs: null });
  });
});

describe("an MP3 with a tag longer than the first read", () => {
  const sound = fixture("tone-cbr.mp3");
  const tag = id3(100_000);
  it.each([
    ["is accepted when its frames follow at once", sound],
    ["is accepted when its frames follow zeros", Buffer.concat([Buffer.alloc(300), sound])],
    ["is accepted when its frames begin inside a frame", sound.subarray(700)],
    [
      "is accepted when its frames follow bytes that the tag does not count",
      Buffer.concat([Buffer.alloc(4_000, 7), sound]),
    ],
  ])("%s", async (_, rest) => {
    const { header } = await parse(Buffer.concat([tag, rest]), "mp3");
    expect(header).toMatchObject({ codec: "mp3", sampleRateHz: 16_000, channels: 1 });
  });

  it.each([
    ["an archive after the tag", Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(100), sound])],
    ["nothing but zeros after the tag", Buffer.alloc(200_000)],
    ["nothing after the tag", Buffer.alloc(0)],
  ])("is rejected with %s", async (_, rest) => {
    const { header } = await parse(Buffer.concat([tag, rest]), "mp3");
    expect(header).toEqual(problem("is not an MP3 file"));
  });
});

describe("an Ogg file", () => {
  /** Moves all positions by the same number of samples. */
  const later = (name: string, samples: bigint) => {
    const file = Buffer.from(fixture(name));
    for (let at = file.indexOf("OggS"); at >= 0; at = file.indexOf("OggS", at + 1)) {
      const position = file.readBigInt64LE(at + 6);
      if (position > 0n) file.writeBigInt64LE(position + samples, at + 6);
    }
    return file;
  };
  /** The longest page that ends no packet. A large cover picture consists of such pages. */
  const page = (serial: number) => {
    const bytes = Buffer.alloc(27 + 255 + 255 * 255);
    bytes.write("OggS", 0, "latin1");
    bytes.writeBigInt64LE(-1n, 6);
    bytes.writeUInt32LE(serial, 14);
    bytes.fill(255, 26, 27 + 255);
    return bytes;
  };

  it.each([
    ["tone-opus.ogg", 10n * 48_000n],
    ["tone-opus.ogg", 5n * 3_600n * 48_000n],
    ["tone-opus.ogg", 1n << 60n],
    ["tone-vorbis.ogg", 5n * 3_600n * 44_100n],
  ])(
    "recorded from the middle of a stream has no length yet (%s, first sample %d)",
    async (name, samples) => {
      expect((await parse(later(name, samples), "ogg")).header).toMatchObject({ durationMs: null });
    },
  );

  it("with only its last position out of range is rejected", async () => {
    for (const name of ["tone-opus.ogg", "tone-vorbis.ogg"]) {
      const file = Buffer.from(fixture(name));
      file.writeBigInt64LE(1n << 46n, file.lastIndexOf("OggS") + 6);
      expect((await parse(file, "ogg")).header).toEqual(problem("longer than 12 hours"));
    }
  });

  it("has its length after a large picture, and no length yet after pages without end, with few reads", async () => {
    const file = fixture("tone-opus.ogg");
    const [serial, second] = [file.readUInt32LE(14), file.indexOf("OggS", 4)];
    for (const [pages, durationMs] of [
      [10, 1000],
      [100, null],
    ] as const) {
      const cover = Array.from({ length: pages }, () => page(serial));
      const padded = Buffer.concat([file.subarray(0, second), ...cover, file.subarray(second)]);
      const { header, reads } = await parse(padded, "ogg");
      expect(header).toMatchObject({ codec: "opus", durationMs });
      expect(reads.length).toBeLessThan(70);
    }
  });
});
