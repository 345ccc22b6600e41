// Annotations in REST (interface specification 2.6).
import { z } from "zod";
import { artifactTypeName } from "./primitives.ts";
import { count, id, time } from "./rest.ts";

const ms = (text: string, example = 1250) =>
  z
    .int()
    .min(0)
    .describe(`${text}, in milliseconds`)
    .meta({ examples: [example] });
/** Audio is at most 12 hours long, with the tolerance at its end: sums of lengths stay exact whatever is labelled. */
const place = (text: string, example = 1250) =>
  ms(text, example)
    .max(12 * 3_600_000 + 50)
    .meta({ examples: [example] });
const confidence = z
  .number()
  .min(0)
  .max(1)
  .describe("How sure the annotator is, 0 to 1")
  .meta({ examples: [0.9] });
const extraData = z
  .record(z.string(), z.unknown())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= 4096, {
    error: "extra_data takes at most 4096 bytes of JSON",
  })
  .refine((value) => depthOf(value) <= 5, { error: "extra_data nests at most 5 levels" })
  .describe("Anything of your own, up to 4 KiB of JSON")
  .meta({ examples: [{ note: "at the end of a word" }] });

export const annotation = z
  .object({
    id: id("Id of the annotation"),
    annotation_set_id: id("Set that it is in"),
    audio_file_id: id("Audio file that it labels"),
    artifact_type: artifactTypeName,
    start_ms: ms("Where the artifact begins"),
    end_ms: ms("Where it ends; equal to the start for a point", 1310),
    confidence,
    extra_data: z
      .record(z.string(), z.unknown())
      .describe("What the annotator added")
      .meta({ examples: [{ note: "at the end of a word" }] }),
    created_at: time("When it was made"),
  })
  .meta({ id: "Annotation" });

const startBeforeEnd = {
  error: "end_ms must not be less than start_ms",
  path: ["end_ms"],
};

const newAnnotation = z.object({
  audio_file_id: id("Audio file of the same dataset"),
  artifact_type: artifactTypeName,
  start_ms: place("Where the artifact begins"),
  end_ms: place("Where it ends; equal to the start for a point", 1310),
  confidence: confidence.default(1),
  extra_data: extraData.default({}),
});

export const createAnnotationBody = newAnnotation
  .refine((value) => value.start_ms <= value.end_ms, startBeforeEnd)
  .meta({ id: "CreateAnnotation" });

export const bulkAnnotationsBody = z
  .object({ annotations: z.array(createAnnotationBody).min(1).max(1000).describe("All or none are added") })
  .meta({ id: "CreateAnnotations" });

export const bulkAnnotations = z
  .object({
    items: z.array(annotation).max(1000).describe("In the order of the request"),
    total: count("How many were added", 1),
  })
  .meta({ id: "CreatedAnnotations" });

export const updateAnnotationBody = z
  .object({
    artifact_type: artifactTypeName.optional(),
    start_ms: place("Where the artifact begins").optional(),
    end_ms: place("Where it ends", 1310).optional(),
    confidence: confidence.optional(),
    extra_data: extraData.optional(),
  })
  .meta({ id: "UpdateAnnotation" });

export const listAnnotationsQuery = z.object({
  audio_file_id: id("Only annotations of this audio file").optional(),
  artifact_type: z.array(z.string().max(64)).max(64).optional().describe("Only these types; may be repeated"),
  min_confidence: z.number().min(0).max(1).optional().describe("Only annotations at least this sure"),
  max_confidence: z.number().min(0).max(1).optional().describe("Only annotations at most this sure"),
  start_ms: ms("Only annotations that overlap the window from here").optional(),
  end_ms: ms("Only annotations that overlap the window up to here").optional(),
  page: z.int().min(1).optional().describe("Page to return; without page and page_size: everything"),
  page_size: z.int().min(1).max(100).optional().describe("Items on a page"),
});

export type NewAnnotation = z.infer<typeof createAnnotationBody>;
export type AnnotationFilter = Omit<z.infer<typeof listAnnotationsQuery>, "page" | "page_size">;

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
