// Annotation sets in REST.
import { z } from "zod";
import { annotation } from "./annotation.ts";
import { count, id, listQuery, time } from "./rest.ts";

export const annotationSetStatuses = ["draft", "published"] as const;

const members = {
  id: id("Id of the set"),
  dataset_id: id("Dataset whose audio the set labels"),
  version: z
    .int()
    .min(1)
    .describe("Number of the set within its dataset; a number is never reused")
    .meta({ examples: [3] }),
  status: z.enum(annotationSetStatuses).describe("A published set never changes"),
  total_annotations: count("Number of annotations in the set"),
  total_positive_duration_ms: count(
    "Total length of the annotations, in milliseconds; overlaps count twice",
    4210,
  ),
  annotations_by_type: z
    .record(z.string(), z.int())
    .describe("Number of annotations per artifact type")
    .meta({ examples: [{ click: 9, hum: 3 }] }),
  copying: z
    .object({
      copied: count("Annotations that the set has already", 120_000),
      total: count("Annotations that it will have", 1_000_000),
    })
    .nullable()
    .describe("Progress of the copy that fills the draft; null when it is complete"),
  created_at: time("When the set was created"),
  published_at: time("When the set was published").nullable(),
};

export const annotationSet = z.object(members).meta({ id: "AnnotationSet" });

export const annotationSetDetail = z
  .object({
    ...members,
    annotations: z.array(annotation).describe("All annotations, ordered by audio file, start and id"),
  })
  .meta({ id: "AnnotationSetDetail" });

export const createAnnotationSetBody = z
  .object({
    from_annotation_set_id: id(
      "Set of the same dataset whose annotations are copied into the draft",
    ).nullish(),
  })
  .meta({ id: "CreateAnnotationSet" });

export const listAnnotationSetsQuery = z.object({
  ...listQuery,
  status: z.enum(annotationSetStatuses).optional().describe("Only sets with this status"),
});
