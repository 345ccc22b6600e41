// Export as the tab-separated event list of the DCASE challenges, which sed_eval, dcase_util and pandas read. File
// names are unchanged, because evaluations compare them. A cell is quoted only if delimited.ts requires it, such as for
// a tab, a line break or a quote.
import { cell } from "./delimited.ts";
import { type Format, type Regions, seconds, textOf } from "./format.ts";

export const dcase: Format = {
  contentType: "text/tab-separated-values; charset=utf-8",
  extension: "tsv",
  example: "filename\tonset\toffset\tevent_label\ntake-17.wav\t1.250\t1.310\tclick\n",
  write: writeDcase,
};

async function* writeDcase(regions: Regions): AsyncGenerator<string> {
  yield "filename\tonset\toffset\tevent_label\n";
  yield* textOf(regions, ({ file, startMs, endMs, type }) => {
    const cells = [cell(file.filename, "\t"), seconds(startMs), seconds(endMs), cell(type, "\t")];
    return `${cells.join("\t")}\n`;
  });
}
