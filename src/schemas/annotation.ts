// Annotations in REST.
import { z } from "zod";
import { artifactTypeName, maxMembers } from "./primitives.ts";
import { count, id, time } from "./rest.ts";

const ms = (text: string, example = 1250) =>
  z
    .int()
    .min(0)
    .describe(`${text}, in milliseconds`)
    .meta({ examples: [example] });
/** Audio is at most 12 hours long, plus the tolerance at its end. With this upper bound, sums of lengths stay exact. */
const position = (text: string, example = 1250) =>
  ms(text, example)
    .max(12 * 3_600_000 + 50)
    .meta({ examples: [example] });
const confidence = z
  .number()
  .min(0)
  .max(1)
  .describe("Confidence of the annotator, 0 to 1")
  .meta({ examples: [0.9] });
const extraData = z
  .record(z.string(), z.unknown())
  .check(maxMembers(256))
  .refine((value) => bytesOf(value) <= 4096, {
    error: "extra_data takes at most 4096 bytes of JSON",
    abort: true,
  })
  .refine((value) => addedDigits(value) === 0 || bytesOf(value) + addedDigits(value) <= 4096, {
    error: "extra_data takes at most 4096 bytes of JSON, counting all digits of a number: 1e300 has 301",
  })
  .refine((value) => depthOf(value) <= 5, { error: "extra_data nests at most 5 levels" })
  .describe(
    "Your own data, a JSON object of up to 4 KiB, with at most 256 members and items at all depths together",
  )
  .meta({ maxProperties: 256, examples: [{ note: "at the end of a word" }] });

const annotator = z
  .string()
  .min(1)
  .max(255)
  .nullable()
  .describe("Who made the annotation: a name or an id of your own; null: not stated")
  .meta({ examples: ["ana@example.com"] });

export const annotation = z
  .object({
    id: id("Id of the annotation"),
    annotation_set_id: id("Annotation set that contains the annotation"),
    audio_file_id: id("Audio file that the annotation labels"),
    artifact_type: artifactTypeName,
    start_ms: ms("Start of the artifact"),
    end_ms: ms("End of the artifact; equal to the start for a point", 1310),
    confidence,
    extra_data: z
      .record(z.string(), z.unknown())
      .describe("Data that the client stored with the annotation")
      .meta({ examples: [{ note: "at the end of a word" }] }),
    annotator,
    created_at: time("When the annotation was created"),
    updated_at: time("When the annotation was last changed"),
  })
  .meta({ id: "Annotation" });

const isInOrder = ({ start_ms = 0, end_ms = Number.POSITIVE_INFINITY }) => start_ms <= end_ms;
const startBeforeEnd = { error: "end_ms must not be less than start_ms", path: ["end_ms"] };

const newAnnotation = z.object({
  audio_file_id: id("Audio file of the same dataset"),
  artifact_type: artifactTypeName,
  start_ms: position("Start of the artifact"),
  end_ms: position("End of the artifact; equal to the start for a point", 1310),
  confidence: confidence.default(1),
  extra_data: extraData.default({}),
  annotator: annotator.default(null),
});

export const createAnnotationBody = newAnnotation
  .refine(isInOrder, startBeforeEnd)
  .meta({ id: "CreateAnnotation" });

/** What an import checks before it keeps a label. */
export const annotationTexts = newAnnotation.pick({ extra_data: true, annotator: true });

export const bulkAnnotationsBody = z
  .object({
    annotations: z
      .array(createAnnotationBody)
      .min(1)
      .max(1000)
      .describe("Annotations to add; all of them are added, or none"),
  })
  .meta({ id: "CreateAnnotations" });

export const bulkAnnotations = z
  .object({
    items: z.array(annotation).max(1000).describe("The annotations, in the order of the request"),
    total: count("Number of added annotations", 1),
  })
  .meta({ id: "CreatedAnnotations" });

const annotationChange = z.object({
  artifact_type: artifactTypeName.optional(),
  start_ms: position("Start of the artifact").optional(),
  end_ms: position("End of the artifact", 1310).optional(),
  confidence: confidence.optional(),
  extra_data: extraData.optional(),
  annotator: annotator.optional(),
});

export const updateAnnotationBody = annotationChange
  .refine(isInOrder, startBeforeEnd)
  .meta({ id: "UpdateAnnotation" });

export const updateAnnotationsBody = z
  .object({
    annotations: z
      .array(annotationChange.extend({ id: id("Id of the annotation") }).refine(isInOrder, startBeforeEnd))
      .min(1)
      .max(1000)
      .refine((changes) => new Set(changes.map((change) => change.id)).size === changes.length, {
        error: "an annotation is named twice",
      })
      .describe("Changes, each with the id of its annotation; all of them are made, or none"),
  })
  .meta({ id: "UpdateAnnotations" });

export const deleteAnnotationsBody = z
  .object({
    ids: z.array(id("Id of an annotation")).min(1).max(1000).describe("Annotations to delete"),
  })
  .meta({ id: "DeleteAnnotations" });

export const deletedAnnotations = z
  .object({ deleted: count("Number of deleted annotations; ids that the set does not have are ignored", 2) })
  .meta({ id: "DeletedAnnotations" });

export const listAnnotationsQuery = z.object({
  audio_file_id: id("Only annotations of this audio file").optional(),
  artifact_type: z
    .array(z.string().max(64))
    .max(64)
    .optional()
    .describe("Only these artifact types; repeat the parameter for several"),
  min_confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Only annotations with at least this confidence"),
  max_confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("Only annotations with at most this confidence"),
  annotator: z.string().max(255).optional().describe("Only annotations of this annotator"),
  start_ms: ms("Start of a window: only annotations that overlap it").optional(),
  end_ms: ms("End of a window: only annotations that overlap it").optional(),
  page: z
    .int()
    .min(1)
    .optional()
    .describe("Page to return; without page and page_size, the response has all annotations"),
  page_size: z.int().min(1).max(100).optional().describe("Items per page"),
});

export type NewAnnotation = z.infer<typeof createAnnotationBody>;
export type AnnotationChange = z.infer<typeof updateAnnotationBody>;
export type AnnotationFilter = Omit<z.infer<typeof listAnnotationsQuery>, "page" | "page_size">;

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/**
 * Returns how many bytes the database adds to the numbers, at most: it writes them without an exponent. 4 KiB of 1e300 would become 80
 * KiB, and a response may have a thousand annotations.
 */
function addedDigits(value: unknown): number {
  if (typeof value === "number") return Math.abs(Number(/e(.*)/.exec(String(value))?.[1] ?? 0));
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + addedDigits(member), 0);
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
