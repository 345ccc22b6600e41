// Labels with every unusual character that file names and labels can have. The golden files of this folder are their
// exports. Called by formats.test.ts; test_readers.py has the same values in Python.
import type { Region, Regions, WriteOptions } from "../../src/api/exchange/format.ts";
import { type FormatName, formats } from "../../src/api/exchange/formats.ts";

export const unusualTexts = [
  "plain.wav",
  "with, comma.wav",
  'with "quotes".wav',
  '"quoted from the start',
  "tab\tin it.wav",
  "line\nbreak.wav",
  "carriage\r\nreturn.wav",
  "=HYPERLINK(A1)",
  "+1.wav",
  "-1.wav",
  "@sum.wav",
  "\t=1+1",
  "'=already guarded",
  "'just an apostrophe",
  "\uff1dfull width",
  " spaces around ",
  "überlänge – 録音 🎙️.wav",
  "<b>&amp;</b> --> x",
  "semi;colon.wav",
  "\u2028line separator",
];

const uuid = (prefix: string, n: number) => `${prefix}0000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** One label in each of the files; the times need millisecond precision. */
export const unusualRegions: readonly Region[] = unusualTexts.map((filename, i) => ({
  id: uuid("a", i),
  file: { id: uuid("f", i), audioFileId: uuid("f", i), filename, objectKey: `audio/t/${uuid("f", i)}` },
  type: i % 2 === 0 ? "click" : "mouth noise",
  startMs: i * 3_723_001,
  // Every fifth label is a point.
  endMs: i * 3_723_001 + (i % 5 === 0 ? 0 : 57 + i),
  confidence: i === 0 ? 1 : Number((i / 21).toFixed(6)),
  extraData: i % 3 === 0 ? {} : { note: filename, n: i },
  annotator: i % 4 === 1 ? filename : null,
}));

async function* inBatches(marks: readonly Region[], size: number): Regions {
  for (let i = 0; i < marks.length; i += size) yield marks.slice(i, i + size);
}

export async function written(
  format: FormatName,
  marks: readonly Region[],
  options: Partial<WriteOptions> & { batchSize?: number } = {},
): Promise<string> {
  const pieces = formats[format].write(inBatches(marks, options.batchSize ?? 3), {
    kind: "annotation",
    audioOf: async (file) => file.id,
    flavor: "full",
    modelName: "takes v1",
    ...options,
  });
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}
