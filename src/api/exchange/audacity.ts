// A label track of Audacity: seconds, seconds and a label with tabs between them, for one audio file; written and read.
// https://support.audacityteam.org/music/audio-editing/creating-and-selecting/using-label-tracks
import {
  type AudioReference,
  type Format,
  type ImportEntry,
  onOneLine,
  type Regions,
  seconds,
} from "./format.ts";

export const audacity: Format = {
  contentType: "text/plain; charset=utf-8",
  extension: "txt",
  oneFile: true,
  example: "1.250000\t1.310000\tclick\n",
  write: writeAudacity,
};

async function* writeAudacity(regions: Regions): AsyncGenerator<string> {
  for await (const batch of regions)
    yield batch
      .map((region) => `${micro(region.startMs)}\t${micro(region.endMs)}\t${onOneLine(region.type)}\n`)
      .join("");
}

/** With six decimals, as the program itself writes them. */
const micro = (ms: number) => `${seconds(ms)}000`;

/** Everything in a label track is about the one file that the client names. */
export function* readAudacity(text: string, audioFileId: string): Generator<ImportEntry> {
  const audio: AudioReference = { ids: [audioFileId], filenames: [] };
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    // A line with a backslash gives the frequencies of the label before it.
    if (line.trim() === "" || line.startsWith("\\")) continue;
    const at = { line: number };
    const [start = "", ...rest] = line.split("\t");
    const startMs = milliseconds(start);
    const endMs = milliseconds(rest[0] ?? "");
    // Very old files have points only, with a single time.
    const label = endMs === null ? rest : rest.slice(1);
    if (startMs === null || (endMs === null && rest.length !== 1))
      yield { at, problem: "A line must be: start in seconds, tab, end in seconds, tab, label" };
    else {
      yield {
        at,
        line: {
          audio,
          type: label.join(" "),
          startMs,
          endMs: endMs ?? startMs,
          confidence: 1,
          extraData: {},
        },
      };
    }
  }
}

/** One after the other: a text of 8 MiB can have millions. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    yield text.slice(from, end < 0 ? text.length : end).replace(/\r$/, "");
    if (end < 0) return;
    from = end + 1;
  }
}

/** Old versions write a decimal comma where the system has one. */
function milliseconds(text: string): number | null {
  const number = text.trim().replace(",", ".");
  return /^-?\d{1,9}(\.\d*)?$/.test(number) ? Math.round(Number(number) * 1000) + 0 : null;
}
