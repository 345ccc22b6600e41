// Turns the bytes of a request body into the value that the handler gets. Pure, and without imports of drivers, because
// a worker thread runs it for large documents (threads.ts).
import type { z } from "zod";
import { fingerprintOf } from "../fingerprint.ts";
import { type PartResult, validatePart } from "../validate.ts";
import { parseBody } from "./parse.ts";

export interface BodyInput {
  readonly bytes: Uint8Array;
  /** Content type that the route accepts. */
  readonly type: string;
  /** True: no bytes stand for the body {}. */
  readonly optional: boolean;
  /** Present if the request has an Idempotency-Key. */
  readonly repeatable?: {
    readonly querystring: string;
    /** True: compares the text of the body, because sorting the members of a large document takes long. */
    readonly byText: boolean;
  };
}

export interface BodyResult extends PartResult {
  /** Present if the request has an Idempotency-Key. */
  readonly fingerprint?: Uint8Array;
}

/** Throws invalidRequest if the bytes cannot be parsed. */
export function readBody(
  schema: z.ZodType | undefined,
  { bytes, type, optional, repeatable }: BodyInput,
): BodyResult {
  const sent = parseBody(bytes, type);
  const value = sent.value === undefined && optional ? {} : sent.value;
  const result = validatePart({ part: "body", schema, value, suspectJson: sent.suspectJson });
  if (repeatable === undefined) return result;
  const { querystring, byText } = repeatable;
  return { ...result, fingerprint: fingerprintOf(byText ? JSON.stringify(value) : value, querystring) };
}
