// Export formats for labels of other tools, and their import: exact for any file name and label. test_readers.py reads
// the same golden files with independent readers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAudacity } from "../../src/api/exchange/audacity.ts";
import { readCsv } from "../../src/api/exchange/csv.ts";
import { cell, parseCells } from "../../src/api/exchange/delimited.ts";
import { type ImportEntry, onOneLine, seconds } from "../../src/api/exchange/format.ts";
import type { FormatName } from "../../src/api/exchange/formats.ts";
import { readTasks } from "../../src/api/exchange/read-tasks.ts";
import { unusualRegions, unusualTexts, written } from "./marks.ts";

const linesOf = (found: Iterable<ImportEntry>) =>
  [...found].map((label) => ("line" in label ? label.line : label.problem));

describe("the golden files", () => {
  it.each<[string, FormatName]>([
    ["odd.csv", "csv"],
    ["odd.txt", "audacity"],
    ["odd.tsv", "dcase"],
    ["odd.vtt", "webvtt"],
    ["odd.json", "annotation-tool"],
  ])(
    "contain in %s the output of %s in any batching (regenerate the file when a format changes on purpose)",
    async (name, format) => {
      const golden = readFileSync(join(import.meta.dirname, "golden", name), "utf8");
      expect(await written(format, unusualRegions)).toBe(golden);
      expect(await written(format, unusualRegions, { batchSize: 1 })).toBe(golden);
      expect(await written(format, unusualRegions, { batchSize: 1_000 })).toBe(golden);
    },
  );

  it("have no cell in odd.csv that a spreadsheet takes for a formula", () => {
    const golden = readFileSync(join(import.meta.dirname, "golden/odd.csv"), "utf8");
    for (const { cells } of parseCells(golden, ",")) {
      for (const text of cells) expect(text).not.toMatch(/^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/);
    }
  });
});

describe("an export without labels", () => {
  it.each<[FormatName, string]>([
    ["json", "[]"],
    ["csv", "id,audio_file_id,filename,artifact_type,start_ms,end_ms,confidence,extra_data,annotator\r\n"],
    ["audacity", ""],
    ["dcase", "filename\tonset\toffset\tevent_label\n"],
    ["webvtt", "WEBVTT\n"],
    ["annotation-tool", '{"tasks":[]}'],
  ])("is a complete document as %s", async (format, expected) => {
    expect(await written(format, [])).toBe(expected);
  });
});

describe("an exported label", () => {
  it("is read back from CSV exactly", async () => {
    expect(linesOf(readCsv(await written("csv", unusualRegions)))).toEqual(
      unusualRegions.map(({ file, type, startMs, endMs, confidence, extraData, annotator }) => ({
        audio: { ids: [file.id], filenames: [file.filename] },
        type,
        startMs,
        endMs,
        confidence,
        extraData,
        annotator: annotator ?? undefined,
      })),
    );
  });

  it("is read back from a label track with type and times", async () => {
    expect(linesOf(readAudacity(await written("audacity", unusualRegions)))).toEqual(
      unusualRegions.map(({ type, startMs, endMs }) => ({
        audio: { ids: [], filenames: [] },
        type,
        startMs,
        endMs,
        confidence: 1,
        extraData: {},
      })),
    );
  });

  it("is read back from the label tool's document with confidence, extra data and annotator", async () => {
    const document = JSON.parse(await written("annotation-tool", unusualRegions));
    expect(linesOf(readTasks(document.tasks))).toMatchObject(
      unusualRegions.map(({ file, type, startMs, endMs, confidence, extraData, annotator }) => ({
        audio: { ids: [file.id, file.id] },
        type,
        startMs,
        endMs,
        confidence,
        extraData,
        annotator: annotator ?? undefined,
      })),
    );
  });

  it("is read back from cells with any delimiter, for random texts", () => {
    const random = generator(20_26);
    const alphabet = [..."ab,;\t\r\n\"'=+-@ é🎙"];
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: random(8) }, () => alphabet[random(alphabet.length)]).join("");
      for (const delimiter of [",", "\t"] as const) {
        const lines = [...parseCells(`${cell(text, delimiter)}${delimiter}x\r\n`, delimiter)];
        expect(lines).toEqual([{ number: 1, cells: [text, "x"] }]);
      }
    }
  });

  it("has seconds that are exact to the millisecond", () => {
    for (const ms of [0, 1, 999, 1_000, 1_001, 59_999, 43_200_050]) {
      expect(seconds(ms)).toBe((ms / 1000).toFixed(3));
      expect(Math.round(Number(seconds(ms)) * 1000)).toBe(ms);
    }
  });

  it("is on one line, and its type and file name are not markup in captions", async () => {
    for (const text of unusualTexts) expect(onOneLine(text)).not.toMatch(/[\t\r\n\u2028]/);
    const hostile = [{ ...unusualRegions[0]!, type: "a\tb\r\n<i> & --> c" }];
    expect(await written("audacity", hostile)).toBe("0.000000\t0.000000\ta b <i> & --> c\n");
    expect((await written("webvtt", hostile)).split("\n")[4]).toBe("a b &lt;i&gt; &amp; --&gt; c");
    expect((await written("dcase", hostile)).split("\n").slice(1).join("\n")).toBe(
      'plain.wav\t0.000\t0.000\t"a\tb\r\n<i> & --> c"\n',
    );
  });
});

