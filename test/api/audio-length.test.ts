// Lengths that the header parsers believe, refuse or leave to the decoder: counts, guesses and positions.
import { describe, expect, it } from "vitest";
import { readAudioHeader } from "../../src/api/audio-header/read.ts";
import { fixture, id3, parse, problem } from "../support/audio-header.ts";

/** The header of a file of `size` bytes of which only the first ones are looked at. */
const parseAs = async (file: Buffer, size: number) =>
  await readAudioHeader(async (start, end) => file.subarray(start, end + 1), size, "mp3");

describe("an MP3 whose length", () => {
  const [counted, plain] = [fixture("tone-vbr.mp3"), fixture("tone-cbr.mp3")];
  const saying = (frames: number) => {
    const file = Buffer.from(counted);
    const at = file.indexOf("Xing");
    expect(file.readUInt32BE(at + 4) & 1).toBe(1);
    file.writeUInt32BE(frames, at + 8);
    return file;
  };

  it("was not written, by an encoder that was killed, has none yet", async () => {
    expect((await parse(saying(0), "mp3")).header).toMatchObject({ sampleRateHz: 22_050, durationMs: null });
  });

  it("is another file's has none yet: frames have a least size, here 26 bytes", async () => {
    const tag = counted.indexOf(Buffer.from([0xff, 0xf3]));
    const frames = 100_000;
    expect(await parseAs(saying(frames), tag + frames * 26 - 1)).toMatchObject({ durationMs: null });
    const durationMs = Math.round((frames * 576_000) / 22_050);
    expect(await parseAs(saying(frames), tag + frames * 26)).toMatchObject({ durationMs });
    for (const absurd of [2_000_000, 0xffffffff])
      expect((await parse(saying(absurd), "mp3")).header).toMatchObject({ durationMs: null });
  });

  it("is counted, can be true and is more than 12 hours is refused", async () => {
    expect(await parseAs(saying(2_000_000), 60_000_000)).toEqual({
      problem: "The audio is longer than 12 hours",
    });
  });

  it("is guessed by its first frame is never refused for that", async () => {
    const bytesPerHour = (32_000 / 8) * 3_600;
    expect(await parseAs(plain, 11 * bytesPerHour)).toMatchObject({ durationMs: 11 * 3_600_000 });
    expect(await parseAs(plain, 13 * bytesPerHour)).toMatchObject({ codec: "mp3", durationMs: null });
  });
});

describe("an MP3 behind a tag that is longer than the first read", () => {
  const sound = fixture("tone-cbr.mp3");
  const tag = id3(100_000);
  it.each([
    ["follows at once", sound],
    ["follows zeros", Buffer.concat([Buffer.alloc(300), sound])],
    ["begins amid a frame", sound.subarray(700)],
    ["follows what the tag does not tell of", Buffer.concat([Buffer.alloc(4_000, 7), sound])],
  ])("%s", async (_, rest) => {
    const { header } = await parse(Buffer.concat([tag, rest]), "mp3");
    expect(header).toMatchObject({ codec: "mp3", sampleRateHz: 16_000, channels: 1 });
  });

  it.each([
    ["an archive", Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(100), sound])],
    ["nothing but zeros", Buffer.alloc(200_000)],
    ["nothing", Buffer.alloc(0)],
  ])("is none with %s", async (_, rest) => {
    expect((await parse(Buffer.concat([tag, rest]), "mp3")).header).toEqual(problem);
  });
});

describe("an Ogg file", () => {
  /** All positions so much later. */
  const later = (name: string, samples: bigint) => {
    const file = Buffer.from(fixture(name));
    for (let at = file.indexOf("OggS"); at >= 0; at = file.indexOf("OggS", at + 1)) {
      const position = file.readBigInt64LE(at + 6);
      if (position > 0n) file.writeBigInt64LE(position + samples, at + 6);
    }
    return file;
  };
  /** The longest page that ends no packet, as those of a large cover picture. */
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
    "of a stream that was recorded from its middle on has no length yet (%s from %d on)",
    async (name, samples) => {
      expect((await parse(later(name, samples), "ogg")).header).toMatchObject({ durationMs: null });
    },
  );

  it("whose last position alone is absurd is refused", async () => {
    for (const name of ["tone-opus.ogg", "tone-vorbis.ogg"]) {
      const file = Buffer.from(fixture(name));
      file.writeBigInt64LE(1n << 46n, file.lastIndexOf("OggS") + 6);
      expect((await parse(file, "ogg")).header).toEqual(problem);
    }
  });

  it("has its length behind a large picture, and none yet behind pages without end; few reads tell", async () => {
    const file = fixture("tone-opus.ogg");
    const [serial, second] = [file.readUInt32LE(14), file.indexOf("OggS", 4)];
    for (const [pages, durationMs] of [
      [10, 1000],
      [100, null],
    ] as const) {
      const cover = Array.from({ length: pages }, () => page(serial));
      const whole = Buffer.concat([file.subarray(0, second), ...cover, file.subarray(second)]);
      const { header, reads } = await parse(whole, "ogg");
      expect(header).toMatchObject({ codec: "opus", durationMs });
      expect(reads.length).toBeLessThan(70);
    }
  });
});
