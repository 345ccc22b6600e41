// Reads and parses a request body within limits of size, depth and number of elements: JSON, or text if the route accepts
// text. answer.ts calls the three steps after authentication and before validation: it takes the tenant's share of
// memory before it reads, and again before it parses.
import type { IncomingMessage } from "node:http";
import { bodyTooLarge, invalidRequest, unsupportedEncoding, unsupportedMediaType } from "../errors.ts";

const maxDepth = 20;
const maxDiscardedBytes = 64 * 1024 * 1024;

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

/**
 * Returns the number of bytes that the body may have, by its headers; 0 if there is none. Throws bodyTooLarge,
 * unsupportedMediaType or unsupportedEncoding.
 */
export function expectedBytes(request: IncomingMessage, maxBytes: number, bodyType: string): number {
  const declared = request.headers["content-length"];
  if (declared === undefined && request.headers["transfer-encoding"] === undefined) return 0;
  if (declared === "0") return 0;
  if (!isUntyped(request)) requireType(request, bodyType);
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(request, maxBytes);
  return Number(declared ?? maxBytes);
}

/** Node's own client sends a chunked body without a content type if it has nothing to send. */
const isUntyped = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined && headers["content-type"] === undefined;

/** Throws bodyTooLarge, unsupportedMediaType, or invalidRequest if the body ends early. */
export async function readBytes(
  request: IncomingMessage,
  maxBytes: number,
  bodyType: string,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    if (request.readableAborted || request.destroyed) throw invalidRequest("the body ended early");
    throw cause;
  }
  if (size > maxBytes) throw tooLarge(request, maxBytes);
  if (size > 0 && isUntyped(request)) throw unsupportedMediaType(bodyType);
  return Buffer.concat(chunks);
}

/** Throws invalidRequest if the bytes are not UTF-8, not JSON, nest too deeply or have too many objects and lists. */
export function parseBody(bytes: Buffer, bodyType: string): Body {
  if (bytes.length === 0) return { value: undefined };
  if (bodyType !== "application/json") return { value: textOf(bytes) };
  refuseExpansive(bytes);
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw invalidRequest("the body is not JSON in UTF-8");
  }
  return isSuspect(value) ? { value, suspectJson: text } : { value };
}

/** Counts before the parser allocates anything. In UTF-8, the bytes of ASCII characters are not part of others. */
function refuseExpansive(bytes: Buffer): void {
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
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
  }
  return bytes.length;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest("the body is not text in UTF-8");
  }
}

function requireType(request: IncomingMessage, bodyType: string): void {
  if (request.headers["content-encoding"] !== undefined) throw unsupportedEncoding();
  const [type = "", ...parameters] = (request.headers["content-type"] ?? "").toLowerCase().split(";");
  if (type.trim() !== bodyType) throw unsupportedMediaType(bodyType);
  const charsets = parameters.map((parameter) => parameter.trim()).filter((p) => p.startsWith("charset="));
  if (!charsets.every((charset) => /^charset=(utf-?8|"utf-?8")$/.test(charset)))
    throw unsupportedMediaType(bodyType);
}

/**
 * Discards the rest of the body, up to a size that no client sends by mistake, and returns bodyTooLarge. Most clients
 * read the response only after they have sent the whole body; if the server closed the connection earlier, they would
 * see a broken connection instead of the error.
 */
function tooLarge(request: IncomingMessage, maxBytes: number): Error {
  let left = maxDiscardedBytes;
  const drop = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.socket.destroy();
  };
  request.on("data", drop).resume();
  return bodyTooLarge(maxBytes);
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
