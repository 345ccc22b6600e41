// The editor without a page: regions, undo, keys, times, the visible range, waveforms, WAV parts, spectrograms, suggestions,
// agreement.
import { describe, expect, it } from "vitest";
import { agreementOf, type Span } from "../../web/src/editor/agreement.ts";
import {
  applied,
  changed,
  created,
  noHistory,
  record,
  redo,
  removed,
  undo,
} from "../../web/src/editor/history.ts";
import {
  actions,
  defaultKeymap,
  faultOfKey,
  keyOf,
  meaningOf,
  parseKeymap,
  shownKey,
} from "../../web/src/editor/keymap.ts";
import { nextUnreviewed } from "../../web/src/editor/next-file.ts";
import { columnsOf, columnsOfSamples, peaksOf } from "../../web/src/editor/peaks.ts";
import { following, marksOf, moved, showing, within, zoomed } from "../../web/src/editor/range.ts";
import {
  fitted,
  neighbor,
  type Region,
  regionAt,
  regionsOf,
  visibleIn,
} from "../../web/src/editor/region.ts";
import { fft, spectrogramOf } from "../../web/src/editor/spectrogram.ts";
import { acceptedAs, openSuggestions, type Suggestion } from "../../web/src/editor/suggestions.ts";
import { clockOf, handleText, parseClock, wordsOf } from "../../web/src/editor/times.ts";
import { byteRangeOf, samplesOf, wavFormatOf } from "../../web/src/editor/wav.ts";
import { nearestCrossing } from "../../web/src/editor/zero-crossing.ts";
import { wav } from "../support/audio.ts";

const region = (key: string, startMs: number, endMs: number, type = "click"): Region => ({
  key,
  type,
  startMs,
  endMs,
  confidence: 1,
  annotator: null,
  extraData: {},
});

describe("regions", () => {
  it("are found like in a plain list, also when a long one reaches over many", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const list = Array.from({ length: 2_000 }, (_, i) => {
      const start = random(7_200_000);
      return region(`r${i}`, start, start + (i % 100 === 0 ? random(2_000_000) : random(400)));
    });
    const regions = regionsOf(list);
    for (let i = 0; i < 200; i++) {
      const from = random(7_200_000);
      const to = from + random(60_000);
      const plain = list.filter((r) => r.endMs >= from && r.startMs <= to).map(({ key }) => key);
      expect(
        visibleIn(regions, from, to)
          .map(({ key }) => key)
          .sort(),
      ).toEqual(plain.sort());
    }
  });

  it("have neighbours by the chosen one, or by the time", () => {
    const { list } = regionsOf([region("b", 200, 210), region("a", 100, 900), region("c", 300, 310)]);
    expect(neighbor(list, "b", 0, 1)?.key).toBe("c");
    expect(neighbor(list, "b", 0, -1)?.key).toBe("a");
    expect(neighbor(list, "c", 0, 1)).toBeUndefined();
    expect(neighbor(list, undefined, 150, 1)?.key).toBe("b");
    expect(neighbor(list, undefined, 200.2, 1)?.key).toBe("b");
    expect(neighbor(list, undefined, 150, -1)?.key).toBe("a");
    expect(neighbor(list, undefined, 200.2, -1)?.key).toBe("a");
  });

  it("are hit at a point: the shortest of them, in their lane", () => {
    const regions = regionsOf([
      region("long", 0, 1_000),
      region("short", 400, 410),
      region("hum", 405, 409, "hum"),
    ]);
    expect(regionAt(regions, "click", 405, 1)?.key).toBe("short");
    expect(regionAt(regions, "click", 500, 1)?.key).toBe("long");
    expect(regionAt(regions, "hum", 500, 1)).toBeUndefined();
  });

  it("fit the service: whole milliseconds, inside of the file, start before end", () => {
    expect(fitted(region("a", 90.6, -3), 1_000)).toMatchObject({ startMs: 0, endMs: 91 });
    expect(fitted(region("a", 10, 5_000), 1_000.7)).toMatchObject({ startMs: 10, endMs: 1_000 });
  });
});

describe("undo", () => {
  const [a, b] = [region("a", 1, 2), region("b", 3, 4)];

  it("takes back and does again, step by step, to the beginning", () => {
    let [regions, history] = [new Map<string, Region>(), noHistory];
    const steps = [[created(a)], [created(b)], [changed(a, { ...a, endMs: 9 })], [removed(b)]];
    const states = [regions];
    for (const [i, edits] of steps.entries()) {
      history = record(history, { what: `step ${i}`, edits, at: i * 10_000 });
      regions = applied(regions, edits);
      states.push(regions);
    }
    for (let i = steps.length - 1; i >= 0; i--) {
      const back = undo(history);
      history = back?.history ?? history;
      regions = applied(regions, back?.edits ?? []);
      expect(regions).toEqual(states[i]);
    }
    expect(undo(history)).toBeUndefined();
    for (let i = 1; i <= steps.length; i++) {
      const forward = redo(history);
      history = forward?.history ?? history;
      regions = applied(regions, forward?.edits ?? []);
      expect(regions).toEqual(states[i]);
    }
    expect(redo(history)).toBeUndefined();
  });

  it("takes nudges of one handle back at once, and ends what could be done again with a new step", () => {
    const [first, second] = [
      { ...a, endMs: 5 },
      { ...a, endMs: 6 },
    ];
    const nudge = (before: Region, after: Region, at: number) => ({
      what: "Move the end",
      edits: [changed(before, after)],
      at,
    });
    let history = record(noHistory, nudge(a, first, 0), true);
    history = record(history, nudge(first, second, 300), true);
    expect(history.done).toHaveLength(1);
    expect(undo(history)?.edits).toEqual([{ before: second, after: a }]);
    expect(record(history, nudge(second, a, 5_000), true).done).toHaveLength(2);
    const undone = undo(history)?.history ?? history;
    expect(record(undone, nudge(a, second, 6_000)).undone).toEqual([]);
  });
});

