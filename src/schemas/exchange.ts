// Exports to and imports from labelling tools in REST (interface specification 2.9, 4.8).
import { z } from "zod";
import { listAnnotationsQuery } from "./annotation.ts";
import { detectionRecord, listDetectionsQuery } from "./detection.ts";
import { id } from "./rest.ts";

const { page, page_size, ...annotationFilter } = listAnnotationsQuery.shape;

/** Exports of a set take the filters of its list, but no pages: an export is complete. */
export const setExportQuery = z.object(annotationFilter);

/** A label track and captions have the times of one file. */
export const fileExportQuery = setExportQuery.extend({
  audio_file_id: id("The audio file to export: the times of this format are those of one file"),
});

const labelTool = {
  flavor: z
    .enum(["full", "import"])
    .default("full")
    .describe("`import` leaves out completed_by: the tool refuses a file with a user that it does not know"),
  audio: z
    .enum(["url", "key"])
    .default("url")
    .describe("What data.audio holds: a signed URL, by default for 24 hours, or the audio file's id"),
};

export const labelExportQuery = setExportQuery.extend(labelTool);

const labelResult = z.object({
  id: z.string(),
  value: z.record(z.string(), z.unknown()).describe("start and end in seconds, labels, channel"),
  from_name: z.string(),
  to_name: z.string(),
  type: z.string(),
  score: z.number().describe("The confidence, 0 to 1"),
  meta: z.record(z.string(), z.unknown()).optional().describe("extra_data of the annotation, if it has any"),
});

/** The label tool's document (interface specification 2.9). */
export const labelExport = z
  .object({
    tasks: z.array(
      z.object({
        id: z.int(),
        data: z.record(z.string(), z.unknown()),
        annotations: z.array(
          z.object({
            id: z.int(),
            result: z.array(labelResult),
            completed_by: z.int().optional(),
            was_cancelled: z.boolean(),
            ground_truth: z.boolean(),
          }),
        ),
      }),
    ),
  })
  .meta({ id: "LabelToolExport" });

export const inferenceExportQuery = z.object({
  format: z
    .enum(["json", "csv", "audacity", "webvtt", "dcase", "annotation-tool"])
    .default("json")
    .describe("Form of the answer; audacity and webvtt need inference_file_id"),
  inference_file_id: listDetectionsQuery.shape.inference_file_id,
  artifact_type: listDetectionsQuery.shape.artifact_type,
  min_confidence: listDetectionsQuery.shape.min_confidence,
  audio: labelTool.audio.describe(
    "annotation-tool only: what data.audio holds, a signed URL or the file's id",
  ),
});

const exportedDetection = detectionRecord
  .extend({
    audio_file_id: id("Audio file of a dataset; null for an upload of the job's own").nullable(),
    filename: z.string(),
  })
  .meta({ id: "ExportedDetection" });

const predictions = z
  .object({
    tasks: z.array(
      z.object({
        id: z.int(),
        data: z.record(z.string(), z.unknown()),
        annotations: z.array(z.unknown()).max(0).describe("Nobody has labelled anything yet"),
        predictions: z.array(z.object({ model_version: z.string(), result: z.array(labelResult) })),
      }),
    ),
  })
  .meta({ id: "LabelToolPredictions" });

/** `json` is the bare array, `annotation-tool` the document. */
export const inferenceExport = z.union([z.array(exportedDetection), predictions]);

// What comes from the tool: only what is looked at, and nothing required that can be reported for one task.
const labelTask = z.object({
  data: z
    .object({ audio: z.unknown(), audio_file_id: z.unknown(), filename: z.unknown() })
    .partial()
    .nullish()
    .describe("audio_file_id, or else a filename, or an address in audio that ends with one; never fetched"),
  file_upload: z.unknown().optional(),
  annotations: z
    .array(
      z.object({
        result: z
          .array(z.unknown())
          .max(1_000_000)
          .nullish()
          .describe("Those of the type labels are imported"),
        was_cancelled: z.boolean().nullish().describe("True: it is left out"),
        ground_truth: z.boolean().nullish().describe("True: the task's other annotations are left out"),
      }),
    )
    .max(1_000_000)
    .nullish(),
});
export type LabelTask = z.infer<typeof labelTask>;

const tasks = z.array(labelTask).max(100_000);

export const labelImportBody = z
  .union([z.object({ tasks }), tasks])
  .describe("The export document, or a bare list of tasks")
  .meta({ id: "LabelToolImport" });

/** At most 8 MiB: the limit of the body is in bytes. */
export const textImportBody = z
  .string()
  .min(1)
  .max(8 * 1024 * 1024);

export const importQuery = z.object({
  dry_run: z.boolean().default(false).describe("True: says what would be imported, and changes nothing"),
  create_types: z
    .boolean()
    .default(false)
    .describe("True: labels that are no artifact types of the dataset become some, if their names allow it"),
});

export const fileImportQuery = importQuery.extend({
  audio_file_id: id("The audio file that the labels are of"),
});

const report = {
  imported: z.int().min(0).describe("Annotations added; with dry_run: that would be added"),
  skipped: z.int().min(0).describe("Labels left out: those with errors, and those that the set already has"),
  created_types: z.array(z.string()).describe("Artifact types added to the dataset"),
};
const message = z.string().describe("Why the label, or all of its task, was left out");

export const importReport = z
  .object({
    ...report,
    errors: z
      .array(
        z.object({
          task: z.int().describe("Which task, from 0"),
          result: z
            .int()
            .nullable()
            .describe("Which result of the annotations that count, from 0; null: the task as a whole"),
          message,
        }),
      )
      .describe("The first 1000"),
  })
  .meta({ id: "ImportReport" });

export const textImportReport = z
  .object({
    ...report,
    errors: z
      .array(z.object({ line: z.int().describe("Line of the text, from 1"), message }))
      .describe("The first 1000"),
  })
  .meta({ id: "TextImportReport" });

export const toAnnotationSetBody = z
  .object({
    dataset_id: id("Dataset that the draft is made in: detections of its audio files are taken"),
    min_confidence: z.number().min(0).max(1).default(0).describe("Only detections at least this sure"),
    create_types: z
      .boolean()
      .default(false)
      .describe("True: artifact types that the dataset lacks are added to it"),
  })
  .meta({ id: "DetectionsToAnnotationSet" });
