// The filter of detections, what is played of a recording, and the columns of a waveform.
import { describe, expect, it } from "vitest";
import {
  countsByType,
  exactly,
  filtered,
  neighbour,
  parseShare,
  reportedFrom,
  stretchOf,
} from "../../web/src/listening/filter.ts";
import { columnsOf, lengthMs, nearest, placeOf, timeAt, windowOf } from "../../web/src/listening/peaks.ts";

const detection = (id: string, artifact_type: string, confidence: number) => ({
  id,
  artifact_type,
  confidence,
});
const list = [detection("1", "click", 0.6), detection("2", "hum", 0.59), detection("3", "click", 0.9)];

describe("the filter", () => {
  it("shows detections from the threshold on, except those of hidden types", () => {
    const ids = (min: number, ...hidden: string[]) =>
      filtered(list, { min, hidden: new Set(hidden) }).map(({ id }) => id);
    expect([ids(0), ids(0.6), ids(0.59, "click"), ids(1)]).toEqual([["1", "2", "3"], ["1", "3"], ["2"], []]);
  });

  it("counts each type with and without the threshold", () =>
    expect(countsByType(list, 0.6)).toEqual([
      { type: "click", shown: 2, total: 2 },
      { type: "hum", shown: 0, total: 1 },
    ]));

  it("names the lowest confidence that the job reported, from its settings or the model", () => {
    const metrics = { per_type: { click: { threshold: 0.55 }, hum: { threshold: null } } };
    const from = (type: string, config: object) => reportedFrom(type, { ...config }, metrics);
    const config = { threshold: 0.3, thresholds: { hum: 0.2 } };
    expect([from("click", config), from("hum", config)]).toEqual([0.3, 0.2]);
    expect([
      from("click", { threshold: null, thresholds: {} }),
      from("hum", {}),
      from("toString", {}),
    ]).toEqual([0.55, null, null]);
  });

  it.each([
    ["0.25", 0.25],
    ["0", 0],
    ["1.1", 0.5],
    ["-1", 0.5],
    ["x", 0.5],
    ["", 0.5],
    [null, 0.5],
  ])("reads %j of the address", (text, share) => expect(parseShare(text, 0.5)).toBe(share));
});

describe("listening", () => {
  it("begins half a second before and ends half a second after, within the recording", () => {
    expect(stretchOf({ start_ms: 1_250, end_ms: 1_310 }, 60_000)).toEqual({ fromMs: 750, toMs: 1_810 });
    expect(stretchOf({ start_ms: 200, end_ms: 900 }, 1_000)).toEqual({ fromMs: 0, toMs: 1_000 });
    expect(stretchOf({ start_ms: 0, end_ms: 10 }, null).toMs).toBe(510);
  });

  it("goes to the next and the one before", () => {
    const at = (chosen: string | undefined, step: 1 | -1) => neighbour(list, chosen, step)?.id;
    expect([at(undefined, 1), at(undefined, -1), at("1", 1), at("1", -1), at("3", 1)]).toEqual([
      "1",
      "3",
      "2",
      undefined,
      undefined,
    ]);
  });

  it.each([
    [0, "0:00.000"],
    [64_250, "1:04.250"],
    [3_605_007, "1:00:05.007"],
  ])("writes %i ms as %s", (ms, text) => expect(exactly(ms)).toBe(text));
});

describe("a waveform", () => {
  // Four pixels of a tenth of a second, two channels.
  const peaks = {
    channels: 2,
    sample_rate: 1_000,
    samples_per_pixel: 100,
    length: 4,
    data: [-10, 10, -64, 5, 0, 0, 0, 0, -128, 64, 0, 0, 0, 0, 0, 127],
  };

  it("has the extremes of all channels in each column", () => {
    expect(lengthMs(peaks)).toBe(400);
    expect(columnsOf(peaks, 2, 0, 400)).toEqual([
      { low: -0.5, high: 10 / 128 },
      { low: -1, high: 127 / 128 },
    ]);
    expect(columnsOf(peaks, 4, 0, 400)[1]).toEqual({ low: 0, high: 0 });
  });

  it("repeats a pixel when it is drawn wider than it was measured, and is silent beyond its end", () => {
    expect(columnsOf(peaks, 4, 200, 240).every(({ low }) => low === -1)).toBe(true);
    expect(columnsOf(peaks, 2, 400, 800)).toEqual([
      { low: 0, high: 0 },
      { low: 0, high: 0 },
    ]);
  });

  it("shows a part of the recording around a time, and never more than all of it", () => {
    expect(windowOf(60_000, 1, 30_000)).toEqual([0, 60_000]);
    expect(windowOf(60_000, 4, 30_000)).toEqual([22_500, 37_500]);
    expect(windowOf(60_000, 4, 1_000)).toEqual([0, 15_000]);
    expect(windowOf(60_000, 4, 59_000)).toEqual([45_000, 60_000]);
  });

  it("turns places into times and back", () => {
    expect(timeAt(50, 100, 1_000, 3_000)).toBe(2_000);
    expect(timeAt(500, 100, 1_000, 3_000)).toBe(3_000);
    expect(placeOf(2_000, 100, 1_000, 3_000)).toBe(50);
  });

  it("finds the detection that was meant by a click", () => {
    const spans = [
      { start_ms: 0, end_ms: 10 },
      { start_ms: 100, end_ms: 200 },
    ];
    expect([nearest(spans, 150), nearest(spans, 50), nearest(spans, 70), nearest([], 1)]).toEqual([
      spans[1],
      spans[0],
      spans[1],
      undefined,
    ]);
  });
});
