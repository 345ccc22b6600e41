// The bodies that may be large: documents of labels. The API reads them in a worker thread, which finds the schema here
// by its name. Used by the routes as schemas of their bodies, and by threads.ts and thread.ts.
import type { z } from "zod";
import { bulkAnnotationsBody, updateAnnotationsBody } from "../../schemas/annotation.ts";
import { labelImportBody, textImportBody } from "../../schemas/exchange.ts";
import { readAudacity } from "../exchange/audacity.ts";
import { readCsv } from "../exchange/csv.ts";
import { labelDocument } from "../exchange/label-document.ts";
import { readTasks } from "../exchange/read-tasks.ts";
import { toBatches } from "./batches.ts";

export const documents = {
  annotations: bulkAnnotationsBody.transform(({ annotations }) => toBatches(annotations)),
  annotationChanges: updateAnnotationsBody.transform(({ annotations }) => toBatches(annotations)),
  annotationTool: labelDocument(labelImportBody, (body) =>
    readTasks(Array.isArray(body) ? body : body.tasks),
  ),
  csv: labelDocument(textImportBody, readCsv),
  audacity: labelDocument(textImportBody, readAudacity),
} as const satisfies Record<string, z.ZodType>;

export type DocumentName = keyof typeof documents;

/** Maximum size of a document. */
export const maxDocumentBytes = 8 * 1024 * 1024;

/** Returns undefined for schemas of small bodies. */
export const documentNameOf = (schema: z.ZodType | undefined): DocumentName | undefined =>
  (Object.keys(documents) as DocumentName[]).find((name) => (documents[name] as z.ZodType) === schema);
