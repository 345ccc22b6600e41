// The table of export formats. The keys are the names in paths and in the parameter `format`. Used by the exports of
// annotation sets and of inference jobs.
import { annotationTool } from "./annotation-tool.ts";
import { audacity } from "./audacity.ts";
import { csv } from "./csv.ts";
import { dcase } from "./dcase.ts";
import type { Format } from "./format.ts";
import { json } from "./json.ts";
import { webvtt } from "./webvtt.ts";

export const formats = {
  json,
  csv,
  audacity,
  webvtt,
  dcase,
  "annotation-tool": annotationTool,
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;
