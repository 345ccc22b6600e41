// What the dashboard says: sizes, times, events, keys, reasons why training is not possible.
import { describe, expect, it } from "vitest";
import { ago, amountOfTime, bytes, clock, plural } from "../../web/src/app/format.ts";
import { expiresAt, expiryOf } from "../../web/src/pages/api-keys/key-words.ts";
import { type Facts, stepsOf, unlabelled } from "../../web/src/pages/dataset/readiness.ts";
import { faultOfName, parseNames } from "../../web/src/pages/datasets/type-names.ts";
import { placeOf, wordsOf } from "../../web/src/pages/overview/event-words.ts";

const now = Date.parse("2026-01-31T12:00:00Z");

describe("numbers and times", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [1234, "1.2 kB"],
    [999_499, "999 kB"],
    [999_500, "1 MB"],
    [5_292_044, "5.3 MB"],
    [250_000_000, "250 MB"],
  ])("writes %i bytes as %s", (value, text) => expect(bytes(value)).toBe(text));

  it("never writes a thousand of a unit that has a larger one", () => {
    for (let value = 1; value < 1e16; value = Math.ceil(value * 1.013))
      expect(bytes(value)).not.toMatch(/^1\d{3}/);
  });

  it.each([
    [4_250, "0:04.2"],
    [272_000, "4:32"],
    [3_725_000, "1:02:05"],
  ])("writes the length %i ms as %s", (ms, text) => expect(clock(ms)).toBe(text));

  it.each([
    [0, "0 s"],
    [45_000, "45 s"],
    [200_400, "3 min 20 s"],
    [7_200_000, "2 h"],
    [273_600_000, "3 d 4 h"],
  ])("writes the amount %i ms as %s", (ms, text) => expect(amountOfTime(ms)).toBe(text));

  it.each([
    ["2026-01-31T11:59:55Z", "just now"],
    ["2026-01-31T11:57:00Z", "3 minutes ago"],
    ["2026-01-31T14:00:00Z", "in 2 hours"],
    ["2026-01-30T11:00:00Z", "yesterday"],
    ["2025-12-24T12:00:00Z", "Dec 24, 2025"],
  ])("says how long ago %s is: %s", (iso, text) => expect(ago(iso, now, "en-US")).toBe(text));

  it("agrees in number", () => expect([plural(1, "file"), plural(2, "file")]).toEqual(["1 file", "2 files"]));
});

describe("events", () => {
  it("have words, also when a later version of the service has new types", () => {
    expect(wordsOf("training_job.failed")).toEqual({ noun: "Training job", verb: "failed", tone: "bad" });
    expect(wordsOf("voice_print.half_done")).toEqual({
      noun: "voice print",
      verb: "half done",
      tone: "quiet",
    });
  });

  it("lead to their resource", () => {
    expect(placeOf("audio_file.ready", { audio_file_id: "f", dataset_id: "d" })).toEqual({
      id: "f",
      to: "/datasets/d",
    });
    expect(placeOf("model.created", { model_id: "m" })).toEqual({ id: "m", to: "/models/m" });
    expect(placeOf("training_job.failed", { training_job_id: "t" })).toMatchObject({ to: "/training/t" });
    expect(placeOf("inference_file.failed", { inference_file_id: "f", inference_job_id: "j" })).toEqual({
      id: "f",
      to: "/inference/j",
    });
    expect(placeOf("voice_print.made", { voice_print_id: "v" })).toEqual({ id: "v", to: undefined });
    expect(placeOf("model.created", { model_id: 7 })).toBeUndefined();
  });
});

describe("names of artifact types", () => {
  it("are read from a line", () =>
    expect(parseNames(" click, hum ,,mouth noise ")).toEqual(["click", "hum", "mouth noise"]));

  it.each(["", "-click", "Klick!", "ü", "x".repeat(65), "<img>"])(
    "are refused as the service does: %j",
    (name) => expect(faultOfName(name, [])).toBeDefined(),
  );

  it("differ in more than upper and lower case", () => {
    expect(faultOfName("Click", ["click"])).toBeDefined();
    expect(faultOfName("click 2", ["click"])).toBeUndefined();
  });
});

describe("keys", () => {
  it("say when they expire", () => {
    const at = (days: number) => ({ expires_at: new Date(now + days * 86_400_000).toISOString() });
    expect([{ expires_at: null }, at(-1), at(3), at(30)].map((key) => expiryOf(key, now))).toEqual([
      "never",
      "over",
      "soon",
      "later",
    ]);
  });

  it("expire at the end of the chosen day, which must be in the future", () => {
    expect(expiresAt("never", "", now)).toBeNull();
    expect(expiresAt("30", "", now)).toBe("2026-03-02T12:00:00.000Z");
    expect(expiresAt("date", "", now)).toBeUndefined();
    expect(expiresAt("date", "2026-01-30", now)).toBeUndefined();
    expect(new Date(expiresAt("date", "2026-02-03", now) ?? 0).getHours()).toBe(23);
  });
});

describe("the reasons why training is not possible", () => {
  const dataset = {
    total_duration_ms: 400_000,
    audio_file_count: 3,
    embedded_audio_file_count: 3,
    artifact_types: [
      { name: "click", description: null },
      { name: "hum", description: null },
    ],
  };
  const ready: Facts = {
    dataset,
    pendingUploads: 0,
    failed: 0,
    drafts: 0,
    published: { annotations_by_type: { click: 4 } },
  };
  const missing = (facts: Facts) => stepsOf(facts).filter(({ isDone }) => !isDone);

  it("are none when everything is there", () => {
    expect(missing(ready)).toEqual([]);
    expect(unlabelled(ready)).toEqual(["hum"]);
  });

  it("name each step that is left", () => {
    const empty = {
      ...ready,
      published: undefined,
      dataset: {
        ...dataset,
        total_duration_ms: 0,
        audio_file_count: 0,
        embedded_audio_file_count: 0,
        artifact_types: [],
      },
    };
    expect(missing(empty).map(({ id }) => id)).toEqual(["types", "audio", "embeddings", "labels"]);
  });

  it("do not count uploads that are pending, and name failed files", () => {
    expect(missing({ ...ready, pendingUploads: 2, dataset: { ...dataset, audio_file_count: 5 } })).toEqual(
      [],
    );
    const [step] = missing({ ...ready, failed: 1, dataset: { ...dataset, audio_file_count: 4 } });
    expect([step?.id, step?.text]).toEqual([
      "embeddings",
      expect.stringContaining("1 file failed: delete it"),
    ]);
  });

  it("say how much audio is missing, and a published set without labels of the dataset's types", () => {
    const short = missing({ ...ready, dataset: { ...dataset, total_duration_ms: 100_000 } });
    expect(short.map(({ text }) => text).join()).toContain("3 min 20 s more");
    expect(
      missing({ ...ready, published: { annotations_by_type: { other: 1 } } }).map(({ id }) => id),
    ).toEqual(["labels"]);
  });
});
