// The formats of imports, and what the name of a file says about its own. Pure.
import { own } from "../../app/own.ts";

export const importFormats = [
  ["annotation-tool", "Label Studio (JSON)"],
  ["csv", "CSV"],
  ["audacity", "Audacity label track"],
] as const;

export type ImportFormat = (typeof importFormats)[number][0];

const endings: Readonly<Record<string, ImportFormat>> = {
  json: "annotation-tool",
  csv: "csv",
  tsv: "csv",
  txt: "audacity",
};

export const formatOfName = (name: string): ImportFormat | undefined =>
  own(endings, /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "");
