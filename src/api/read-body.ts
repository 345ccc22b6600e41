// Reads a request body within limits of size and depth: JSON, or text if the route accepts text. Called by answer.ts
// after authentication and before validation.
import type { IncomingMessage } from "node:http";
import { bodyTooLarge, invalidRequest, unsupportedEncoding, unsupportedMediaType } from "../errors.ts";

const maxDepth = 20;
const maxDiscardedBytes = 64 * 1024 * 1024;

export interface Body {
  /** The parsed JSON, or the text of other types; undefined if there is no body. */
  readonly value: unknown;
  /** The JSON text, only if it has numbers or member names that lossless.ts must check. */
  readonly suspectJson?: string;
}

const none: Body = { value: undefined };

/** Reads the body. Throws bodyTooLarge, unsupportedMediaType, unsupportedEncoding or invalidRequest. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  bodyType = "application/json",
): Promise<Body> {
  const declared = request.headers["content-length"];
  if (declared === undefined && request.headers["transfer-encoding"] === undefined) return none;
  if (declared === "0") return none;
  // Node's own client sends a chunked body without a content type if it has nothing to send.
  const untyped = declared === undefined && request.headers["content-type"] === undefined;
  if (!untyped) requireType(request, bodyType);
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(request, maxBytes);
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return none;
  if (untyped) throw unsupportedMediaType(bodyType);
  if (bodyType !== "application/json") return { value: textOf(bytes) };
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw invalidRequest("the body is not JSON in UTF-8");
  }
  const findings = inspect(value, maxDepth);
  if (findings & tooDeep) throw invalidRequest(`the body nests more than ${maxDepth} levels`);
  return findings & suspect ? { value, suspectJson: text } : { value };
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

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
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
  return Buffer.concat(chunks);
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

const tooDeep = 1;
const suspect = 2;

/**
 * Returns flags: the value nests too deeply, or it has numbers or names that JavaScript may have changed (lossless.ts).
 */
function inspect(value: unknown, levels: number): number {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? suspect : 0;
  if (typeof value !== "object" || value === null) return 0;
  if (levels === 0) return tooDeep;
  let findings = 0;
  if (Array.isArray(value)) {
    for (const item of value) findings |= inspect(item, levels - 1);
    return findings;
  }
  for (const name in value) {
    if (name === "__proto__") findings |= suspect;
    findings |= inspect((value as Record<string, unknown>)[name], levels - 1);
  }
  return findings;
}
