// Shapes that all REST endpoints share: ids, times, pages, error bodies. Used by src/api and the other schemas.
import { z } from "zod";
import { errorCodes, errorMeanings } from "./error-code.ts";

/**
 * A UUID of any version: clients may send ids that the service did not generate. In lower case, because ids are also compared as text:
 * in notifications, and as what a sealed secret is bound to.
 */
export const id = (text: string) =>
  z
    .guid()
    .toLowerCase()
    .describe(text)
    .meta({ examples: ["0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11"] });

export const time = (text: string) =>
  z.iso
    .datetime()
    .describe(`${text}: RFC 3339, UTC, milliseconds`)
    .meta({ maxLength: 64, examples: ["2026-01-31T12:00:00.000Z"] });

/** A count. `example` is shown in the OpenAPI description, so it should look realistic. */
export const count = (text: string, example = 12) =>
  z
    .int()
    .min(0)
    .describe(text)
    .meta({ examples: [example] });

/** A text in a response. */
export const sentence = (text: string, example: string) =>
  z
    .string()
    .describe(text)
    .meta({ examples: [example] });

export const pageQuery = {
  page: z.int().min(1).default(1).describe("Page to return, from 1"),
  page_size: z.int().min(1).max(100).default(20).describe("Items per page"),
};

const moment = (text: string) =>
  z.iso
    .datetime({ offset: true })
    .max(64)
    .optional()
    .describe(`${text}: RFC 3339`)
    .meta({ examples: ["2026-01-31T12:00:00Z"] });

export const cursor = (form: RegExp, example: string) =>
  z
    .string()
    .regex(form)
    .optional()
    .describe(
      "Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others",
    )
    .meta({ maxLength: 64, examples: [example] });

/** Parameters of a list that is ordered by the time of creation. */
export const listQuery = {
  ...pageQuery,
  created_after: moment("Only items created at this time or later"),
  created_before: moment("Only items created before this time"),
  order: z
    .enum(["desc", "asc"])
    .default("desc")
    .describe("Order by time of creation: newest first, or oldest first"),
  cursor: cursor(
    /^[0-9]{1,17}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    "1767225600000000.0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11",
  ),
};

/** The envelope of every paginated list. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item).max(100).describe("The items of this page, newest first unless `order` is asc"),
    total: count("Number of items on all pages", 1),
    page: z.int().min(1).describe("Number of this page"),
    page_size: z
      .int()
      .min(1)
      .max(100)
      .describe("Items per page")
      .meta({ examples: [20] }),
    has_more: z
      .boolean()
      .describe("Whether there are more pages")
      .meta({ examples: [false] }),
  });
}

const errorCode = z
  .enum(errorCodes)
  .describe(
    [
      "Error code: one stable word for programs:",
      ...Object.entries(errorMeanings).map(([code, meaning]) => `- \`${code}\`: ${meaning}`),
    ].join("\n"),
  )
  .meta({ id: "ErrorCode" });

export const errorBody = z
  .object({
    detail: z.string().describe("Error message as a sentence, for people"),
    code: errorCode.optional(),
    errors: z
      .array(z.object({ code: errorCode, message: z.string().describe("Error message as a sentence") }))
      .max(16)
      .optional()
      .describe("All failed preconditions; only for errors that can have several"),
  })
  .meta({ id: "Error" });

export const validationErrorBody = z
  .object({
    detail: z
      .array(
        z.object({
          loc: z
            .array(z.union([z.string(), z.int()]))
            .describe("Location of the fault: body, path, query or header, then the members down to it"),
          msg: z.string().describe("Description of the fault"),
          type: z.string().describe("Kind of the fault as one stable word"),
        }),
      )
      .describe("All faults of the request"),
  })
  .meta({ id: "ValidationError" });

export type PageQuery = { page: number; page_size: number };
