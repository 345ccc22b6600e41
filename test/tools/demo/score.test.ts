// The demo's score: which detection counts as a hit. A mistake here would misrepresent the detector's quality.
import { describe, expect, test } from "vitest";
import { type Event, score } from "../../../tools/demo/score.ts";

const at = (artifact_type: string, start_ms: number, end_ms: number, file = "a.wav"): Event => ({
  file,
  artifact_type,
  start_ms,
  end_ms,
});

describe("one event and one detection", () => {
  const cases: { name: string; truth: Event; found: Event; hit: boolean }[] = [
    { name: "a click 50 ms late", truth: at("click", 1000, 1005), found: at("click", 1050, 1060), hit: true },
    {
      name: "a click 51 ms late",
      truth: at("click", 1000, 1005),
      found: at("click", 1051, 1060),
      hit: false,
    },
    {
      name: "a click whose end is far off",
      truth: at("click", 1000, 1005),
      found: at("click", 1000, 9000),
      hit: true,
    },
    { name: "another type", truth: at("click", 1000, 1005), found: at("plosive", 1000, 1005), hit: false },
    {
      name: "another file",
      truth: at("click", 1000, 1005),
      found: at("click", 1000, 1005, "b.wav"),
      hit: false,
    },
    {
      name: "a short hum, both edges 200 ms off",
      truth: at("hum", 1000, 1800),
      found: at("hum", 800, 2000),
      hit: true,
    },
    { name: "a hum 201 ms early", truth: at("hum", 1000, 1800), found: at("hum", 799, 1800), hit: false },
    {
      name: "a hum that ends 201 ms late",
      truth: at("hum", 1000, 1800),
      found: at("hum", 1000, 2001),
      hit: false,
    },
    {
      name: "a long hum that ends 20 % late",
      truth: at("hum", 0, 4000),
      found: at("hum", 0, 4800),
      hit: true,
    },
    {
      name: "a long hum that ends more than 20 % late",
      truth: at("hum", 0, 4000),
      found: at("hum", 0, 4801),
      hit: false,
    },
    {
      name: "a dropout found 150 ms late",
      truth: at("dropout", 500, 530),
      found: at("dropout", 650, 700),
      hit: true,
    },
  ];
  test.each(cases)("$name: hit is $hit", ({ truth, found, hit }) => {
    const { types } = score([truth.artifact_type], [truth], [found]);
    expect(types[0]?.hits).toBe(hit ? 1 : 0);
  });
});

test("a detection counts for one event, however many are near it", () => {
  const { types } = score(
    ["click"],
    [at("click", 1000, 1005), at("click", 1030, 1035)],
    [at("click", 1020, 1025)],
  );
  expect(types[0]).toMatchObject({
    truth: 2,
    found: 1,
    hits: 1,
    misses: 1,
    falseAlarms: 0,
    precision: 1,
    recall: 0.5,
  });
});

test("an event counts once, and its second detection is a false alarm", () => {
  const { types, falseAlarms } = score(
    ["click"],
    [at("click", 1000, 1005)],
    [at("click", 990, 995), at("click", 1001, 1006)],
  );
  expect(types[0]).toMatchObject({ hits: 1, falseAlarms: 1, precision: 0.5, recall: 1 });
  expect(falseAlarms).toBe(1);
});

test("the closest pairs match first, so that no event takes the detection of its neighbour", () => {
  const truth = [at("click", 1000, 1005), at("click", 1040, 1045)];
  const { types } = score(["click"], truth, [at("click", 1041, 1046), at("click", 1001, 1006)]);
  expect(types[0]?.hits).toBe(2);
});

test("macro F1 is the mean over types with events, and other types only add false alarms", () => {
  const truth = [at("click", 0, 5), at("hum", 5000, 7000)];
  const found = [at("click", 0, 5), at("plosive", 100, 200)];
  const result = score(["click", "hum", "plosive"], truth, found);
  expect(result.macroF1).toBe(0.5);
  expect(result.falseAlarms).toBe(1);
  expect(result.types.map(({ type, f1, recall }) => [type, f1, recall])).toEqual([
    ["click", 1, 1],
    ["hum", 0, 0],
    ["plosive", 0, null],
  ]);
});

test("without events and without detections there is no F1", () => {
  expect(score(["click"], [], [])).toMatchObject({
    macroF1: 0,
    falseAlarms: 0,
    types: [{ f1: null, precision: null }],
  });
});
