// What the editor makes of audio: waveforms in columns, parts of WAV files, spectrograms, zero crossings.
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeAudioSource } from "../../web/src/editor/audio-source.ts";
import { columnsOf, columnsOfSamples, peaksOf } from "../../web/src/editor/peaks.ts";
import { fft, spectrogramOf } from "../../web/src/editor/spectrogram.ts";
import { byteRangeOf, samplesOf, wavFormatOf } from "../../web/src/editor/wav.ts";
import { nearestCrossing } from "../../web/src/editor/zero-crossing.ts";
import { wav } from "../support/audio.ts";

vi.mock("../../web/src/app/api.ts", () => ({
  api: { GET: async () => ({ url: "https://store.example/file", expires_at: "2100-01-01T00:00:00Z" }) },
  body: (call: unknown) => call,
}));

describe("waveforms", () => {
  it("keep the extremes of what a column covers", () => {
    const data = new Array(2_000).fill(0);
    data[1_001] = 100;
    data[1_000] = -120;
    const peaks = peaksOf({ data, channels: 1, sample_rate: 1_000, samples_per_pixel: 10, length: 1_000 });
    const columns = columnsOf(peaks, { fromMs: 0, toMs: 10_000 }, 10);
    expect([...columns].filter((value) => value !== 0)).toEqual([-120 / 128, 100 / 128].map(Math.fround));
    expect(columns[10]).toBe(Math.fround(-120 / 128));
  });

  it("join channels", () =>
    expect([
      ...peaksOf({ data: [-1, 5, -9, 2], channels: 2, sample_rate: 1, samples_per_pixel: 1, length: 1 }).data,
    ]).toEqual([-9, 5]));

  it("are drawn of samples too, where those are", () => {
    const samples = { data: Float32Array.of(0, 0.5, -0.5, 0), rate: 1_000, fromMs: 100 };
    expect([...columnsOfSamples(samples, { fromMs: 98, toMs: 106 }, 2)]).toEqual([-0.5, 0.5, -0.5, 0]);
  });
});

describe("parts of WAV files", () => {
  const bytesOf = (buffer: Buffer) => new Uint8Array(buffer).buffer;

  it("are found by time, and hold the samples of that time", () => {
    const file = wav({ durationMs: 1_000, sampleRateHz: 8_000, channels: 2 });
    const format = wavFormatOf(bytesOf(file.subarray(0, 100)), file.length)!;
    expect(format).toMatchObject({ rate: 8_000, channels: 2, kind: "pcm16", dataFrom: 44 });
    const part = byteRangeOf(format, 250, 500)!;
    expect(part).toEqual({ first: 44 + 2_000 * 4, last: 44 + 4_000 * 4 - 1, fromMs: 250 });
    const samples = samplesOf(bytesOf(file.subarray(part.first, part.last + 1)), format);
    expect(samples).toHaveLength(2_000);
    expect(samples[10]).toBeCloseTo((8_000 / 32_768) * Math.sin((2 * Math.PI * 220 * 2_010) / 8_000), 3);
    expect(byteRangeOf(format, 250.06, 500)).toEqual(part);
    expect(byteRangeOf(format, 900, 5_000)?.last).toBe(file.length - 1);
    expect(byteRangeOf(format, 1_000, 2_000)).toBeUndefined();
  });

  it("have samples of 8, 16, 24 and 32 bits, and floats", () => {
    const view = new DataView(new ArrayBuffer(4));
    const read = (kind: "pcm8" | "pcm24" | "pcm32" | "float32", bytesPerFrame: number) =>
      samplesOf(view.buffer.slice(0, bytesPerFrame), {
        kind,
        bytesPerFrame,
        channels: 1,
        rate: 8_000,
        dataFrom: 0,
        dataBytes: 4,
      })[0];
    view.setUint8(0, 192);
    expect(read("pcm8", 1)).toBe(0.5);
    view.setUint8(0, 0);
    view.setUint8(1, 0);
    view.setInt8(2, -64);
    expect(read("pcm24", 3)).toBe(-0.5);
    view.setInt32(0, 2 ** 30, true);
    expect(read("pcm32", 4)).toBe(0.5);
    view.setFloat32(0, -0.25, true);
    expect(read("float32", 4)).toBe(-0.25);
  });

  it("are not read of other files, nor of broken headers", () => {
    const good = wav();
    const broken = (change: (copy: Buffer) => void) => {
      const copy = Buffer.from(good);
      change(copy);
      return wavFormatOf(bytesOf(copy), copy.length);
    };
    expect(wavFormatOf(new ArrayBuffer(0), 0)).toBeUndefined();
    expect(wavFormatOf(bytesOf(Buffer.from("fLaC and more of it, much more")), 30)).toBeUndefined();
    expect(broken((copy) => copy.writeUInt16LE(0, 22))).toBeUndefined();
    expect(broken((copy) => copy.writeUInt16LE(85, 20))).toBeUndefined();
    expect(broken((copy) => copy.writeUInt32LE(0xffffffff, 16))).toBeUndefined();
    expect(broken((copy) => copy.writeUInt16LE(3, 32))).toBeUndefined();
    // A recorder that was interrupted: the length is not known.
    expect(broken((copy) => copy.writeUInt32LE(0xffffffff, 40))?.dataBytes).toBe(good.length - 44);
  });
});

