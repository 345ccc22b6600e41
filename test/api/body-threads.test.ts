// Large documents are read in worker threads, with the same results as small ones.
import { describe, expect, it } from "vitest";
import { type Batches, itemsOf } from "../../src/api/body/batches.ts";
import { type DocumentName, documents } from "../../src/api/body/documents.ts";
import { type BodyInput, readBody } from "../../src/api/body/read.ts";
import { makeReadBody, smallBytes } from "../../src/api/body/threads.ts";
import { entriesOf, type LabelDocument } from "../../src/api/exchange/label-document.ts";

const inThread = makeReadBody();
const types = {
  annotations: "application/json",
  annotationChanges: "application/json",
  annotationTool: "application/json",
  csv: "text/csv",
  audacity: "text/plain",
};

function inputOf(name: DocumentName, text: string, byText: boolean): BodyInput {
  const bytes = Buffer.concat([Buffer.from(text)]);
  expect(bytes.length).toBeGreaterThan(smallBytes);
  return { bytes, type: types[name], optional: false, repeatable: { querystring: "a=b", byText } };
}

const result = (extra: object = {}) => ({
  type: "labels",
  value: { start: 1.25, end: 1.5, labels: ["click"] },
  score: 0.5,
  meta: { extra_data: { note: "x", ...extra } },
});
const tasks = (results: readonly unknown[]) =>
  JSON.stringify([
    {
      data: { filename: "a.wav", audio_file_id: "0198B0DE-7C1F-7A59-8A3C-9F4D8F7F2F12" },
      annotations: [{ result: results }],
    },
  ]);
const annotation = {
  audio_file_id: "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f12",
  artifact_type: "click",
  start_ms: 1,
  end_ms: 2,
};
const spaces = " ".repeat(smallBytes);

describe("a large document has the same value, faults and fingerprint as in the main thread", () => {
  it.each<[string, DocumentName, string]>([
    ["labels of a tool", "annotationTool", tasks(Array.from({ length: 999 }, () => result()))],
    ["labels that are not valid", "annotationTool", tasks(Array(50_000).fill({ type: "choices" }))],
    ["more labels than an import takes", "annotationTool", tasks(Array(50_001).fill({ type: "choices" }))],
    [
      "a member named __proto__",
      "annotationTool",
      `[{"data":{"filename":"a"},"annotations":[{"result":[{"type":"labels","value":{"start":0,"end":1,"labels":["a"]},"meta":{"extra_data":{"__proto__":1e400}}}]}]}]${spaces}`,
    ],
    ["the wrong type", "annotationTool", `{"tasks":7}${spaces}`],
    [
      "changes of annotations",
      "annotationChanges",
      JSON.stringify({
        annotations: Array.from({ length: 1000 }, (_, i) => ({
          id: `0198b0de-7c1f-7a59-8a3c-${String(i).padStart(12, "0")}`,
          end_ms: i,
          annotator: "ana@example.com",
        })),
      }),
    ],
    ["annotations", "annotations", JSON.stringify({ annotations: Array(1000).fill(annotation) })],
    [
      "annotations with faults",
      "annotations",
      JSON.stringify({
        annotations: Array(1000).fill({ ...annotation, start_ms: "1", extra_data: { a: "\0" } }),
      }),
    ],
    [
      "a number that cannot be stored",
      "annotations",
      `{"annotations":[{"extra_data":{"n":9007199254740993}}]}${spaces}`,
    ],
    [
      "text that cannot be stored",
      "annotations",
      `{"annotations":[${JSON.stringify({ ...annotation, extra_data: { n: "\0" } })}]}${spaces}`,
    ],
    ["CSV", "csv", `filename,artifact_type,start_ms,end_ms\n${"a.wav,click,1,2\n".repeat(5000)}`],
    ["CSV with NUL", "csv", `filename,artifact_type,start_ms,end_ms\n\0${spaces}`],
    ["a label track", "audacity", "1.25\t1.5\tclick\nx\n".repeat(5000)],
  ])("%s", async (_, name, text) => {
    for (const byText of [false, true]) {
      // What comes from a thread is a structured clone.
      const expected = structuredClone(readBody(documents[name], inputOf(name, text, byText)));
      const found = await inThread(documents[name], inputOf(name, text, byText));
      expect(found).toEqual(expected);
      expect(found.items.length > 0).toBe(found.value === undefined);
    }
  });

  it.each([
    ["not JSON", `[1,${spaces}`],
    ["not UTF-8", `["\u{fffd}"]${spaces}`],
    ["too deep", `${"[".repeat(21)}${spaces}`],
    ["too many objects", `[${"{},".repeat(30_000)}{}]`],
  ])("%s", async (_, text) => {
    const input = () => {
      const made = inputOf("annotationTool", text, true);
      const at = made.bytes.indexOf(0xef);
      if (at >= 0) (made.bytes as Uint8Array)[at] = 0xff;
      return made;
    };
    const caught = (error: unknown) => error;
    const found = await inThread(documents.annotationTool, input()).catch(caught);
    let expected: unknown;
    try {
      readBody(documents.annotationTool, input());
    } catch (error) {
      expected = error;
    }
    expect(expected).toMatchObject({ status: 400, code: "invalid_request" });
    expect(found).toEqual(expected);
  });
});

