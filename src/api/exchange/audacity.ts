// Label tracks of Audacity, export and import: start and end in seconds and a label, separated by tabs, for one audio
// file. https://support.audacityteam.org/music/audio-editing/creating-and-selecting/using-label-tracks
import { type AudioReference, type Format, type ImportEntry, onOneLine, seconds, textOf } from "./format.ts";

export const audacity: Format = {
  contentType: "text/plain; charset=utf-8",
  extension: "txt",
  oneFile: true,
  example: "1.250000\t1.310000\tclick\n",
  write: (regions) =>
    textOf(regions, ({ startMs, endMs, type }) => `${micro(startMs)}\t${micro(endMs)}\t${onOneLine(type)}\n`),
};

const noReference: AudioReference = { ids: [], filenames: [] };

/** Seconds with six decimals, as Audacity writes them. */
const micro = (ms: number) => `${seconds(ms)}000`;

/** Reads a label track. It has no file names: all its labels belong to the audio file that the client names. */
export function* readAudacity(text: string): Generator<ImportEntry> {
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    // A line that begins with a backslash has the frequencies of the label before it.
    if (line.trim() === "" || line.startsWith("\\")) continue;
    const at = { line: number };
    const [start = "", ...rest] = line.split("\t");
    const startMs = milliseconds(start);
    const endMs = milliseconds(rest[0] ?? "");
    // Files of very old versions have only points, with a single time.
    const label = endMs === null ? rest : rest.slice(1);
    if (startMs === null || (endMs === null && rest.length !== 1)) {
      const problem = "A line must have the start in seconds, a tab, the end in seconds, a tab, and a label";
      yield { at, problem };
    } else {
      const region = { type: label.join(" "), startMs, endMs: endMs ?? startMs };
      yield { at, line: { ...region, audio: noReference, confidence: 1, extraData: {} } };
    }
  }
}

/** Yields one line at a time, because a text of 8 MiB can have millions of lines. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    yield text.slice(from, end < 0 ? text.length : end).replace(/\r$/, "");
    if (end < 0) return;
    from = end + 1;
  }
}

/** Accepts a decimal comma too: old versions write it if the system's locale does. */
function milliseconds(text: string): number | null {
  const number = text.trim().replace(",", ".");
  return /^-?\d{1,9}(\.\d*)?$/.test(number) ? Math.round(Number(number) * 1000) + 0 : null;
}
