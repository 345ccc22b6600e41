// Functions that several routes use to render rows as JSON.
import type { AnnotationSetRow } from "../db/annotation-set.ts";
import type { DetectionRow } from "../db/detection.ts";
import type { EventRow } from "../db/event.ts";
import type { JobEventRow } from "../db/job-event.ts";
import type { TextPage } from "../db/json-text.ts";
import type { Page, PageRequest } from "../db/page.ts";

/** Formats milliseconds since 1970 as RFC 3339 in UTC with milliseconds. */
export function iso(ms: number): string {
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}

/** A cache of one entry: rows created together have the same time, such as a thousand annotations of one request. */
let latest = { ms: Number.NaN, text: "" };

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** Makes the body of a list: its five members. */
export function envelope<T, V>(page: Page<T>, request: PageRequest, view: (row: T) => V) {
  return {
    items: page.items.map(view),
    total: page.total,
    page: request.page,
    page_size: request.page_size,
    has_more: request.page * request.page_size < page.total,
  };
}

/** Makes the body of a list whose items are already JSON text. */
export function textEnvelope({ items, total }: TextPage, { page, page_size }: PageRequest): string {
  const hasMore = page * page_size < total;
  return `{"items":[${items}],"total":${total},"page":${page},"page_size":${page_size},"has_more":${hasMore}}`;
}

/** Renders an annotation set without its annotations. */
export function viewAnnotationSet(row: AnnotationSetRow) {
  return {
    id: row.id,
    dataset_id: row.dataset_id,
    version: row.version,
    status: row.status,
    total_annotations: row.total_annotations,
    total_positive_duration_ms: row.total_positive_duration_ms,
    annotations_by_type: row.annotations_by_type,
    copying: row.copying === null ? null : { copied: row.total_annotations, total: row.copying.total },
    created_at: iso(row.created_at),
    published_at: isoOrNull(row.published_at),
  };
}

/** Renders a job event of a training or inference job. */
export function viewJobEvent(row: JobEventRow) {
  return {
    id: row.id,
    created_at: iso(row.created_at),
    level: row.level,
    type: row.type,
    message: row.message,
    data: row.data,
  };
}

/** Renders an event for the list and the stream. Webhooks send the same without the id. */
export function viewEvent(row: EventRow) {
  return { id: row.id, type: row.type, timestamp: iso(row.created_at), data: row.data };
}

/** Renders a detection of an inference job. */
export function viewDetection(row: DetectionRow) {
  return {
    id: row.id,
    inference_file_id: row.inference_file_id,
    artifact_type: row.artifact_type,
    start_ms: row.start_ms,
    end_ms: row.end_ms,
    confidence: row.confidence,
  };
}
