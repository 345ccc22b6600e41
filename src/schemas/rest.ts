// The shapes that every REST endpoint shares: ids, pages, error bodies. Used by src/api and the noun files here.
import { z } from "zod";
import { errorCodes, errorMeanings } from "./error-code.ts";

/** Any UUID, whatever its version: clients may hold ids that we did not make. */
export const id = (text: string) =>
  z
    .guid()
    .describe(text)
    .meta({ examples: ["0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11"] });

export const time = (text: string) =>
  z.iso
    .datetime()
    .describe(`${text}: RFC 3339, UTC, milliseconds`)
    .meta({ maxLength: 64, examples: ["2026-01-31T12:00:00.000Z"] });

/** Examples are for reading: one that looks as the real thing does. */
export const count = (text: string, example = 12) =>
  z
    .int()
    .min(0)
    .describe(text)
    .meta({ examples: [example] });

/** A sentence for people in an answer. */
export const sentence = (text: string, example: string) =>
  z
    .string()
    .describe(text)
    .meta({ examples: [example] });

export const pageQuery = {
  page: z.int().min(1).default(1).describe("Page to return, from 1"),
  page_size: z.int().min(1).max(100).default(20).describe("Items on a page"),
};

/** The envelope of every paginated list. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item).max(100).describe("The items of this page, newest first"),
    total: count("Items on all pages together", 1),
    page: z.int().min(1).describe("The page that was asked for"),
    page_size: z
      .int()
      .min(1)
      .max(100)
      .describe("Items on a page")
      .meta({ examples: [20] }),
    has_more: z
      .boolean()
      .describe("Whether there are further pages")
      .meta({ examples: [false] }),
  });
}

const errorCode = z
  .enum(errorCodes)
  .describe(
    [
      "What went wrong as one stable word, for programs:",
      ...Object.entries(errorMeanings).map(([code, meaning]) => `- \`${code}\`: ${meaning}`),
    ].join("\n"),
  )
  .meta({ id: "ErrorCode" });

export const errorBody = z
  .object({
    detail: z.string().describe("What went wrong, as a sentence"),
    code: errorCode.optional(),
    errors: z
      .array(z.object({ code: errorCode, message: z.string().describe("The same as a sentence") }))
      .max(16)
      .optional()
      .describe("Every precondition that failed, when there can be several"),
  })
  .meta({ id: "Error" });

export const validationErrorBody = z
  .object({
    detail: z.array(
      z.object({
        loc: z
          .array(z.union([z.string(), z.int()]))
          .describe("Where the fault is, beginning with body, path, query or header"),
        msg: z.string().describe("What is wrong with it"),
        type: z.string().describe("The same as one stable word"),
      }),
    ),
  })
  .meta({ id: "ValidationError" });

export type PageQuery = { page: number; page_size: number };