/** A small generator with a fixed seed: the same numbers in every run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

describe("the detections of an inference job", () => {
  it("are predictions in the label tool's document and belong to inference files", async () => {
    const text = await written("annotation-tool", unusualRegions.slice(0, 2), { kind: "detection" });
    const [task] = JSON.parse(text).tasks;
    expect(task).toMatchObject({
      data: { inference_file_id: unusualRegions[0]!.file.id, filename: "plain.wav" },
      annotations: [],
      predictions: [{ model_version: "takes v1", result: [{ value: { labels: ["click"] }, score: 1 }] }],
    });
    expect(linesOf(readTasks(JSON.parse(text).tasks))).toEqual([]);
    const csv = await written("csv", unusualRegions.slice(0, 1), { kind: "detection" });
    expect(csv.split("\r\n")[0]).toBe(
      "id,inference_file_id,audio_file_id,filename,artifact_type,start_ms,end_ms,confidence",
    );
  });
});

describe("an imported CSV", () => {
  const audio = { ids: [], filenames: ["a.wav"] };
  const line = { audio, type: "click", startMs: 1, endMs: 2, confidence: 1, extraData: {} };

  it.each<[string, string, unknown[]]>([
    ["with columns in another order", "END_MS,start_ms,artifact_type,filename\n2,1,click,a.wav", [line]],
    [
      "with semicolons and decimal commas",
      "filename;artifact_type;start_ms;end_ms;confidence\na.wav;click;1;2;0,5",
      [{ ...line, confidence: 0.5 }],
    ],
    [
      "with tabs and carriage returns as line ends",
      "filename\tartifact_type\tstart_ms\tend_ms\ra.wav\tclick\t1\t2\r",
      [line],
    ],
    ["with blank lines", "filename,artifact_type,start_ms,end_ms\n\na.wav,click,1.0,2\n\n", [line]],
    [
      "without a required column",
      "filename,start_ms\na.wav,1",
      ["The first line must name the columns; missing columns: artifact_type, end_ms"],
    ],
    [
      "without a file column",
      "artifact_type,start_ms,end_ms\nclick,1,2",
      ["The first line must name the columns; missing columns: audio_file_id or filename"],
    ],
    [
      "with an unclosed quoted cell",
      'filename,artifact_type,start_ms,end_ms\n"a.wav,click,1,2\n',
      ["A quoted cell after this line has no closing quote"],
    ],
    [
      "with fractions of milliseconds",
      "filename,artifact_type,start_ms,end_ms\na.wav,click,1.5,2",
      ["start_ms and end_ms must be whole numbers of milliseconds"],
    ],
    [
      "with missing cells",
      "filename,artifact_type,start_ms,end_ms\na.wav",
      ["start_ms and end_ms must be whole numbers of milliseconds"],
    ],
    [
      "with extra data that is not an object",
      "filename,artifact_type,start_ms,end_ms,extra_data\na.wav,click,1,2,[1]",
      ["extra_data must be a JSON object"],
    ],
  ])("%s is read or rejected line by line", (_, text, expected) => {
    expect(linesOf(readCsv(text))).toEqual(expected);
  });

  it("is reported by line number, also after cells of several lines", () => {
    const text = 'filename,artifact_type,start_ms,end_ms\r\n"a\r\nb",click,1,2\r\na.wav,click,x,2\r\n';
    expect([...readCsv(text)].map(({ at }) => at.line)).toEqual([2, 4]);
  });
});

describe("input of any kind", () => {
  it("is parsed to its end without an exception", () => {
    const random = generator(7);
    const pieces = [
      ..."\t\n\r,;\"'\\=0123456789.:-xé",
      "\u0000",
      "\ud800",
      "NaN",
      "1e9",
      "filename,artifact_type,start_ms,end_ms\n",
    ];
    const values = [
      null,
      1,
      -1,
      "",
      "x",
      true,
      [],
      {},
      [[]],
      { start: 1 },
      { start: 0, end: 1, labels: ["x", 7] },
    ];
    const value = (): unknown => values[random(values.length)];
    for (let round = 0; round < 2_000; round++) {
      const text = Array.from({ length: random(30) }, () => pieces[random(pieces.length)]).join("");
      for (const found of [...readCsv(text), ...readCsv(pieces.at(-1) + text), ...readAudacity(text)])
        expect(found.at.line).toBeGreaterThan(0);
      const result = [{ type: "labels", value: value(), score: value(), meta: value() }, value()];
      const task = {
        data: { audio: value(), audio_file_id: value(), filename: value() },
        annotations: [{ result }],
      };
      for (const found of readTasks([task])) expect(found.at.task).toBe(0);
    }
  });
});

describe("an imported label track", () => {
  it("can have frequencies, decimal commas, points, blank lines and no final line end", () => {
    const text =
      "0,5\t1.25\tclick\r\n\\\t100.0\t200.0\r\n\n2\t2\ttwo words\t more\n3.0000004\t4.\t\n7.5\told click";
    expect(
      [...readAudacity(text)].map(
        (found) => "line" in found && [found.at.line, found.line.type, found.line.startMs, found.line.endMs],
      ),
    ).toEqual([
      [1, "click", 500, 1_250],
      [4, "two words  more", 2_000, 2_000],
      [5, "", 3_000, 4_000],
      [6, "old click", 7_500, 7_500],
    ]);
  });

  it.each([
    "click",
    "1.0",
    "1.0 2.0 click",
    "a\tb\tclick",
    "1e3\t2e3\tclick",
    "Infinity\t1\tclick",
    "1\tInfinity\tclick",
  ])("rejects %j as a label", (text) => {
    expect(linesOf(readAudacity(text))).toEqual([
      "A line must have the start in seconds, a tab, the end in seconds, a tab, and a label",
    ]);
  });
});

describe("imported tasks of the label tool", () => {
  const result = (more: object = {}) => ({
    type: "labels",
    value: { start: 1.2345, end: 1.2346, labels: ["click"] },
    ...more,
  });
  const task = (data: object, ...results: object[]) => ({ data, annotations: [{ result: results }] });
  const audioOf = (data: object, more: object = {}) => {
    const [found] = readTasks([{ ...task(data, result()), ...more }]);
    return found !== undefined && "line" in found ? found.line.audio : found?.problem;
  };

  it("name their file by id, by name or by the end of a URL, which the service never fetches", () => {
    const id = "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11";
    expect(audioOf({ audio_file_id: id, filename: "a.wav" })).toEqual({ ids: [id], filenames: ["a.wav"] });
    expect(audioOf({ audio: id })).toMatchObject({ ids: [id] });
    expect(audioOf({ audio: `http://127.0.0.1:1/b/audio/t/${id}?X-Amz-Signature=x` })).toMatchObject({
      ids: [id],
    });
    expect(audioOf({ audio: "/data/upload/1/0a1b2c3d-my%20take.wav" })).toEqual({
      ids: [],
      filenames: ["0a1b2c3d-my take.wav", "my take.wav"],
    });
    expect(audioOf({ audio: "/data/local-files/?d=sub/take%20%251.wav" })).toMatchObject({
      filenames: ["take %1.wav"],
    });
    expect(audioOf({ audio: "s3://bucket/%zz.wav" })).toMatchObject({ filenames: ["%zz.wav"] });
    expect(audioOf({}, { file_upload: "0a1b2c3d-take.wav" })).toMatchObject({
      filenames: ["0a1b2c3d-take.wav", "take.wav"],
    });
    expect(audioOf({ audio: 7 })).toMatch(/names no audio file/);
  });

  it("skip cancelled annotations and those that are not ground truth", () => {
    const one = (start: number, more: object) => ({
      result: [result({ value: { start, end: start, labels: ["click"] } })],
      ...more,
    });
    const starts = (...annotations: object[]) =>
      [...readTasks([{ data: { filename: "a" }, annotations }])].map((f) => "line" in f && f.line.startMs);
    expect(starts(one(1, {}), one(2, { was_cancelled: true }), one(3, {}))).toEqual([1_000, 3_000]);
    expect(starts(one(1, {}), one(2, { ground_truth: true }))).toEqual([2_000]);
    expect([...readTasks([{ data: { filename: "a" } }, {}])]).toMatchObject([
      { at: { task: 1, result: null }, count: 0 },
    ]);
  });

  it("give one annotation per label, and an error message for each result that is not a label", () => {
    const found = readTasks([
      task(
        { filename: "a" },
        result({
          value: { start: 0, end: 1, labels: ["a", "b"] },
          score: 0.5,
          meta: { extra_data: { x: 1 } },
        }),
        { type: "choices", value: { choices: ["good"] } },
        { type: "labels", value: { start: "0", end: 1, labels: ["a"] } },
        { type: "labels", value: { start: 0, end: 1, labels: [] } },
        [] as object,
      ),
    ]);
    expect(
      [...found].map((f) => [
        f.at.result,
        "line" in f ? [f.line.type, f.line.confidence, f.line.extraData] : f.problem,
      ]),
    ).toEqual([
      [0, ["a", 0.5, { x: 1 }]],
      [0, ["b", 0.5, { x: 1 }]],
      [1, "Only results of type labels are imported"],
      [2, "The result must have a value with start and end in seconds and labels"],
      [3, "The result must have a value with start and end in seconds and labels"],
      [4, "The result must have a value with start and end in seconds and labels"],
    ]);
  });
});