describe("the samples of a range", () => {
  const seconds = 400;
  const file = wav({ durationMs: seconds * 1000, sampleRateHz: 1_000 });
  /** The first bytes of requests that are not answered yet, and how to answer them. */
  let held: (() => void)[] = [];
  let isHolding = false;

  const source = () => {
    held = [];
    isHolding = false;
    vi.stubGlobal("fetch", async (_: string, { headers }: { headers: { Range: string } }) => {
      const [first = 0, last = 0] = headers.Range.replace("bytes=", "").split("-").map(Number);
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return new Response(new Uint8Array(file.subarray(first, last + 1)), { status: 206 });
    });
    return makeAudioSource(
      { datasetId: "d", fileId: "f" },
      { sizeBytes: file.length, durationMs: seconds * 1000 },
    );
  };
  const part = (second: number, length = 20) => ({ fromMs: second * 1000, toMs: (second + length) * 1000 });

  afterEach(() => vi.unstubAllGlobals());

  it("are there again after many other ranges, also if some of them were loaded first of all", async () => {
    const audio = source();
    expect((await audio.load(part(10)))?.data).toHaveLength(20_000);
    // 40 blocks of 5 seconds stay: those of the first range are the oldest.
    for (let second = 30; second < 210; second += 20) await audio.load(part(second));
    expect((await audio.load(part(0)))?.data).toHaveLength(20_000);
    expect(audio.loaded(part(0))?.data).toHaveLength(20_000);
  });

  it("come although the answers for other ranges come in between", async () => {
    const audio = source();
    await audio.load(part(0));
    isHolding = true;
    const first = audio.load(part(20));
    const others = Array.from({ length: 10 }, (_, i) => audio.load(part(50 + i * 20)));
    await vi.waitFor(() => expect(held).toHaveLength(44));
    const [last, ...rest] = held;
    for (const answer of rest) answer();
    await Promise.all(others);
    last?.();
    expect((await first)?.data).toHaveLength(20_000);
  });
});

describe("a spectrogram", () => {
  it("is a Fourier transform", () => {
    const n = 64;
    const re = Float32Array.from({ length: n }, (_, i) => Math.cos((2 * Math.PI * 5 * i) / n));
    const im = new Float32Array(n);
    fft(re, im);
    for (let bin = 0; bin < n; bin++)
      expect(Math.hypot(re[bin] ?? 0, im[bin] ?? 0)).toBeCloseTo(bin === 5 || bin === 59 ? n / 2 : 0, 3);
  });

  it("shows a tone as a bright line at its frequency, only while it sounds", () => {
    const rate = 16_000;
    const data = Float32Array.from({ length: rate }, (_, i) =>
      i < rate / 2 ? Math.sin((2 * Math.PI * 2_000 * i) / rate) : 0,
    );
    const { pixels } = spectrogramOf({ data, rate, fromMs: 0 }, { fromMs: 0, toMs: 1_000 }, 40, 32);
    const brightness = (x: number, y: number) => pixels[(y * 40 + x) * 4] ?? 0;
    const rows = Array.from({ length: 32 }, (_, y) => y);
    // 2 kHz of 8 kHz: a quarter from below.
    const brightest = rows.reduce((best, y) => (brightness(10, y) > brightness(10, best) ? y : best), 0);
    expect(Math.abs(brightest - 24)).toBeLessThanOrEqual(1);
    expect(brightness(10, brightest)).toBeGreaterThan(200);
    expect(Math.max(...rows.map((y) => brightness(30, y)))).toBeLessThan(30);
  });
});

describe("zero crossings", () => {
  const samples = {
    data: Float32Array.from({ length: 1_000 }, (_, i) => Math.sin((2 * Math.PI * (i + 0.5)) / 100)),
    rate: 10_000,
    fromMs: 1_000,
  };

  it("attract a time that is near, to between the samples", () => {
    expect(nearestCrossing(samples, 1_004)).toBeCloseTo(1_004.95, 2);
    expect(nearestCrossing(samples, 1_004, 0.5)).toBe(1_004);
  });

  it("are not in silence or outside of what is known", () => {
    expect(nearestCrossing({ ...samples, data: new Float32Array(1_000) }, 1_004)).toBe(1_004);
    expect(nearestCrossing(samples, 9_000)).toBe(9_000);
  });
});
