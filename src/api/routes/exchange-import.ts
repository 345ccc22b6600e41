// /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import/{format}: adds labels of other tools to a
// draft. Invalid labels are skipped and reported. Importing the same document twice adds nothing the second time.
import type { z } from "zod";
import { oneAnnotationSet } from "../../db/annotation-set.ts";
import { oneAudioFile } from "../../db/audio-file.ts";
import { fileImportQuery, importQuery, importReport, textImportReport } from "../../schemas/exchange.ts";
import { documents, maxDocumentBytes } from "../body/documents.ts";
import { etagOfSet } from "../conditional.ts";
import { audacity } from "../exchange/audacity.ts";
import { csv } from "../exchange/csv.ts";
import { type Imported, importLabels } from "../exchange/import.ts";
import { type LabelDocument, maxLabels } from "../exchange/label-document.ts";
import { type Call, defineRoute, type Reply } from "../route.ts";
import { setEtagHeader } from "./annotation.ts";
import { annotationQuotaOf, changesDraft, type InSet, inSet, placeOf } from "./annotation-set.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import";
const shared = {
  params: inSet,
  ...changesDraft,
  comparesText: true,
  maxBodyBytes: maxDocumentBytes,
  idempotent: sameReport,
} as const;
const answer = {
  status: 200,
  description: "Report: what was imported, and what was skipped and why",
} as const;
const rules = `At most ${maxLabels} labels. All valid labels are added in one transaction; invalid ones are skipped and reported. Labels that the set already has (same file, type and times) are not added again.`;

const importLabelTool = defineRoute("POST", `${base}/annotation-tool`, {
  ...shared,
  operationId: "importAnnotationTool",
  summary: "Import annotations from a labelling tool into a draft",
  description: `${rules} A task belongs to the audio file with the id data.audio_file_id, or else to the one whose name is data.filename or the end of data.audio; it is an error if two files have that name. Addresses are never fetched.`,
  query: importQuery,
  body: documents.annotationTool,
  answer: { ...answer, schema: importReport },
  handler: (call) =>
    run(call, ({ at, message }) => ({ task: at.task ?? 0, result: at.result ?? null, message })),
});

const importCsv = defineRoute("POST", `${base}/csv`, {
  ...shared,
  operationId: "importCsv",
  summary: "Import annotations from CSV into a draft",
  description: `${rules} The first line names the columns, in any order. Required: artifact_type, start_ms, end_ms, and audio_file_id or filename. Optional: confidence, extra_data and annotator. Other columns are ignored, including id. The delimiter is a comma, a semicolon or a tab.`,
  query: importQuery,
  body: documents.csv,
  bodyType: "text/csv",
  bodyExample: csv.example,
  answer: { ...answer, schema: textImportReport },
  handler: (call) => run(call, withLine),
});

const importAudacity = defineRoute("POST", `${base}/audacity`, {
  ...shared,
  operationId: "importAudacity",
  summary: "Import a label track of Audacity as annotations of one audio file into a draft",
  description: `${rules} Lines with frequencies are ignored.`,
  query: fileImportQuery,
  body: documents.audacity,
  bodyType: "text/plain",
  bodyExample: audacity.example,
  answer: { ...answer, schema: textImportReport },
  handler: async (call) => {
    const { params, query, tenantId, deps } = call;
    const file = await oneAudioFile(deps.db, tenantId, params.dataset_id, query.audio_file_id);
    return await run(call, withLine, file.id);
  },
});

type Fault = Imported["errors"][number];

const withLine = ({ at, message }: Fault) => ({ line: at.line ?? 1, message });

async function run(
  call: Call<InSet, z.infer<typeof importQuery>, LabelDocument>,
  viewFault: (fault: Fault) => object,
  audioFileId?: string,
): Promise<Reply> {
  const { dry_run: dryRun, create_types: createTypes } = call.query;
  const options = { audioFileId, dryRun, createTypes, quota: annotationQuotaOf(call.deps) };
  const outcome = await importLabels(call.deps.db, placeOf(call), call.body, options);
  const { revision, imported, skipped, createdTypes: created_types, errors } = outcome;
  const report = { imported, skipped, created_types, errors: errors.map(viewFault) };
  // The report is stored for a day, and an account may import 120 documents a minute.
  return {
    ...reportOn(revision, report),
    report: { ...report, errors: report.errors.slice(0, maxErrorsAgain) },
  };
}

const maxErrorsAgain = 100;

function reportOn(revision: number, report: unknown): Reply {
  const etag = etagOfSet(revision);
  return { etag, headers: { [setEtagHeader]: etag }, body: report };
}

/** Returns the report of the first request with fewer of its errors, and the current ETag of the set. */
async function sameReport(call: Call<InSet>, _: readonly string[], report: unknown) {
  const { revision } = await oneAnnotationSet(call.deps.db, placeOf(call));
  return reportOn(revision, report);
}

export const routes = [importLabelTool, importCsv, importAudacity];
