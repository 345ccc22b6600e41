// CSV (RFC 4180), export and import, for spreadsheets and scripts. Times are in milliseconds, as in the REST API.
import { cell, type Line, parseCells, UnterminatedCellError } from "./delimited.ts";
import {
  type Format,
  type ImportEntry,
  type Region,
  type Regions,
  textOf,
  type WriteOptions,
} from "./format.ts";

type Column = readonly [name: string, value: (region: Region) => string];

const shared: readonly Column[] = [
  ["audio_file_id", (region) => region.file.audioFileId ?? ""],
  ["filename", (region) => inert(region.file.filename)],
  ["artifact_type", (region) => inert(region.type)],
  ["start_ms", (region) => String(region.startMs)],
  ["end_ms", (region) => String(region.endMs)],
  ["confidence", (region) => String(region.confidence)],
];
const columns: Record<WriteOptions["kind"], readonly Column[]> = {
  annotation: [
    ["id", (region) => region.id],
    ...shared,
    ["extra_data", ({ extraData }) => (Object.keys(extraData).length === 0 ? "" : JSON.stringify(extraData))],
    ["annotator", ({ annotator }) => inert(annotator ?? "")],
  ],
  detection: [["id", (region) => region.id], ["inference_file_id", (region) => region.file.id], ...shared],
};

export const csv: Format = {
  contentType: "text/csv; charset=utf-8; header=present",
  extension: "csv",
  example: [
    "id,audio_file_id,filename,artifact_type,start_ms,end_ms,confidence,extra_data,annotator",
    "0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11,0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f12,take-17.wav,click,1250,1310,1,,ana",
    "",
  ].join("\r\n"),
  write: writeCsv,
};

async function* writeCsv(regions: Regions, { kind }: WriteOptions): AsyncGenerator<string> {
  const layout = columns[kind];
  yield `${layout.map(([name]) => name).join(",")}\r\n`;
  yield* textOf(regions, (region) => `${layout.map(([, value]) => cell(value(region), ",")).join(",")}\r\n`);
}

// Spreadsheets treat such a cell as a formula, and a formula can run programs and send data away. An apostrophe at the
// start makes the cell text. A cell that already begins with apostrophes and such a character gets one more, so that
// the import can restore every cell exactly.
const dangerous = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

const inert = (text: string) => (dangerous.test(text) ? `'${text}` : text);
const original = (text: string) => (text.startsWith("'") && dangerous.test(text) ? text.slice(1) : text);

/** Decimal numbers only. Number() would also accept other forms, such as 0x10. */
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Reads CSV. Finds columns by name and ignores unknown ones. Accepts `;` and tabs as delimiters, as spreadsheets write.
 */
export function* readCsv(text: string): Generator<ImportEntry> {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  const delimiter = [",", ";", "\t"].find((candidate) => head.includes(candidate)) ?? ",";
  let number = 1;
  let names: ReadonlyMap<string, number> | undefined;
  try {
    for (const line of parseCells(text, delimiter)) {
      number = line.number;
      if (names === undefined) {
        names = new Map(line.cells.map((name, i) => [name.trim().toLowerCase(), i]));
        const missing = missingColumns(names);
        if (missing !== null) return yield { at: { line: number }, problem: missing };
      } else yield readLine(line, names, delimiter);
    }
  } catch (error) {
    if (!(error instanceof UnterminatedCellError)) throw error;
    yield { at: { line: number }, problem: "A quoted cell after this line has no closing quote" };
  }
}

function missingColumns(names: ReadonlyMap<string, number>): string | null {
  const missing = ["artifact_type", "start_ms", "end_ms"].filter((name) => !names.has(name));
  if (!names.has("audio_file_id") && !names.has("filename")) missing.push("audio_file_id or filename");
  return missing.length === 0
    ? null
    : `The first line must name the columns; missing columns: ${missing.join(", ")}`;
}

function readLine(line: Line, names: ReadonlyMap<string, number>, delimiter: string): ImportEntry {
  const at = { line: line.number };
  const value = (name: string) => original(line.cells[names.get(name) ?? -1] ?? "");
  const number = (name: string) => {
    const text = value(name).trim();
    // With a semicolon or a tab as delimiter, the decimal point may be a comma.
    const written = delimiter === "," ? text : text.replace(",", ".");
    return decimal.test(written) ? Number(written) : Number.NaN;
  };
  const [startMs, endMs] = [number("start_ms"), number("end_ms")];
  if (!Number.isInteger(startMs) || !Number.isInteger(endMs))
    return { at, problem: "start_ms and end_ms must be whole numbers of milliseconds" };
  const confidence = value("confidence").trim() === "" ? 1 : number("confidence");
  const extraData = readExtraData(value("extra_data"));
  if (extraData === undefined) return { at, problem: "extra_data must be a JSON object" };
  const [id, filename] = [value("audio_file_id").trim(), value("filename")];
  const annotator = value("annotator") || undefined;
  const audio = { ids: id === "" ? [] : [id], filenames: filename === "" ? [] : [filename] };
  return {
    at,
    line: { audio, type: value("artifact_type"), startMs, endMs, confidence, extraData, annotator },
  };
}

function readExtraData(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
