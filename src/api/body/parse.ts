// Parses a request body within limits of depth and of the number of elements: JSON, or text if the route accepts text.
// Called by read.ts before validation.
import { invalidRequest } from "../../errors.ts";

const maxDepth = 20;

/**
 * An empty object takes 56 bytes of memory and two of text. With this limit a parsed body takes at most 15 times the
 * memory of its text, and a body of labels stays far below it: one object or list per 50 bytes.
 */
const maxContainers = (bytes: number) => 1_000 + Math.floor(bytes / 8);

export interface Body {
  /** The parsed JSON, or the text of other types; undefined if there is no body. */
  readonly value: unknown;
  /** The JSON text, only if it has numbers or member names that lossless.ts must check. */
  readonly suspectJson?: string;
}

/** Throws invalidRequest if the bytes are not UTF-8, not JSON, nest too deeply or have too many objects and lists. */
export function parseBody(bytes: Uint8Array, bodyType: string): Body {
  if (bytes.length === 0) return { value: undefined };
  const isJson = bodyType === "application/json";
  if (isJson) refuseExpansive(bytes);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!isJson) return { value: text };
    const value: unknown = JSON.parse(text);
    return isSuspect(value) ? { value, suspectJson: text } : { value };
  } catch {
    throw invalidRequest(`the body is not ${isJson ? "JSON" : "text"} in UTF-8`);
  }
}

/** Counts before the parser allocates anything. In UTF-8, the bytes of ASCII characters are not part of others. */
function refuseExpansive(bytes: Uint8Array): void {
  let containers = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBrace || byte === openBracket) {
      containers += 1;
      depth += 1;
      if (depth > maxDepth) throw invalidRequest(`the body nests more than ${maxDepth} levels`);
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  const most = maxContainers(bytes.length);
  if (containers > most)
    throw invalidRequest(
      `the body has ${containers} objects and lists, more than the ${most} that ${bytes.length} bytes may have`,
    );
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('"\\{}[]');

/** Returns the offset of the quote that ends the string, or the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
  }
  return bytes.length;
}

/** Whether the value has numbers or names that JavaScript may have changed (lossless.ts). */
function isSuspect(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(isSuspect);
  for (const name in value)
    if (name === "__proto__" || isSuspect((value as Record<string, unknown>)[name])) return true;
  return false;
}
