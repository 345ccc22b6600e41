// /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/{format} (interface specification 4.8).
// Every export is streamed and complete; a draft that is changed meanwhile is exported as its parts are read.
import { z } from "zod";
import { type AnnotationSetRow, oneAnnotationSet } from "../../db/annotation-set.ts";
import { oneAudioFile } from "../../db/audio-file.ts";
import { nameOfDataset } from "../../db/dataset.ts";
import type { AnnotationFilter } from "../../schemas/annotation.ts";
import { fileExportQuery, labelExport, labelExportQuery, setExportQuery } from "../../schemas/exchange.ts";
import { id } from "../../schemas/rest.ts";
import { type FormatName, formats } from "../exchange/formats.ts";
import { annotationRegions } from "../exchange/regions.ts";
import { type Export, sendExport, stemOf } from "../exchange/send.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "../route.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export";
const inSet = z.object({
  dataset_id: id("Id of the dataset"),
  annotation_set_id: id("Id of the annotation set"),
});
const tag = "Labelling exchange";

export const exportLabels = defineRoute({
  method: "GET",
  path: `${base}/annotation-tool`,
  operationId: "exportAnnotationTool",
  summary: "Export the annotations for a labelling tool",
  description:
    "One task for each audio file that has annotations, times in seconds. `score` and `meta.extra_data` carry what the tool has no place for.",
  tag,
  params: inSet,
  query: labelExportQuery,
  answer: { status: 200, description: "The document", schema: labelExport },
  handler: (call) => {
    const { flavor, audio, ...filter } = call.query;
    return exportSet(call, filter, "annotation-tool", { flavor, audio });
  },
});

export const exportCsv = defineRoute({
  method: "GET",
  path: `${base}/csv`,
  operationId: "exportCsv",
  summary: "Export the annotations as CSV, for spreadsheets and scripts",
  description:
    "RFC 4180 in UTF-8, with a line of column names. A cell that a spreadsheet would take for a formula has an apostrophe in front; import/csv takes it off again.",
  tag,
  params: inSet,
  query: setExportQuery,
  answer: text("csv", "A line for each annotation"),
  handler: (call) => exportSet(call, call.query, "csv"),
});

export const exportDcase = defineRoute({
  method: "GET",
  path: `${base}/dcase`,
  operationId: "exportDcase",
  summary: "Export the annotations as a DCASE event list",
  description:
    "Tab-separated: filename, onset, offset, event_label; times in seconds. File names are exact and not made safe for spreadsheets: use csv there.",
  tag,
  params: inSet,
  query: setExportQuery,
  answer: text("dcase", "A line for each annotation"),
  handler: (call) => exportSet(call, call.query, "dcase"),
});

export const exportAudacity = defineRoute({
  method: "GET",
  path: `${base}/audacity`,
  operationId: "exportAudacity",
  summary: "Export the annotations of one audio file as a label track of Audacity",
  description: "Seconds, tab, seconds, tab, label: for File > Import > Labels.",
  tag,
  params: inSet,
  query: fileExportQuery,
  answer: text("audacity", "A line for each annotation of the file"),
  handler: (call) => exportSet(call, call.query, "audacity"),
});

export const exportWebvtt = defineRoute({
  method: "GET",
  path: `${base}/webvtt`,
  operationId: "exportWebvtt",
  summary: "Export the annotations of one audio file as WebVTT captions",
  description: "A cue for each annotation. A cue must have a length, so that of a point is one millisecond.",
  tag,
  params: inSet,
  query: fileExportQuery,
  answer: text("webvtt", "A cue for each annotation of the file"),
  handler: (call) => exportSet(call, call.query, "webvtt"),
});

function text(name: FormatName, description: string) {
  const { contentType, example } = formats[name];
  return { status: 200, description, schema: z.string(), contentType, example } as const;
}

async function exportSet(
  { params, tenantId, deps }: Call<z.infer<typeof inSet>>,
  filter: AnnotationFilter,
  format: FormatName,
  options: Pick<Export, "flavor" | "audio"> = {},
): Promise<Reply> {
  const set = await oneAnnotationSet(deps.db, tenantId, params.dataset_id, params.annotation_set_id);
  const place = { tenantId, datasetId: set.dataset_id, setId: set.id };
  return sendExport(deps, format, {
    regions: annotationRegions(deps.db, place, filter),
    kind: "annotation",
    name: await nameOf(deps, tenantId, set, formats[format].oneFile ? filter.audio_file_id : undefined),
    ...options,
  });
}

/** `<dataset> v<version>`, or as the one audio file is called; audioFileNotFound when the dataset has none such. */
async function nameOf(deps: HandlerDeps, tenantId: string, set: AnnotationSetRow, audioFileId?: string) {
  if (audioFileId === undefined)
    return `${await nameOfDataset(deps.db, tenantId, set.dataset_id)} v${set.version}`;
  return stemOf((await oneAudioFile(deps.db, tenantId, set.dataset_id, audioFileId)).filename);
}
