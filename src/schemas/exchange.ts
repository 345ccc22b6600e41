// Exports to and imports from labelling tools in REST.
import { z } from "zod";
import { listAnnotationsQuery } from "./annotation.ts";
import { detectionRecord, listDetectionsQuery } from "./detection.ts";
import { id } from "./rest.ts";

const { page, page_size, ...annotationFilter } = listAnnotationsQuery.shape;

/** Exports of a set accept the filters of its annotation list, but no pages: an export is complete. */
export const setExportQuery = z.object(annotationFilter);

/** The times in a label track or in captions refer to one audio file. */
export const fileExportQuery = setExportQuery.extend({
  audio_file_id: id("Audio file to export; this format covers one file only"),
});

const labelTool = {
  flavor: z
    .enum(["full", "import"])
    .default("full")
    .describe("`import` omits completed_by, because the tool rejects a file that names an unknown user"),
  audio: z
    .enum(["url", "key"])
    .default("url")
    .describe(
      "Content of data.audio: `url` for a presigned URL, valid for 24 hours by default, `key` for the audio file's id",
    ),
};

export const labelExportQuery = setExportQuery.extend(labelTool);

const labelResult = z.object({
  id: z.string().describe("Id of the annotation or detection"),
  value: z.record(z.string(), z.unknown()).describe("Members start and end (in seconds), labels and channel"),
  from_name: z.string().describe("Name of the labels in the tool's labelling interface: label"),
  to_name: z.string().describe("Name of the audio in the tool's labelling interface: audio"),
  type: z.string().describe("Kind of the result: labels"),
  score: z.number().describe("Confidence, 0 to 1"),
  meta: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("extra_data and annotator of the annotation; absent if it has neither"),
});

const taskNumber = z.int().describe("Number of the task in the document, from 1");
const taskData = z
  .record(z.string(), z.unknown())
  .describe("Members audio (see the query parameter), filename, and audio_file_id or inference_file_id");

/** The label tool's document. */
export const labelExport = z
  .object({
    tasks: z
      .array(
        z.object({
          id: taskNumber,
          data: taskData,
          annotations: z
            .array(
              z.object({
                id: taskNumber,
                result: z.array(labelResult).describe("The labels of the file"),
                completed_by: z
                  .int()
                  .optional()
                  .describe("The tool's first user; absent with `flavor=import`"),
                was_cancelled: z.boolean().describe("Always false: the labels count"),
                ground_truth: z.boolean().describe("Always false"),
              }),
            )
            .describe("One annotation with all labels of the file"),
        }),
      )
      .describe("One task for each audio file that has labels"),
  })
  .meta({ id: "LabelToolExport" });

export const inferenceExportQuery = z.object({
  format: z
    .enum(["json", "csv", "audacity", "webvtt", "dcase", "annotation-tool"])
    .default("json")
    .describe("Format of the export; audacity and webvtt require inference_file_id"),
  inference_file_id: listDetectionsQuery.shape.inference_file_id,
  artifact_type: listDetectionsQuery.shape.artifact_type,
  min_confidence: listDetectionsQuery.shape.min_confidence,
  audio: labelTool.audio.describe(
    "Only for annotation-tool. Content of data.audio: `url` for a presigned URL, `key` for the inference file's id",
  ),
});

const exportedDetection = detectionRecord
  .extend({
    audio_file_id: id("Audio file of a dataset; null if the file was uploaded to the job").nullable(),
    filename: z.string().describe("Name of the file"),
  })
  .meta({ id: "ExportedDetection" });

const predictions = z
  .object({
    tasks: z
      .array(
        z.object({
          id: taskNumber,
          data: taskData,
          annotations: z.array(z.unknown()).max(0).describe("Always empty: nobody has labelled the file yet"),
          predictions: z
            .array(
              z.object({
                model_version: z.string().describe("Name of the model"),
                result: z.array(labelResult).describe("The detections of the file"),
              }),
            )
            .describe("One prediction with all detections of the file"),
        }),
      )
      .describe("One task for each file that has detections"),
  })
  .meta({ id: "LabelToolPredictions" });

