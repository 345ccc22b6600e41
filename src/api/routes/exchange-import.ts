// /api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import/{format}: adds labels of other tools to a
// draft. Invalid labels are skipped and reported. Importing the same document twice adds nothing the second time.
import type { z } from "zod";
import type { SetPlace } from "../../db/annotation.ts";
import { oneAnnotationSet } from "../../db/annotation-set.ts";
import { oneAudioFile } from "../../db/audio-file.ts";
import { fileImportQuery, importQuery, importReport, textImportReport } from "../../schemas/exchange.ts";
import { documents, maxDocumentBytes } from "../body/documents.ts";
import { etagOfSet } from "../conditional.ts";
import { audacity } from "../exchange/audacity.ts";
import { csv } from "../exchange/csv.ts";
import { type Imported, importLabels } from "../exchange/import.ts";
import { type LabelDocument, maxLabels } from "../exchange/label-document.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "../route.ts";
import { setEtagHeader } from "./annotation.ts";
import { annotationQuotaOf, guardSet, type InSet, inSet, placeOf } from "./annotation-set.ts";

const base = "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import";
const shared = {
  params: inSet,
  conflicts: ["annotation_set_published", "annotation_set_copying"],
  guard: guardSet,
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
  handler: async ({ params, query, body, tenantId, deps }) => {
    const outcome = await run(deps, placeOf(tenantId, params), body, query);
    const errors = outcome.errors.map(({ at, message }) => ({
      task: at.task ?? 0,
      result: at.result ?? null,
      message,
    }));
    return replyOf(outcome, errors);
  },
});

const importCsv = defineRoute("POST", `${base}/csv`, {
  ...shared,
  operationId: "importCsv",
  summary: "Import annotations from CSV into a draft",
  description: `${rules} The first line names the columns, in any order. Required: artifact_type, start_ms, end_ms, and audio_file_id or filename. Optional: confidence and extra_data. Other columns are ignored, including id. The delimiter is a comma, a semicolon or a tab.`,
  query: importQuery,
  body: documents.csv,
  bodyType: "text/csv",
  bodyExample: csv.example,
  answer: { ...answer, schema: textImportReport },
  handler: async ({ params, query, body, tenantId, deps }) => {
    const outcome = await run(deps, placeOf(tenantId, params), body, query);
    return replyOf(outcome, linesOf(outcome));
  },
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
  handler: async ({ params, query, body, tenantId, deps }) => {
    const file = await oneAudioFile(deps.db, tenantId, params.dataset_id, query.audio_file_id);
    const outcome = await run(deps, placeOf(tenantId, params), body, query, file.id);
    return replyOf(outcome, linesOf(outcome));
  },
});

async function run(
  deps: HandlerDeps,
  place: SetPlace,
  document: LabelDocument,
  query: z.infer<typeof importQuery>,
  audioFileId?: string,
): Promise<Imported> {
  const options = {
    ...(audioFileId === undefined ? {} : { audioFileId }),
    dryRun: query.dry_run,
    createTypes: query.create_types,
    quota: annotationQuotaOf(deps),
  };
  return await importLabels(deps.db, place, document, options);
}

const linesOf = ({ errors }: Imported) => errors.map(({ at, message }) => ({ line: at.line ?? 1, message }));

function replyOf(outcome: Imported, errors: readonly object[]): Reply {
  const { imported, skipped, createdTypes: created_types } = outcome;
  return reportOn(outcome.revision, { imported, skipped, created_types, errors });
}

function reportOn(revision: number, report: unknown): Reply {
  const etag = etagOfSet(revision);
  return { etag, headers: { [setEtagHeader]: etag }, body: report, report };
}

/** Returns the report of the first request, with the current ETag of the set. */
async function sameReport({ params, tenantId, deps }: Call<InSet>, _: readonly string[], report: unknown) {
  const { revision } = await oneAnnotationSet(deps.db, placeOf(tenantId, params));
  return reportOn(revision, report);
}

export const routes = [importLabelTool, importCsv, importAudacity];
