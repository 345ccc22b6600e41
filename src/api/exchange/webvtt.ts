// Export as WebVTT, for players that show captions for one audio file. https://www.w3.org/TR/webvtt1/
import { type Format, onOneLine, type Regions, textOf } from "./format.ts";

export const webvtt: Format = {
  contentType: "text/vtt; charset=utf-8",
  extension: "vtt",
  oneFile: true,
  example: "WEBVTT\n\n0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11\n00:00:01.250 --> 00:00:01.310\nclick\n",
  write: writeWebvtt,
};

async function* writeWebvtt(regions: Regions): AsyncGenerator<string> {
  yield "WEBVTT\n";
  yield* textOf(regions, ({ id, startMs, endMs, type }) => {
    // A WebVTT cue must not be empty, so a point becomes one millisecond.
    const end = Math.max(endMs, startMs + 1);
    return `\n${id}\n${timestamp(startMs)} --> ${timestamp(end)}\n${escaped(onOneLine(type))}\n`;
  });
}

function timestamp(ms: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const fraction = String(ms % 1000).padStart(3, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}.${fraction}`;
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