/** The format `json` is the bare array, `annotation-tool` is the object with tasks. */
export const inferenceExport = z.union([z.array(exportedDetection), predictions]);

// The tool's document: only the members that the import reads. A member is required only if its fault cannot be
// reported for a single task.
const labelTask = z.object({
  data: z
    .object({
      audio: z.unknown().describe("Address of the audio"),
      audio_file_id: z.unknown().describe("Id of the audio file"),
      filename: z.unknown().describe("Name of the audio file"),
    })
    .partial()
    .nullish()
    .describe(
      "audio_file_id, or else filename, or else an address in audio that ends with the file name; addresses are never fetched",
    ),
  file_upload: z
    .unknown()
    .optional()
    .describe("Name that the tool gave to an uploaded file; the file's own name is its end"),
  annotations: z
    .array(
      z.object({
        result: z
          .array(z.unknown())
          .max(1_000_000)
          .nullish()
          .describe("Results; only those of type `labels` are imported"),
        was_cancelled: z.boolean().nullish().describe("True: the annotation is skipped"),
        ground_truth: z
          .boolean()
          .nullish()
          .describe("True: only the task's annotations with ground_truth are imported"),
      }),
    )
    .max(1_000_000)
    .nullish()
    .describe("Annotations of the task; their results are imported together"),
});
export type LabelTask = z.infer<typeof labelTask>;

const tasks = z.array(labelTask).max(100_000).describe("Tasks of the tool, one for each audio file");

export const labelImportBody = z
  .union([z.object({ tasks }), tasks])
  .describe("The exported document, or a bare list of tasks")
  .meta({ id: "LabelToolImport" });

/** At most 8 Mi characters; the limit of the body is 8 MiB. */
export const textImportBody = z
  .string()
  .min(1)
  .max(8 * 1024 * 1024);

export const importQuery = z.object({
  dry_run: z.boolean().default(false).describe("True: reports what would be imported, and changes nothing"),
  create_types: z
    .boolean()
    .default(false)
    .describe(
      "True: labels that are not artifact types of the dataset yet are added to it, if they are valid names",
    ),
});

export const fileImportQuery = importQuery.extend({
  audio_file_id: id("Audio file that the labels belong to"),
});

const report = {
  imported: z
    .int()
    .min(0)
    .describe("Number of annotations that were added, or would be added without dry_run"),
  skipped: z
    .int()
    .min(0)
    .describe("Number of skipped labels: those with errors, and those that the set already has"),
  created_types: z.array(z.string()).describe("Artifact types that were added to the dataset"),
};
const message = z.string().describe("Why the label, or its whole task, was skipped");

export const importReport = z
  .object({
    ...report,
    errors: z
      .array(
        z.object({
          task: z.int().describe("Index of the task, from 0"),
          result: z
            .int()
            .nullable()
            .describe(
              "Index of the result among the imported annotations of the task, from 0; null: the whole task",
            ),
          message,
        }),
      )
      .describe("The first 1000 errors; the first 100 if a request is repeated with its Idempotency-Key"),
  })
  .meta({ id: "ImportReport" });

export const textImportReport = z
  .object({
    ...report,
    errors: z
      .array(z.object({ line: z.int().describe("Number of the line, from 1"), message }))
      .describe("The first 1000 errors; the first 100 if a request is repeated with its Idempotency-Key"),
  })
  .meta({ id: "TextImportReport" });

export const toAnnotationSetBody = z
  .object({
    dataset_id: id("Dataset of the new draft; only detections in its audio files are used"),
    min_confidence: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe("Only detections with at least this confidence"),
    create_types: z
      .boolean()
      .default(false)
      .describe("True: artifact types that the dataset does not have are added to it"),
  })
  .meta({ id: "DetectionsToAnnotationSet" });
