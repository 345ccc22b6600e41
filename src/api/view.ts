// Functions that several routes use to render rows as JSON.
import { z } from "zod";
import type { AnnotationSetRow } from "../db/annotation-set.ts";
import type { Page, PageRequest, TextPage } from "../db/driver/page.ts";
import type { EventRow } from "../db/event.ts";
import { annotationSet } from "../schemas/annotation-set.ts";
import { detectionRecord } from "../schemas/detection.ts";
import { jobEvent } from "../schemas/job.ts";
import { inSlices } from "../slices.ts";
import type { HandlerDeps } from "./route.ts";

/** Formats milliseconds since 1970 as RFC 3339 in UTC with milliseconds. */
export function iso(ms: number): string {
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}

/** A cache of one entry: rows created together have the same time, such as a thousand annotations of one request. */
let latest = { ms: Number.NaN, text: "" };

/**
 * Returns the view function of a resource. A row's members that the resource does not have are left out; times become RFC 3339.
 */
export function viewOf<S extends z.ZodRawShape>(resource: z.ZodObject<S>) {
  const members = Object.entries(resource.shape).map(([name, field]) => ({ name, isTime: isTime(field) }));
  return (row: Readonly<Record<keyof S, unknown>>): z.output<z.ZodObject<S>> => {
    const body: Record<string, unknown> = {};
    for (const { name, isTime } of members) {
      const value = row[name];
      body[name] = isTime && value !== null ? iso(value as number) : value;
    }
    return body as z.output<z.ZodObject<S>>;
  };
}

/** Makes the reply that shows a row. */
export const show = async <T>(row: Promise<T>, view: (row: T) => unknown) => ({ body: view(await row) });

function isTime(field: unknown): boolean {
  return field instanceof z.ZodNullable ? isTime(field.unwrap()) : field instanceof z.ZodISODateTime;
}

/** Makes the reply of a list. If a list by creation has more items, the header tells where its next page begins. */
export async function listReply<T>(page: Page<T>, request: PageRequest, view: (row: T) => unknown) {
  const items = await inSlices(page.items, (row) => JSON.stringify(view(row)));
  return textListReply({ ...page, items: items.join() }, request);
}

/** The same for items that are already JSON text. */
export function textListReply(page: TextPage, request: PageRequest) {
  const { items, total, hasMore: has_more, next } = page;
  const frame = { total, page: request.page, page_size: request.page_size, has_more };
  return {
    body: `{"items":[${items}],${JSON.stringify(frame).slice(1)}`,
    ...(next == null ? {} : { headers: { "X-Next-Cursor": next } }),
  };
}

/** Makes one JSON array of batches, which are comma-separated items. For responses of any length. */
export async function* jsonArray(batches: AsyncIterable<string>): AsyncGenerator<string> {
  let separator = "[";
  for await (const batch of batches) {
    yield separator + batch;
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

const viewSet = viewOf(annotationSet);

/** Renders an annotation set without its annotations. */
export const viewAnnotationSet = (row: AnnotationSetRow) =>
  viewSet({
    ...row,
    copying: row.copying === null ? null : { copied: row.total_annotations, total: row.copying.total },
  });

/** Renders a presigned URL of an object that the client may download under the name `filename`. */
export async function viewDownload(
  { config, storage, clock }: HandlerDeps,
  key: string,
  filename: string,
  facts: { readonly size_bytes: number; readonly checksum_sha256: string | null },
) {
  const expiresSeconds = config.PLOSIVE_UPLOAD_EXPIRY_SECONDS;
  const url = await storage.presignGet(key, { expiresSeconds, filename, audience: "client" });
  return { url, method: "GET", expires_at: iso(clock.now() + expiresSeconds * 1000), ...facts };
}

export const viewJobEvent = viewOf(jobEvent);
export const viewDetection = viewOf(detectionRecord);

/** Renders an event for the list and the stream. Webhooks send the same without the id. */
export function viewEvent(row: EventRow) {
  return { id: row.id, type: row.type, timestamp: iso(row.created_at), data: row.data };
}
