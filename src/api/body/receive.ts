// Receives a request body within its limit of size, and checks its content type. Called by answer.ts after
// authentication, when the tenant has its share of memory for the body.
import type { IncomingMessage } from "node:http";
import { bodyTooLarge, invalidRequest, unsupportedEncoding, unsupportedMediaType } from "../../errors.ts";
import { collectGarbageAfter } from "../garbage.ts";

/**
 * Returns the number of bytes that the body may have, by its headers; 0 if there is none. Throws bodyTooLarge,
 * unsupportedMediaType or unsupportedEncoding.
 */
export function expectedBytes(request: IncomingMessage, maxBytes: number, bodyType: string): number {
  const declared = request.headers["content-length"];
  if (declared === undefined && request.headers["transfer-encoding"] === undefined) return 0;
  if (declared === "0") return 0;
  if (!isUntyped(request)) requireType(request, bodyType);
  if (Number(declared ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  return Number(declared ?? maxBytes);
}

/** Node's own client sends a chunked body without a content type if it has nothing to send. */
const isUntyped = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined && headers["content-type"] === undefined;

/**
 * Reads the body into `memory`, which has the expected number of bytes, and returns the part that the body takes. Throws
 * bodyTooLarge, unsupportedMediaType, or invalidRequest if the body ends early.
 */
export async function readBytes(request: IncomingMessage, memory: Buffer, bodyType: string): Promise<Buffer> {
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > memory.length) break;
      memory.set(chunk, size - chunk.length);
      collectGarbageAfter(chunk.length);
    }
  } catch (cause) {
    if (request.readableAborted || request.destroyed) throw invalidRequest("the body ended early");
    throw cause;
  }
  if (size > memory.length) throw bodyTooLarge(memory.length);
  if (size > 0 && isUntyped(request)) throw unsupportedMediaType(bodyType);
  return memory.subarray(0, size);
}

function requireType(request: IncomingMessage, bodyType: string): void {
  if (request.headers["content-encoding"] !== undefined) throw unsupportedEncoding();
  const [type = "", ...parameters] = (request.headers["content-type"] ?? "").toLowerCase().split(";");
  if (type.trim() !== bodyType) throw unsupportedMediaType(bodyType);
  const charsets = parameters.map((parameter) => parameter.trim()).filter((p) => p.startsWith("charset="));
  if (!charsets.every((charset) => /^charset=(utf-?8|"utf-?8")$/.test(charset)))
    throw unsupportedMediaType(bodyType);
}
