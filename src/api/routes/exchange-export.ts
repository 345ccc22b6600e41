// /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/{format}.
// Every export is streamed and complete. If a draft changes during its export, each part is exported as it is when
// read.
import { z } from "zod";
import { type AnnotationSetRow, oneAnnotationSet } from "../../db/annotation-set.ts";
import { oneAudioFile } from "../../db/audio-file.ts";
import { oneNamed } from "../../db/dataset.ts";
import type { AnnotationFilter } from "../../schemas/annotation.ts";
import { fileExportQuery, labelExport, labelExportQuery, setExportQuery } from "../../schemas/exchange.ts";
import { type FormatName, formats } from "../exchange/formats.ts";
import { annotationRegions } from "../exchange/regions.ts";
import { type Export, replyOfExport, stemOf } from "../exchange/send.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "../route.ts";
import { inSet, placeOf } from "./annotation-set.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export";

const exportLabels = defineRoute("GET", `${base}/annotation-tool`, {
  operationId: "exportAnnotationTool",
  summary: "Export the annotations for a labelling tool",
  description:
    "One task for each audio file that has annotations; times are in seconds. `score` and `meta.extra_data` contain the confidence and the extra data of an annotation.",
  params: inSet,
  query: labelExportQuery,
  answer: { status: 200, description: "The document", schema: labelExport },
  handler: (call) => {
    const { flavor, audio, ...filter } = call.query;
    return exportSet(call, filter, "annotation-tool", { flavor, audio });
  },
});

const texts = {
  csv: {
    operationId: "exportCsv",
    summary: "Export the annotations as CSV, for spreadsheets and scripts",
    description:
      "RFC 4180 in UTF-8, with a header line. A cell that a spreadsheet would treat as a formula begins with an apostrophe, which import/csv removes again.",
    content: "One line for each annotation",
  },
  audacity: {
    operationId: "exportAudacity",
    summary: "Export the annotations of one audio file as a label track of Audacity",
    description:
      "Each line has start and end in seconds and the label, separated by tabs. In Audacity: File > Import > Labels.",
    content: "One line for each annotation of the file",
  },
  dcase: {
    operationId: "exportDcase",
    summary: "Export the annotations as a DCASE event list",
    description:
      "Tab-separated columns filename, onset, offset, event_label; times are in seconds. File names are exported unchanged, without protection against formulas: use csv for spreadsheets.",
    content: "One line for each annotation",
  },
  webvtt: {
    operationId: "exportWebvtt",
    summary: "Export the annotations of one audio file as WebVTT captions",
    description:
      "One cue for each annotation. A cue cannot be empty, so an annotation of a point becomes one millisecond long.",
    content: "One cue for each annotation of the file",
  },
} as const;

const exportTexts = Object.entries(texts).map(([name, { content, ...text }]) => {
  const { contentType, example, oneFile } = formats[name as keyof typeof texts];
  return defineRoute("GET", `${base}/${name}`, {
    ...text,
    params: inSet,
    query: oneFile ? fileExportQuery : setExportQuery,
    answer: { status: 200, description: content, schema: z.string(), contentType, example },
    handler: (call) => exportSet(call, call.query, name as FormatName),
  });
});

async function exportSet(
  call: Call<z.infer<typeof inSet>>,
  filter: AnnotationFilter,
  format: FormatName,
  options: Pick<Export, "flavor" | "audio"> = {},
): Promise<Reply> {
  const { tenantId, deps } = call;
  const place = placeOf(call);
  const set = await oneAnnotationSet(deps.db, place);
  return replyOfExport(call, format, {
    regions: annotationRegions(deps.db, place, filter),
    kind: "annotation",
    name: await nameOf(deps, tenantId, set, formats[format].oneFile ? filter.audio_file_id : undefined),
    ...options,
  });
}

/** Returns `<dataset> v<version>`, or the name of the single audio file. Throws audioFileNotFound. */
async function nameOf(deps: HandlerDeps, tenantId: string, set: AnnotationSetRow, audioFileId?: string) {
  if (audioFileId === undefined)
    return `${(await oneNamed(deps.db, tenantId, set.dataset_id)).name} v${set.version}`;
  return stemOf((await oneAudioFile(deps.db, tenantId, set.dataset_id, audioFileId)).filename);
}

export const routes = [exportLabels, ...exportTexts];