describe("keys", () => {
  const press = (key: string, over = {}) =>
    keyOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...over });

  it.each([
    ["z", {}, "Z"],
    ["Z", { shiftKey: true }, "Shift+Z"],
    [" ", {}, "Space"],
    ["<", { shiftKey: true }, "<"],
    ["?", { shiftKey: true }, "?"],
    ["=", {}, "+"],
    ["[", { ctrlKey: true, altKey: true }, "["],
    ["Backspace", {}, "Delete"],
    ["ArrowLeft", {}, "ArrowLeft"],
    ["z", { ctrlKey: true }, undefined],
    ["j", { altKey: true }, undefined],
    ["Tab", {}, undefined],
    ["Shift", { shiftKey: true }, undefined],
  ])("%j %j is %j", (key, over, name) => expect(press(key, over)).toBe(name));

  it("are all different, and digits choose types", () => {
    expect(new Set(Object.values(defaultKeymap)).size).toBe(actions.length);
    for (const action of actions) expect(meaningOf(defaultKeymap, defaultKeymap[action])).toEqual({ action });
    expect(meaningOf(defaultKeymap, "3")).toEqual({ type: 2 });
    expect(meaningOf(defaultKeymap, "Y")).toBeUndefined();
  });

  it("can be changed, but not to a digit or to a key that is taken", () => {
    expect(faultOfKey(defaultKeymap, "play", "P")).toBeUndefined();
    expect(faultOfKey(defaultKeymap, "play", "Space")).toBeUndefined();
    expect(faultOfKey(defaultKeymap, "play", "Z")).toContain("Undo");
    expect(faultOfKey(defaultKeymap, "play", "4")).toBeDefined();
  });

  it("come back from the browser, with exchanged ones, and without what makes no sense", () => {
    expect(parseKeymap('{"play":"P"}')).toEqual({ ...defaultKeymap, play: "P" });
    expect(parseKeymap('{"next":"J","previous":"L"}')).toMatchObject({ next: "J", previous: "L" });
    for (const text of [null, "", "[]", "{", "7", '{"play":"Z"}', '{"play":3}', '{"fly":"P"}'])
      expect(parseKeymap(text)).toEqual(defaultKeymap);
  });

  it("are shown as on a keyboard", () =>
    expect([shownKey("Shift+Z"), shownKey("+"), shownKey("ArrowLeft")]).toEqual([
      ["Shift", "Z"],
      ["+"],
      ["←"],
    ]));
});

describe("times", () => {
  it.each([
    [0, "0:00.000"],
    [62_345, "1:02.345"],
    [3_723_004, "1:02:03.004"],
    [59_999.6, "1:00.000"],
  ])("%d ms are written %s", (ms, text) => expect(clockOf(ms)).toBe(text));

  it("are rounded to the digits that are shown", () =>
    expect([clockOf(1_960, 1), clockOf(1_499, 0), clockOf(61_996, 2)]).toEqual([
      "0:02.0",
      "0:01",
      "1:02.00",
    ]));

  it.each([
    ["1:02.345", 62_345],
    ["62.3", 62_300],
    [" 1:00:02,5 ", 3_602_500],
    ["0", 0],
    ["", undefined],
    ["1:2:3:4", undefined],
    ["-1", undefined],
    ["1e3", undefined],
    ["1:02.345.6", undefined],
  ])("%j is read as %j", (text, ms) => expect(parseClock(text)).toBe(ms));

  it("are read back as they were written", () => {
    for (let ms = 0; ms < 40_000_000; ms += 99_991) expect(parseClock(clockOf(ms))).toBe(ms);
  });

  it("are said in words", () => {
    expect(wordsOf("click", 1_250, 1_310)).toBe("click, 1.25 to 1.31 s");
    expect(wordsOf("click", 1_250, 1_250)).toBe("click, at 1.25 s");
    expect(handleText("start", 1_234)).toBe("start 1.234 seconds");
  });
});