it("annotations come in order, and other requests are served between their batches", async () => {
  const annotations = Array.from({ length: 1_000 }, (_, nth) => ({ ...annotation, extra_data: { nth } }));
  const text = JSON.stringify({ annotations });
  const { value } = await inThread(documents.annotations, inputOf("annotations", text, false));
  let turns = 0;
  let isTaken = false;
  const count = () => {
    turns += 1;
    if (!isTaken) setImmediate(count);
  };
  setImmediate(count);
  const items = await itemsOf(value as Batches<typeof annotation>);
  isTaken = true;
  expect(items).toEqual(annotations.map((sent) => ({ ...sent, confidence: 1, annotator: null })));
  expect(turns).toBeGreaterThan(30);
});

it("entries come in order, and the files that they name are listed once", async () => {
  const results = Array.from({ length: 250 }, (_, nth) => result({ nth }));
  const { value } = await inThread(
    documents.annotationTool,
    inputOf("annotationTool", tasks(results) + spaces, true),
  );
  const document = value as LabelDocument;
  expect(document).toMatchObject({
    labels: 250,
    filenames: ["a.wav"],
    ids: ["0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f12"],
  });
  const found: unknown[] = [];
  for await (const entry of entriesOf(document)) found.push("line" in entry && entry.line.extraData);
  expect(found).toEqual(results.map((sent) => sent.meta.extra_data));
});

describe("what many labels of a document share is not copied for each", () => {
  const shared = (labels: number, meta: object, filename = "a.wav") =>
    JSON.stringify([
      {
        data: { filename },
        annotations: [
          {
            result: [{ type: "labels", value: { start: 0, end: 1, labels: Array(labels).fill("a") }, meta }],
          },
        ],
      },
    ]);
  const read = (name: DocumentName, text: string) => {
    const found = readBody(documents[name], { bytes: Buffer.from(text), type: types[name], optional: false });
    const { batches = [], filenames = [] } = (found.value ?? {}) as Partial<LabelDocument>;
    const bytes = [...batches, ...filenames].reduce((sum, { length }) => sum + length, 0);
    return { ...found, times: bytes / text.length };
  };

  it.each([
    ["an annotator", shared(20_000, { annotator: "x".repeat(60_000) })],
    ["extra data", shared(20_000, { extra_data: { a: "x".repeat(60_000) } })],
    [
      "a file name",
      JSON.stringify([
        { data: { filename: "x".repeat(60_000) }, annotations: [{ result: Array(999).fill(result()) }] },
      ]),
    ],
  ])("%s that is too long is refused", (_, text) => {
    const { value, times } = read("annotationTool", text);
    expect((value as LabelDocument).labels).toBeGreaterThan(998);
    expect(times).toBeLessThan(4);
  });

  it.each([
    ["an annotator", { annotator: "x".repeat(255) }],
    ["extra data", { extra_data: { a: "x".repeat(4_000) } }],
  ])("%s of very many labels of one result is refused", (_, meta) => {
    expect(read("annotationTool", shared(20_000, meta)).items).toEqual([
      { loc: ["body"], msg: expect.stringContaining("too many labels share"), type: "value_error" },
    ]);
    expect(read("annotationTool", shared(64, meta)).value).toMatchObject({ labels: 64 });
  });

  it.each<[string, DocumentName, string]>([
    ["a label track", "audacity", "x\n".repeat(30_000)],
    ["CSV", "csv", `filename,artifact_type,start_ms,end_ms\n${"x\n".repeat(30_000)}`],
  ])("of problems in %s only those are kept that a report lists", async (_, name, text) => {
    const { value, times } = read(name, text);
    expect(times).toBeLessThan(4);
    const kept: unknown[] = [];
    for await (const entry of entriesOf(value as LabelDocument)) kept.push(entry);
    expect(value).toMatchObject({ labels: 30_000 });
    expect(kept).toHaveLength(1_000);
  });
});