describe("the visible range", () => {
  it("stays in the file, and zooms around a time that stays where it is", () => {
    expect(within({ fromMs: -50, toMs: 50 }, 1_000)).toEqual({ fromMs: 0, toMs: 100 });
    expect(moved({ fromMs: 800, toMs: 900 }, 500, 1_000)).toEqual({ fromMs: 900, toMs: 1_000 });
    const range = { fromMs: 2_000, toMs: 4_000 };
    const near = zoomed(range, 2, 2_500, 10_000);
    expect(near).toEqual({ fromMs: 2_250, toMs: 3_250 });
    expect(zoomed(near, 0.5, 2_500, 10_000)).toEqual(range);
    expect(zoomed(range, 1e9, 2_500, 10_000).toMs - zoomed(range, 1e9, 2_500, 10_000).fromMs).toBe(50);
    expect(zoomed(range, 0, 2_500, 10_000)).toEqual({ fromMs: 0, toMs: 10_000 });
  });

  it("shows a region with room around it, and does not move if it does", () => {
    const range = { fromMs: 0, toMs: 1_000 };
    expect(showing(range, 400, 500, 10_000)).toBe(range);
    const later = showing(range, 4_000, 4_100, 10_000);
    expect(later.fromMs < 4_000 && later.toMs > 4_100).toBe(true);
    const long = showing(range, 2_000, 6_000, 10_000);
    expect(long).toEqual({ fromMs: 1_000, toMs: 7_000 });
  });

  it("turns the page when the playhead leaves it", () => {
    const range = { fromMs: 0, toMs: 1_000 };
    expect(following(range, 500, 10_000)).toBe(range);
    expect(following(range, 1_001, 10_000)).toEqual({ fromMs: 951, toMs: 1_951 });
  });

  it("has marks at round times with the digits that they need", () => {
    expect(marksOf({ fromMs: 950, toMs: 3_100 }, 500)).toEqual({
      stepMs: 500,
      digits: 1,
      times: [1_000, 1_500, 2_000, 2_500, 3_000],
    });
    expect(marksOf({ fromMs: 0, toMs: 7_200_000 }, 1_000).times.length).toBeLessThan(12);
  });
});

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

describe("suggestions", () => {
  const suggestion = (id: string, startMs: number, over: Partial<Suggestion> = {}): Suggestion => ({
    id,
    jobId: "job",
    type: "click",
    startMs,
    endMs: startMs + 100,
    confidence: 0.9,
    ...over,
  });

  it("are open until a label says the same, somebody rejects them, or they are not sure enough", () => {
    const all = [
      suggestion("late", 5_000),
      suggestion("labelled", 1_010),
      suggestion("other type", 1_010, { type: "hum" }),
      suggestion("rejected", 3_000),
      suggestion("unsure", 4_000, { confidence: 0.2 }),
    ];
    const open = openSuggestions(all, [region("a", 1_000, 1_100)], new Set(["rejected"]), 0.5);
    expect(open.map(({ id }) => id)).toEqual(["other type", "late"]);
  });

  it("become labels that say where they come from", () => {
    const item = suggestion("x", 1_000);
    const label = acceptedAs(item, "key");
    expect(label).toMatchObject({ startMs: 1_000, confidence: 0.9, extraData: { inference_job_id: "job" } });
    expect(openSuggestions([item], [label], new Set(), 0)).toEqual([]);
  });
});

describe("agreement", () => {
  const span = (startMs: number, endMs: number, type = "click", fileId = "f"): Span => ({
    fileId,
    type,
    startMs,
    endMs,
  });

  it("counts what both have, what one has, and the score, per type", () => {
    const a = [span(100, 110), span(900, 910), span(2_000, 5_000, "hum")];
    const b = [span(140, 150), span(1_500, 1_510), span(2_150, 5_500, "hum")];
    const [click, hum] = agreementOf(a, b);
    expect([click?.matched.length, click?.onlyA, click?.onlyB, click?.f1]).toEqual([1, [a[1]], [b[1]], 0.5]);
    expect([hum?.matched.length, hum?.f1]).toEqual([1, 1]);
  });

  it("matches one to one, nearest first, and never across files or types", () => {
    const [result] = agreementOf([span(100, 110), span(130, 140)], [span(128, 138)]);
    expect(result?.matched[0]?.[0].startMs).toBe(130);
    expect(result?.onlyA).toHaveLength(1);
    expect(agreementOf([span(1, 2, "click", "f")], [span(1, 2, "click", "g")])[0]?.f1).toBe(0);
    expect(agreementOf([span(1, 2)], [span(1, 2, "hum")]).map(({ f1 }) => f1)).toEqual([0, 0]);
    expect(agreementOf([], [])).toEqual([]);
  });
});

describe("the next file", () => {
  it("is the first one behind that is not reviewed, or from the beginning", () => {
    const files = ["a", "b", "c", "d"];
    expect(nextUnreviewed(files, new Set(["c"]), "b")).toBe("d");
    expect(nextUnreviewed(files, new Set(["c", "d"]), "b")).toBe("a");
    expect(nextUnreviewed(files, new Set(["a", "c", "d"]), "b")).toBeUndefined();
    expect(nextUnreviewed(files, new Set(), "unknown")).toBe("a");
  });
});
